// sort and topk. Sorting is 1-Lipschitz: when no key moves by more than e, the k-th smallest does not either. What
// comes along with a key is certain only where its key is more than 2 e away from its neighbours.
#include <algorithm>
#include <limits>
#include <vector>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Which parameters the root of a computation depends on, by number.
std::vector<bool> used_parameters(const Computation& computation, size_t count) {
  std::vector<bool> needed(computation.instructions.size());
  std::vector<bool> used(count);
  needed[computation.root] = true;
  for (size_t i = computation.instructions.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode == Opcode::Parameter) used[static_cast<size_t>(instruction.parameter_number)] = true;
    for (const InstructionIndex operand : instruction.operands) needed[operand] = true;
  }
  return used;
}

// One number a row along `dimension`, everywhere in an array of `shape`.
Expression along(const Site& site, Expression rows, int64_t dimension, const Shape& shape) {
  std::vector<int64_t> others;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.rank()); ++d)
    if (d != dimension) others.push_back(d);
  return {&site.builder, site.builder.broadcast_along(rows.index, std::move(others),
                                                      shape.with_element_type(rows.shape().element_type()))};
}

// The largest along one dimension, everywhere along it.
Expression largest_along(const Site& site, Expression a, int64_t dimension) {
  return along(site, site.reduced_along(Opcode::Maximum, a, {dimension}), dimension, a.shape());
}

// `a` shifted by one along a dimension, `outside` coming in at the end.
Expression shifted(const Site& site, Expression a, int64_t dimension, int64_t by, double outside) {
  Instruction pad;
  pad.opcode = Opcode::Pad;
  for (int64_t d = 0; d < static_cast<int64_t>(a.shape().rank()); ++d) {
    auto* const padding = pad.edit_attributes().mutable_padding_config()->add_dimensions();
    padding->set_edge_padding_low(d == dimension ? by : 0);
    padding->set_edge_padding_high(d == dimension ? -by : 0);
  }
  return {&site.builder,
          site.builder.add_like(pad, a.shape(), {a.index, site.builder.constant(a.shape().element_type(), outside)})};
}

Expression element(const Site& site, size_t i) {
  if (!site.instruction.shape.is_tuple()) return {&site.builder, site.result};
  return {&site.builder, site.builder.element(site.result, i)};
}

// Infinite where an element of the sorted `keys` may have changed places with a neighbour.
Expression doubt_of_places(const Site& site, Expression keys, Expression shift, int64_t dimension) {
  const Expression before = abs(keys - shifted(site, keys, dimension, 1, infinity));
  const Expression after = abs(keys - shifted(site, keys, dimension, -1, infinity));
  const Expression apart = inflated(shift * 2);
  const Expression certain = (shift <= 0.0) | ((before > apart) & (after > apart));
  return where(certain, shift.constant(0), shift.constant(infinity));
}

// Below which numbers count as zero when they are compared; 0: none do.
double least_compared(const Site& site, ElementType type) {
  return hlo::is_float(type) ? numerics::underflow(site.contract(), type).most : 0;
}

// Numbers as comparisons see them; `type` is what the program has them in.
Expression as_compared(const Site& site, Expression numbers, ElementType type) {
  const double limit = least_compared(site, type);
  return limit > 0 ? where(abs(numbers) < limit, numbers.constant(0), numbers) : numbers;
}

// Result `i`, a key, as comparisons see it.
Expression sorted_key(const Site& site, size_t i) {
  return as_compared(site, real_of(element(site, i)), leaf_shapes(site.instruction.shape)[i].element_type());
}

// Where an element equals a neighbour in all keys.
Expression equals_neighbour(const Site& site, const std::vector<size_t>& keys, int64_t dimension) {
  const auto equals = [&](int64_t by) {
    Deviation all;
    for (const size_t key : keys) {
      const Expression sorted = sorted_key(site, key);
      const Expression equal = compare("EQ", sorted, shifted(site, sorted, dimension, by, infinity));
      all = all ? *all & equal : equal;
    }
    return *all;
  };
  return equals(1) | equals(-1);
}

