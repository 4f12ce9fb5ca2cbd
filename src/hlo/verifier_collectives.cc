// Rules of collective operations and device numbers. How many devices take part is known only from the shapes: replica
// groups in their several forms are not interpreted here.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// One operand's shape, or the tuple of several.
Inferred operands_as_result(const Site& site, const Shape& stated) {
  if (site.operand_count() == 1) return site.operand(0);
  return tuple_of(stated, site.operand_count(), [&](size_t i) { return Inferred(site.operand(i)); });
}

// The reducer takes two scalars and returns one.
Status check_binary_reducer(const Site& site) {
  const std::string& name = site.called(0).name;
  if (site.parameter_count(0) != 2)
    return site.bad("computation '{}' has {} parameters, expected 2", name, site.parameter_count(0));
  const Shape& result = site.result_of(0);
  const bool scalar = result.is_scalar() && site.parameter(0, 0).is_scalar() && site.parameter(0, 1).is_scalar();
  if (!scalar) return site.bad("computation '{}' is not of scalars", name);
  return {};
}

Result<size_t> group_dimension(const Site& site) {
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  if (dimensions.size() != 1) return site.bad("{} dimensions given, expected 1", dimensions.size());
  for (size_t i = 0; i < site.operand_count(); ++i) {
    if (dimensions[0] < 0 || dimensions[0] >= static_cast<int64_t>(site.operand(i).rank()))
      return site.bad("dimension {} is out of range for {}", dimensions[0], text(site.operand(i)));
  }
  return static_cast<size_t>(dimensions[0]);
}

// `stated` is `operand` but for a dimension that is a multiple of (gathered) or divides (scattered) the operand's.
Status check_scaled(const Site& site, const Shape& operand, const Shape& stated, size_t dimension, bool gathered) {
  bool fits = stated.is_array() && stated.rank() == operand.rank() &&
              interchangeable(stated.element_type(), operand.element_type());
  for (size_t i = 0; fits && i < operand.rank(); ++i) {
    const int64_t small = gathered ? operand.dimension(i) : stated.dimension(i);
    const int64_t large = gathered ? stated.dimension(i) : operand.dimension(i);
    fits = i == dimension ? (small == 0 ? large == 0 : large % small == 0 && large >= small) : small == large;
  }
  if (fits) return {};
  return site.bad("stated shape {} is not {} with dimension {} {}", text(stated), text(operand), dimension,
                  gathered ? "multiplied" : "divided");
}

// Each operand meets its part of `stated` (the whole of it for one operand).
Status check_all_scaled(const Site& site, const Shape& stated, bool gathered) {
  SAPPER_CHECKED(expect_arrays(site));
  SAPPER_TRY(const size_t dimension, group_dimension(site));
  if (site.operand_count() == 1) return check_scaled(site, site.operand(0), stated, dimension, gathered);
  if (!stated.is_tuple() || stated.elements().size() != site.operand_count())
    return site.bad("stated shape {}, expected a tuple of {}", text(stated), site.operand_count());
  for (size_t i = 0; i < site.operand_count(); ++i)
    SAPPER_CHECKED(check_scaled(site, site.operand(i), stated.elements()[i], dimension, gathered));
  return {};
}

}  // namespace

Result<Inferred> infer_all_gather(const Site& site) {
  SAPPER_CHECKED(check_all_scaled(site, site.stated(), /*gathered=*/true));
  return site.stated();
}

// (operands, result), more elements being the target's business.
Result<Inferred> infer_all_gather_start(const Site& site) {
  const Shape& stated = site.stated();
  if (!stated.is_tuple() || stated.elements().size() < 2)
    return site.bad("stated shape {}, expected (operands, result)", text(stated));
  const Inferred operands = operands_as_result(site, stated.elements()[0]);
  if (!compatible_ignoring_precision(operands.shape(), stated.elements()[0]))
    return site.bad("stated operands {}, expected {}", text(stated.elements()[0]), text(operands.shape()));
  SAPPER_CHECKED(check_all_scaled(site, stated.elements()[1], /*gathered=*/true));
  return stated;
}

