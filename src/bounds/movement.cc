// Operations that move elements: deviations move along.
#include <algorithm>
#include <limits>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

Shape deviation_shape(const Shape& shape) { return shape.with_element_type(deviation_type(shape.element_type())); }

// The instruction over the deviations of its first `count` operands and the rest of its operands as they are.
Deviation moved(const Site& site, size_t count) {
  bool deviates = false;
  for (size_t i = 0; i < count; ++i) deviates = deviates || site.moved_deviation(i);
  if (!deviates) return std::nullopt;
  std::vector<InstructionIndex> operands;
  for (size_t i = 0; i < site.operands.size(); ++i)
    operands.push_back(i < count ? site.deviation_or_zero(i).index : site.operands[i]->index);
  return Expression{&site.builder, site.builder.add_like(site.instruction, deviation_shape(site.instruction.shape),
                                                         std::move(operands))};
}

// Infinite everywhere in `shape` where one of the scalar operands from `first` on deviates.
Deviation doubt_of_indices(const Site& site, size_t first) {
  Deviation doubt;
  for (size_t i = first; i < site.operands.size(); ++i) {
    if (!site.moved_deviation(i)) continue;
    Expression index = undetermined_where(converted(*site.moved_deviation(i), deviation_type(site.type())));
    // Several indices in one array: an older form.
    if (index.shape().rank() > 0) return site.undetermined_like(site.instruction.shape);
    doubt = largest(doubt, index);
  }
  if (doubt) doubt = Expression{doubt->builder, doubt->builder->broadcast(doubt->index, site.instruction.shape)};
  return doubt;
}

}  // namespace

Deviations bound_movement(const Site& site) {
  if (site.instruction.shape.is_tuple()) return site.operands[0]->deviations;  // a copy of one
  return {moved(site, site.operands.size())};
}

// A bitcast moves elements by how its operand lies in memory. Deviations do not lie there: they get its layout first.
Deviations bound_bitcast(const Site& site) {
  const Deviation& deviation = site.moved_deviation(0);
  if (!deviation) return {std::nullopt};
  if (site.type() != site.operand_type(0)) return site.unbounded();
  const InstructionIndex laid_out =
      site.builder.add(Opcode::Copy, deviation_shape(site.operand_shape(0)), {deviation->index});
  return {Expression{&site.builder,
                     site.builder.add_like(site.instruction, deviation_shape(site.instruction.shape), {laid_out})}};
}

Deviations bound_dynamic_slice(const Site& site) { return {sum(moved(site, 1), doubt_of_indices(site, 1))}; }

Deviations bound_dynamic_update_slice(const Site& site) { return {sum(moved(site, 2), doubt_of_indices(site, 2))}; }

Deviations bound_gather(const Site& site) {
  const Deviation elements = moved(site, 1);
  if (!site.moved_deviation(1)) return {elements};
  // Where a vector of indices is in doubt, so is the window that it names.
  const auto& numbers = site.instruction.attributes().gather_dimension_numbers();
  Expression doubt = converted(undetermined_where(*site.moved_deviation(1)), deviation_type(site.type()));
  const auto vector = static_cast<size_t>(numbers.index_vector_dim());
  if (vector < doubt.shape().rank()) doubt = site.reduced_along(Opcode::Maximum, doubt, {static_cast<int64_t>(vector)});
  std::vector<int64_t> batch;
  for (int64_t d = 0; d < static_cast<int64_t>(site.instruction.shape.rank()); ++d)
    if (std::find(numbers.offset_dims().begin(), numbers.offset_dims().end(), d) == numbers.offset_dims().end())
      batch.push_back(d);
  doubt.index = site.builder.broadcast_along(doubt.index, std::move(batch), deviation_shape(site.instruction.shape));
  return {sum(elements, doubt)};
}

Deviations bound_tuple(const Site& site) {
  Deviations all;
  for (const Value* operand : site.operands)
    all.insert(all.end(), operand->deviations.begin(), operand->deviations.end());
  return all;
}

Deviations bound_get_tuple_element(const Site& site) {
  const Shape& tuple = site.operand_shape(0);
  const auto wanted = static_cast<size_t>(site.instruction.tuple_index);
  size_t first = 0;
  for (size_t i = 0; i < wanted; ++i) first += leaf_count(tuple.elements()[i]);
  const size_t count = leaf_count(tuple.elements()[wanted]);
  const auto begin = site.operands[0]->deviations.begin() + static_cast<int64_t>(first);
  return {begin, begin + static_cast<int64_t>(count)};
}

// The first leaves are the first operand's; further ones (sources and contexts of asynchronous copies) are those again
// or carry no value.
Deviations bound_pass_through(const Site& site) {
  const size_t leaves = leaf_count(site.instruction.shape);
  Deviations all;
  for (const Value* operand : site.operands)
    all.insert(all.end(), operand->deviations.begin(), operand->deviations.end());
  if (site.instruction.opcode == Opcode::CopyStart) all = {all[0], all[0]};
  all.resize(leaves);
  return all;
}

Deviations bound_exact(const Site& site) {
  if (site.any_deviates()) return site.unbounded();
  return Deviations(leaf_count(site.instruction.shape));
}

Deviations bound_collective(const Site& site) {
  for (size_t i = 0; i < site.operands.size(); ++i) {
    const Shape& result =
        site.instruction.shape.is_tuple() ? site.instruction.shape.elements()[i] : site.instruction.shape;
    if (!site.operand_shape(i).same_ignoring_layout(result)) return site.unbounded();
  }
  return bound_pass_through(site);
}

}  // namespace sapper::bounds