// Where `tied`, what is no key may come with any of the equal keys.
Deviations tied_companions(const Site& site, const std::vector<size_t>& keys, Expression tied) {
  Deviations all;
  const std::vector<Shape> leaves = leaf_shapes(site.instruction.shape);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Expression zero = converted(tied, deviation_type(leaves[i].element_type())).constant(0);
    if (std::ranges::find(keys, i) == keys.end()) {
      all.push_back(where(tied, zero.constant(infinity), zero));
      continue;
    }
    all.push_back(std::nullopt);
    if (const double limit = least_compared(site, leaves[i].element_type()); limit > 0)
      all.back() = where(abs(real_of(element(site, i))) < limit, zero.constant(2 * limit), zero);
  }
  return all;
}

// Where the last of the k elements equals elements that are left out: those equal to it.
Expression equals_left_out(const Site& site, Expression keys, int64_t dimension) {
  const ElementType type = keys.shape().element_type();
  Instruction slice;
  slice.opcode = Opcode::Slice;
  std::vector<int64_t> sizes = keys.shape().dimensions();
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    auto* const range = slice.edit_attributes().add_slice_dimensions();
    range->set_start(d == dimension ? sizes[static_cast<size_t>(d)] - 1 : 0);
    range->set_limit(sizes[static_cast<size_t>(d)]);
    range->set_stride(1);
  }
  sizes[static_cast<size_t>(dimension)] = 1;
  const Expression cut{&site.builder, site.builder.add_like(slice, Shape::array(type, std::move(sizes)), {keys.index})};
  const Expression last = site.reduced_along(Opcode::Add, cut, {dimension});
  const auto equal_to_last = [&](Expression all) {
    return compare("EQ", all, along(site, last, dimension, all.shape()));
  };
  const auto count = [&](Expression all) {
    return site.reduced_along(Opcode::Add, converted(equal_to_last(all), type), {dimension});
  };
  const Expression operand = as_compared(site, site.real(0), site.operand_type(0));
  return equal_to_last(keys) & along(site, count(operand) > count(keys), dimension, keys.shape());
}

// Exact keys that count as zero when they are subnormal come in any order, and their companions with them.
Deviations reordered_zeros(const Site& site, const std::vector<size_t>& keys, int64_t dimension) {
  Deviations all(site.operands.size());
  std::vector<size_t> floats;
  for (const size_t key : keys)
    if (least_compared(site, site.operand_type(key)) > 0) floats.push_back(key);
  if (floats.empty()) return all;
  Deviation rows;  // that have any
  for (const size_t key : floats) {
    const Expression size = site.magnitude(key);
    const Expression subnormal = (size > 0.0) & (size < least_compared(site, site.operand_type(key)));
    rows = largest(rows, largest_along(site, converted(subnormal, ElementType::F32), dimension));
  }
  Expression moved = *rows > 0.0;
  const double limit = least_compared(site, site.operand_type(floats[0]));
  if (floats.size() == 1) moved = moved & (abs(real_of(element(site, floats[0]))) < limit);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_key = floats.size() == 1 && site.instruction.operands[i] == site.instruction.operands[floats[0]];
    const Expression zero = converted(moved, deviation_type(site.operand_type(i))).constant(0);
    all[i] = where(moved, zero.constant(is_key ? 2 * limit : infinity), zero);
  }
  return all;
}

