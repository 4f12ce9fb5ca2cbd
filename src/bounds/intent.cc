#include "bounds/intent.h"

#include <algorithm>
#include <limits>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Opcode;
using hlo::Shape;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool may_be_infinite(const Shape& shape) {
  return shape.is_array() && (hlo::is_float(shape.element_type()) || hlo::is_complex(shape.element_type()));
}

Expression is_finite(Expression value) { return abs(real_of(value)) < infinity; }
Expression is_nan(Expression value) {
  const Expression real = real_of(value);
  return compare("NE", real, real);
}

// 1 where the condition holds, of the type that goes beside an array of `type`.
Expression marked(Expression condition, ElementType type) { return converted(condition, deviation_type(type)); }

Expression result_leaf(const Site& site, size_t leaf) {
  const bool tuple = site.instruction.shape.is_tuple();
  return {&site.builder, tuple ? site.builder.element(site.result, leaf) : site.result};
}

// What operands say about an element that they make: is one of them an infinity or NaN that is meant, one that was
// produced, a NaN?
struct Sources {
  Deviation meant, produced, nan;
  void add(Expression value, const Deviation& is_produced) {
    const auto join = [](Deviation& all, Expression more) { all = all ? *all | more : more; };
    Expression here = !is_finite(value);
    join(nan, is_nan(value));
    if (is_produced) {
      join(produced, *is_produced > 0.0);
      here = here & (*is_produced <= 0.0);
    }
    join(meant, here);
  }
};

Expression produced(Expression value, const Sources& sources) {
  const Expression infinite = !is_finite(value);
  if (!sources.meant) return infinite;  // made of integers
  Expression by_operands = (!*sources.meant) | (is_nan(value) & !*sources.nan);
  if (sources.produced) by_operands = by_operands | *sources.produced;
  return infinite & by_operands;
}

Deviations elementwise(const Site& site) {
  if (!may_be_infinite(site.instruction.shape) || site.is_constant) return {std::nullopt};
  Sources sources;
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (!may_be_infinite(site.operand_shape(i))) continue;
    Deviation before = site.moved_deviation(i);
    if (before) before = site.everywhere(*before);
    sources.add(site.everywhere(site.operand(i)), before);
  }
  return {marked(produced(result_leaf(site, 0), sources), site.type())};
}

Deviations select(const Site& site) {
  const Deviation &t = site.moved_deviation(1), &f = site.moved_deviation(2);
  if (!t && !f) return {std::nullopt};
  return {where(site.everywhere(site.operand(0)), site.deviation_or_zero(1), site.deviation_or_zero(2))};
}

// Wherever the result is infinite or NaN.
Deviations anywhere(const Site& site) {
  const std::vector<Shape> leaves = leaf_shapes(site.instruction.shape);
  const bool nested = std::ranges::any_of(leaves, [](const Shape& leaf) { return !leaf.is_array(); }) ||
                      (site.instruction.shape.is_tuple() && leaves.size() != site.instruction.shape.elements().size());
  Deviations all(leaves.size());
  for (size_t i = 0; i < leaves.size() && !site.is_constant && !nested; ++i)
    if (may_be_infinite(leaves[i])) all[i] = marked(!is_finite(result_leaf(site, i)), leaves[i].element_type());
  return all;
}

// Operations whose results are some of their operands' elements produce nothing themselves.
Deviations some_of_the_operands(const Site& site) {
  return site.any_deviates() ? anywhere(site) : Deviations(leaf_count(site.instruction.shape));
}

bool chooses(const Site& site, size_t body) {
  const hlo::Computation& called = site.called(body);
  const std::optional<Opcode> operation = single_operation(called);
  return called.root_instruction().opcode == Opcode::Parameter || operation == Opcode::Maximum ||
         operation == Opcode::Minimum;
}

Deviations reduce(const Site& site) {
  if (site.operands.size() != 2 || site.instruction.shape.is_tuple()) return anywhere(site);
  if (!may_be_infinite(site.instruction.shape) || site.is_constant) return {std::nullopt};
  const ElementType type = deviation_type(site.type());
  const auto any_along = [&](Expression condition) {
    return site.reduced_along(Opcode::Maximum, converted(condition, type), site.instruction.dimensions) > 0.0;
  };
  Sources of_elements, sources;
  of_elements.add(site.operand(0), site.moved_deviation(0));
  Deviation init = site.moved_deviation(1);
  if (init) init = site.everywhere(*init);
  sources.add(site.everywhere(site.operand(1)), init);
  sources.meant = *sources.meant | any_along(*of_elements.meant);
  sources.nan = *sources.nan | any_along(*of_elements.nan);
  if (of_elements.produced) {
    const Expression among_elements = any_along(*of_elements.produced);
    sources.produced = sources.produced ? *sources.produced | among_elements : among_elements;
  }
  return {marked(produced(result_leaf(site, 0), sources), site.type())};
}

// Of another type it is arithmetic on bits.
Deviations bitcast(const Site& site) {
  return site.type() == site.operand_type(0) ? bound_bitcast(site) : anywhere(site);
}

Deviations combine(const Site& site) { return chooses(site, 0) ? some_of_the_operands(site) : anywhere(site); }

Rule find_intent(Opcode opcode) {
  const Rule bound = find_rule(opcode);
  constexpr Rule moves[] = {bound_movement,     bound_dynamic_slice, bound_dynamic_update_slice,
                            bound_gather,       bound_tuple,         bound_get_tuple_element,
                            bound_pass_through, bound_collective,    bound_exact};
  if (std::ranges::find(moves, bound) != std::end(moves)) return bound;
  if (opcode == Opcode::Select) return select;
  if (opcode == Opcode::Bitcast) return bitcast;
  if (opcode == Opcode::BitcastConvert) return anywhere;
  if (bound == &bound_elementwise) return elementwise;
  switch (opcode) {
    case Opcode::Reduce: return reduce;
    case Opcode::ReduceWindow:
    case Opcode::Scatter: return combine;
    case Opcode::Sort:
    case Opcode::Topk: return some_of_the_operands;
    default: return anywhere;
  }
}

}  // namespace

Result<std::vector<hlo::Literal>> produced_infinities(const hlo::Module& module,
                                                      std::span<const hlo::Literal> arguments,
                                                      const eval::Options& options) {
  SAPPER_TRY(const BoundedModule beside, with_rules(module, {}, find_intent));
  SAPPER_TRY(Bounded value, evaluate(beside, arguments, options));
  return std::move(value.deviations);
}

}  // namespace sapper::bounds
