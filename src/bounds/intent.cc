#include "bounds/intent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// The bound's own rule where marks move as deviations do; null: elsewhere.
Rule find_move(Opcode opcode) {
  const Rule bound = find_rule(opcode);
  constexpr Rule moves[] = {bound_movement,     bound_dynamic_slice, bound_dynamic_update_slice,
                            bound_gather,       bound_tuple,         bound_get_tuple_element,
                            bound_pass_through, bound_collective,    bound_exact};
  return std::ranges::find(moves, bound) != std::end(moves) ? bound : nullptr;
}

Rule find_intent(Opcode opcode) {
  const Rule bound = find_rule(opcode);
  if (const Rule moves = find_move(opcode)) return moves;
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

// What is free: marks of all that depends on it, of integers and preds too.

// Where the value is an infinity, a NaN or a zero, whose sign may make another infinity.
Expression is_special(Expression value) {
  const Expression size = abs(real_of(value));
  return (!is_finite(value)) | (size <= 0.0);
}

// Infinite, NaN or 0: free. So is all, where any element that the operation sees is.
Deviations free_anywhere(const Site& site) {
  Deviation seen;  // a scalar
  for (const Value* operand : site.operands)
    for (const Deviation& mark : operand->deviations) {
      if (!mark) continue;
      std::vector<int64_t> all(mark->shape().rank());
      std::iota(all.begin(), all.end(), 0);
      seen = largest(seen, converted(site.reduced_along(Opcode::Maximum, *mark, std::move(all)), ElementType::F32));
    }
  const std::vector<Shape> leaves = leaf_shapes(site.instruction.shape);
  const bool flat = !site.instruction.shape.is_tuple() || leaves.size() == site.instruction.shape.elements().size();
  Deviations marks;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!flat || !leaves[i].is_array()) {
      marks.push_back(site.undetermined_like(leaves[i]));
      continue;
    }
    Deviation mark;
    const ElementType type = deviation_type(leaves[i].element_type());
    if (seen) mark = converted({&site.builder, site.builder.broadcast(seen->index, leaves[i])}, type);
    if (may_be_infinite(leaves[i])) mark = largest(mark, converted(is_special(result_leaf(site, i)), type));
    marks.push_back(mark);
  }
  return marks;
}

// Whether what is converted is a number between the ends of the integer type.
Expression fits(const Site& site) {
  const bool is_signed = hlo::element_class(site.type()) == hlo::ElementClass::Signed;
  const double end = std::ldexp(1.0, hlo::bit_width(site.type()) - (is_signed ? 1 : 0));
  return (site.real(0) < end) & (site.real(0) > (is_signed ? -end : -1.0));
}

// What the operation makes free of operands that are not. IEEE 754 fixes all results of real arithmetic, but of types
// without infinities, which may also saturate, of zeros of both signs, of which a maximum may choose either, and of
// integers that cannot hold the number.
Deviation made_free(const Site& site) {
  const auto is_zero = [&](size_t i) { return site.everywhere(abs(site.real(i))) <= 0.0; };
  const auto is_complex = [](const Shape& shape) { return hlo::is_complex(shape.element_type()); };
  for (size_t i = 0; i < site.operands.size(); ++i)
    if (is_complex(site.operand_shape(i))) return free_anywhere(site)[0];
  if (site.instruction.opcode == Opcode::Convert && hlo::is_float(site.operand_type(0)) && hlo::is_integer(site.type()))
    return marked(!fits(site), site.type());
  if (!may_be_infinite(site.instruction.shape)) return std::nullopt;
  if (is_complex(site.instruction.shape) ||
      hlo::float_format(site.type())->specials != hlo::FloatFormat::Specials::IEEE)
    return free_anywhere(site)[0];
  switch (site.instruction.opcode) {
    case Opcode::Maximum:
    case Opcode::Minimum: return marked(is_zero(0) & is_zero(1), site.type());
    case Opcode::Clamp:
      return marked((is_zero(1) & (is_zero(0) | is_zero(2))) | (is_zero(0) & is_zero(2)), site.type());
    case Opcode::StochasticConvert: return free_anywhere(site)[0];
    default: return std::nullopt;
  }
}

Deviations free_elementwise(const Site& site) {
  const ElementType type = deviation_type(site.type());
  Deviation mark = made_free(site);
  for (size_t i = 0; i < site.operands.size(); ++i)
    if (const Deviation& operand = site.moved_deviation(i))
      mark = largest(mark, site.everywhere(converted(*operand, type)));
  return {mark};
}

// The branch that was not chosen decides nothing.
Deviations free_select(const Site& site) {
  Deviation mark = select(site)[0];
  if (const Deviation& condition = site.moved_deviation(0))
    mark = largest(mark, site.everywhere(converted(*condition, deviation_type(site.type()))));
  return {mark};
}

Deviations free_reduce(const Site& site) {
  if (site.operands.size() != 2 || hlo::is_complex(site.type()) || single_operation(site.called(0)) != Opcode::Add)
    return free_anywhere(site);
  Deviation mark = site.moved_deviation(0);
  if (mark) mark = site.reduced_along(Opcode::Maximum, *mark, site.instruction.dimensions);
  if (const Deviation& init = site.moved_deviation(1)) mark = largest(mark, site.everywhere(*init));
  return {mark};
}

Deviations free_bitcast(const Site& site) {
  return site.type() == site.operand_type(0) ? bound_bitcast(site) : free_anywhere(site);
}

Rule find_freedom(Opcode opcode) {
  if (const Rule moves = find_move(opcode)) return moves;
  if (opcode == Opcode::Select) return free_select;
  if (opcode == Opcode::Bitcast) return free_bitcast;
  if (opcode == Opcode::Reduce) return free_reduce;
  return opcode != Opcode::BitcastConvert && find_rule(opcode) == &bound_elementwise ? free_elementwise : free_anywhere;
}

Result<std::vector<hlo::Literal>> marks_of(RuleTable rules, const hlo::Module& module,
                                           std::span<const hlo::Literal> arguments, const eval::Options& options) {
  SAPPER_TRY(const BoundedModule beside, with_rules(module, {}, rules));
  SAPPER_TRY(Bounded value, evaluate(beside, arguments, options));
  return std::move(value.deviations);
}

}  // namespace

Result<std::vector<hlo::Literal>> produced_infinities(const hlo::Module& module,
                                                      std::span<const hlo::Literal> arguments,
                                                      const eval::Options& options) {
  return marks_of(find_intent, module, arguments, options);
}

Result<std::vector<hlo::Literal>> free_infinities(const hlo::Module& module, std::span<const hlo::Literal> arguments,
                                                  const eval::Options& options) {
  return marks_of(find_freedom, module, arguments, options);
}

}  // namespace sapper::bounds