// Companions move along with the keys, which are exact.
Deviations moved_along(const Site& site) {
  const size_t count = site.operands.size();
  std::vector<InstructionIndex> operands;
  std::vector<Shape> shapes;
  Computation comparator = site.called(0);
  for (const Value* operand : site.operands) {
    operands.push_back(operand->index);
    shapes.push_back(site.builder.shape(operand->index));
  }
  auto number = static_cast<int64_t>(2 * count);
  for (size_t i = 0; i < count; ++i) {
    if (!site.moved_deviation(i)) continue;
    operands.push_back(site.moved_deviation(i)->index);
    shapes.push_back(site.moved_deviation(i)->shape());
    for (int side = 0; side < 2; ++side) {
      Instruction parameter;
      parameter.opcode = Opcode::Parameter;
      parameter.name = fmt::format("deviation{}", number);
      parameter.parameter_number = number++;
      parameter.shape = Shape::scalar(shapes.back().element_type());
      comparator.instructions.push_back(std::move(parameter));
    }
  }
  Instruction like = site.instruction;
  like.called = {site.transformer.add(std::move(comparator))};
  const InstructionIndex sorted = site.builder.add_like(like, Shape::tuple(std::move(shapes)), std::move(operands));
  Deviations all;
  size_t next = count;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(std::nullopt);
    if (site.moved_deviation(i)) all.back() = Expression{&site.builder, site.builder.element(sorted, next++)};
  }
  return all;
}

}  // namespace

Deviations bound_sort(const Site& site) {
  const size_t count = site.operands.size();
  const int64_t dimension = site.instruction.dimensions[0];
  const bool ties = site.contract().unordered_ties && !site.instruction.attributes().is_stable() && count > 1;
  const std::vector<bool> used = used_parameters(site.called(0), 2 * count);
  std::vector<size_t> keys;
  for (size_t i = 0; i < count; ++i)
    if (used[2 * i] || used[2 * i + 1]) keys.push_back(i);
  const Deviations tied =
      ties && !keys.empty() ? tied_companions(site, keys, equals_neighbour(site, keys, dimension)) : Deviations(count);
  const bool one_key = keys.size() == 1 && hlo::is_float(site.operand_type(keys[0]));
  bool keys_deviate = false, others_deviate = false;
  for (size_t i = 0; i < count; ++i) {
    if (!site.moved_deviation(i)) continue;
    (std::ranges::find(keys, i) != keys.end() ? keys_deviate : others_deviate) = true;
  }
  if (!keys_deviate) {
    Deviations all = others_deviate ? moved_along(site) : Deviations(count);
    const Deviations zeros = reordered_zeros(site, keys, dimension);
    for (size_t i = 0; i < count; ++i) all[i] = sum(sum(all[i], zeros[i]), tied[i]);
    return all;
  }
  // Keys that compare as zero when they are subnormal are keys that deviate.
  const Deviation key = one_key ? site.deviation(keys[0]) : std::nullopt;
  if (!key || others_deviate) return site.unbounded();
  // Subnormal keys count as zero and stay what they are: they may change places over twice their magnitude.
  const Expression shift = largest_along(site, *key, dimension) * (site.contract().flush_subnormals ? 2 : 1);
  const Expression doubt = doubt_of_places(site, real_of(element(site, keys[0])), shift, dimension);
  Deviations all;
  for (size_t i = 0; i < count; ++i) {
    // An operand that is given twice is a key of its own.
    const bool is_key = i == keys[0] || site.instruction.operands[i] == site.instruction.operands[keys[0]];
    all.push_back(is_key ? shift : sum(converted(doubt, deviation_type(site.operand_type(i))), tied[i]));
  }
  return all;
}

// Values and their indices, in order along the last dimension. With a tie at the end the index is that of either.
Deviations bound_topk(const Site& site) {
  if (site.any_deviates()) return site.unbounded();
  if (!site.contract().unordered_ties || !site.instruction.shape.is_tuple())
    return Deviations(leaf_count(site.instruction.shape));
  const auto dimension = static_cast<int64_t>(site.operand_shape(0).rank()) - 1;
  const Expression tied =
      equals_neighbour(site, {0}, dimension) | equals_left_out(site, sorted_key(site, 0), dimension);
  return tied_companions(site, {0}, tied);
}

}  // namespace sapper::bounds