Result<Inferred> infer_all_reduce(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  SAPPER_CHECKED(check_binary_reducer(site));
  return operands_as_result(site, site.stated());
}

Result<Inferred> infer_all_reduce_done(const Site& site) {
  if (site.operand_instruction(0).opcode != Opcode::AllReduceStart)
    return site.bad("operand is a {}, expected all-reduce-start", to_string(site.operand_instruction(0).opcode));
  return site.operand(0);
}

Result<Inferred> infer_reduce_scatter(const Site& site) {
  SAPPER_CHECKED(check_binary_reducer(site));
  SAPPER_CHECKED(check_all_scaled(site, site.stated(), /*gathered=*/false));
  return site.stated();
}

// With a dimension, blocks of it change places and the shape stays; without, each operand is a block.
Result<Inferred> infer_all_to_all(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  if (!site.instruction.dimensions.empty()) {
    SAPPER_CHECKED(group_dimension(site));
    if (site.operand_count() != 1) return site.bad("{} operands, expected 1 with a dimension", site.operand_count());
    if (site.stated().is_tuple()) return infer_tuple(site);
    return site.operand(0);
  }
  for (size_t i = 1; i < site.operand_count(); ++i) {
    if (!compatible_ignoring_precision(site.operand(0), site.operand(i)))
      return site.bad("operand shapes {} and {} differ", text(site.operand(0)), text(site.operand(i)));
  }
  return infer_tuple(site);
}

Result<Inferred> infer_ragged_all_to_all(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  for (size_t i = 2; i < 6; ++i) {
    const Shape& of = site.operand(i);
    if (of.rank() != 1 || !is_integer(of.element_type()) || of.dimensions() != site.operand(2).dimensions())
      return site.bad("operand {} is {}, expected a vector of integers as long as operand 2", i, text(of));
  }
  return site.operand(1);
}

Result<Inferred> infer_collective_broadcast(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  return operands_as_result(site, site.stated());
}

// In the in-place form operands are input, output and their offsets, and the result is the output's shape.
Result<Inferred> infer_collective_permute(const Site& site) {
  if (site.operand_count() == 4 && site.operand(2).is_tuple()) return site.operand(1);
  SAPPER_CHECKED(expect_arrays(site));
  return operands_as_result(site, site.stated());
}

// (input, output, contexts ...)
Result<Inferred> infer_collective_permute_start(const Site& site) {
  const Shape& stated = site.stated();
  if (!stated.is_tuple() || stated.elements().size() < 2)
    return site.bad("stated shape {}, expected (input, output, ...)", text(stated));
  const bool in_place = site.operand_count() == 4 && site.operand(2).is_tuple();
  const Inferred input = in_place ? Inferred(site.operand(0)) : operands_as_result(site, stated.elements()[0]);
  const Inferred output = in_place ? Inferred(site.operand(1)) : operands_as_result(site, stated.elements()[1]);
  if (!compatible_ignoring_precision(input.shape(), stated.elements()[0]) ||
      !compatible_ignoring_precision(output.shape(), stated.elements()[1]))
    return site.bad("stated shape {}, expected ({}, {}, ...)", text(stated), text(input.shape()), text(output.shape()));
  return stated;
}

// all-gather-done, collective-permute-done: the result part of the start's (operands, result, ...).
Result<Inferred> infer_collective_done(const Site& site) {
  const Opcode start =
      site.instruction.opcode == Opcode::AllGatherDone ? Opcode::AllGatherStart : Opcode::CollectivePermuteStart;
  if (site.operand_instruction(0).opcode != start)
    return site.bad("operand is a {}, expected {}", to_string(site.operand_instruction(0).opcode), to_string(start));
  if (!site.operand(0).is_tuple() || site.operand(0).elements().size() < 2)
    return site.bad("operand is {}, expected (operands, result, ...)", text(site.operand(0)));
  return site.operand(0).elements()[1];
}

// partition-id, replica-id
Result<Inferred> infer_device_number(const Site& site) {
  return ShapeBuilder(site.stated(), ElementType::U32).finish();
}

}  // namespace sapper::hlo::verifier
