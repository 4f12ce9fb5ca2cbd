// scatter and select-and-scatter.
#include <numeric>

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

enum class Combiner { Overwrite, Add, Extremum, Other };

Combiner combiner_of(const Computation& body) {
  const Instruction& root = body.root_instruction();
  if (root.opcode == Opcode::Parameter) return root.parameter_number == 1 ? Combiner::Overwrite : Combiner::Other;
  const std::optional<Opcode> operation = single_operation(body);
  if (operation == Opcode::Add) return Combiner::Add;
  return operation == Opcode::Maximum || operation == Opcode::Minimum ? Combiner::Extremum : Combiner::Other;
}

// The same scatter of something else: of `updates` into `into`, combined by one operation.
Expression scattered(const Site& site, Opcode operation, Expression into, Expression updates) {
  Instruction like = site.instruction;
  const ElementType type = into.shape().element_type();
  like.called = {site.transformer.operation(operation, type)};
  return {&site.builder, site.builder.add_like(like, site.instruction.shape.with_element_type(type),
                                               {into.index, site.operands[1]->index, updates.index})};
}

// How many updates reach each element.
Expression collisions(const Site& site) {
  const ElementType type = deviation_type(site.type());
  const auto splat = [&](double value, size_t operand) {
    return Expression{&site.builder, site.builder.splat(value, site.operand_shape(operand).with_element_type(type))};
  };
  return scattered(site, Opcode::Add, splat(0, 0), splat(1, 2));
}

Deviation added(const Site& site) {
  const double unit = site.unit_roundoff();
  Deviation total;
  if (unit > 0) {
    // One addition for each update; an update that comes alone is one addition of exact operands.
    const bool is_exact = numerics::function_error(site.contract(), Opcode::Add, site.type()).relative == 0;
    const Expression magnitudes = scattered(site, Opcode::Add, site.magnitude(0), site.magnitude(2));
    const Expression count = collisions(site);
    total = where(count <= (is_exact ? 1.0 : 0.0), count.constant(0), count * magnitudes * unit);
  }
  if (site.any_deviates_in_arithmetic())
    total = sum(total, scattered(site, Opcode::Add, site.arithmetic_deviation_or_zero(0),
                                 site.arithmetic_deviation_or_zero(2)));
  return site.rounded(total);
}

// Which of several updates stays is not defined; every one of them moves its deviation.
Deviation overwritten(const Site& site) {
  Deviation total;
  if (!site.instruction.attributes().unique_indices()) {
    const Expression count = collisions(site);
    total = undetermined_where(max(count - 1, 0));
  }
  if (!site.any_deviates()) return total;
  Instruction like = site.instruction;
  const Expression into = site.deviation_or_zero(0), updates = site.deviation_or_zero(2);
  const ElementType type = into.shape().element_type();
  Builder body("second");
  body.name_after("x");
  body.parameter(0, Shape::scalar(type));
  const InstructionIndex root = body.parameter(1, Shape::scalar(type));
  like.called = {site.transformer.add(std::move(body).finish(root))};
  const Expression moved{&site.builder, site.builder.add_like(like, site.instruction.shape.with_element_type(type),
                                                              {into.index, site.operands[1]->index, updates.index})};
  return sum(total, moved);
}

Deviation extremum(const Site& site) {
  if (!site.any_deviates_in_arithmetic()) return std::nullopt;
  const Opcode operation = site.called(0).root_instruction().opcode;
  const auto end = [&](double sign) {
    return scattered(site, operation, site.real(0) + site.arithmetic_deviation_or_zero(0) * sign,
                     site.real(2) + site.arithmetic_deviation_or_zero(2) * sign);
  };
  return site.any_of_zeros(hull(site.result_real(), end));
}

// Where subnormal numbers count as zero they tie with zeros and with each other: any of them may be the one that is
// chosen of its window. Nothing else is chosen then, and nothing else stays without what it had.
Deviation chosen_among_zeros(const Site& site) {
  const double limit = numerics::underflow(site.contract(), site.type()).most;
  if (limit == 0) return std::nullopt;
  const Expression magnitude = abs(site.real(0));
  const Expression counts_as_zero = where(magnitude < limit, magnitude.constant(1), magnitude.constant(0));
  const Expression subnormal = where(magnitude > 0.0, counts_as_zero, magnitude.constant(0));
  std::vector<int64_t> all(magnitude.shape().rank());
  std::iota(all.begin(), all.end(), 0);
  const Expression any = site.reduced_along(Opcode::Maximum, subnormal, std::move(all));
  const Expression everywhere{&site.builder, site.builder.broadcast_along(any.index, {}, magnitude.shape())};
  return undetermined_where(counts_as_zero * everywhere);
}

// Whether the selection keeps the largest element of a window (else the least); nullopt: it is another one.
std::optional<bool> keeps_largest(const Computation& select) {
  const Instruction& root = select.root_instruction();
  if (root.opcode != Opcode::Compare || !single_operation(select)) return std::nullopt;
  const std::string& direction = root.attributes().comparison_direction();
  const bool in_order = select.instructions[root.operands[0]].parameter_number == 0;
  if (direction == "GE" || direction == "GT") return in_order;
  if (direction == "LE" || direction == "LT") return !in_order;
  return std::nullopt;
}

// Of two pairs (an element, how many are as large): the pair of both.
Computation largest_and_how_many(ElementType type) {
  Builder builder("largest_and_how_many");
  builder.name_after("x");
  const Shape scalar = Shape::scalar(type);
  const auto parameter = [&](int64_t number) { return Expression{&builder, builder.parameter(number, scalar)}; };
  const Expression a = parameter(0), of_a = parameter(1), b = parameter(2), of_b = parameter(3);
  const Expression many = where(compare("EQ", a, b), of_a + of_b, where(a > b, of_a, of_b));
  const Expression largest = max(a, b);
  const InstructionIndex root = builder.add(Opcode::Tuple, Shape::tuple({scalar, scalar}), {largest.index, many.index});
  return std::move(builder).finish(root);
}

// What windows hold that elements are chosen from, summed over the windows that an element is in: a reduce-window of
// values that stand as far apart as windows do.
Expression sum_over_windows(const Site& site, Expression of_windows) {
  Instruction sums;
  sums.opcode = Opcode::ReduceWindow;
  sums.called = {site.transformer.operation(Opcode::Add, of_windows.shape().element_type())};
  const auto& window = site.instruction.attributes().window();
  for (int d = 0; d < window.dimensions_size(); ++d) {
    const auto& dimension = window.dimensions(d);
    const auto at = static_cast<size_t>(d);
    const int64_t reach = (of_windows.shape().dimension(at) - 1) * dimension.stride() + 1;
    auto& made = *sums.edit_attributes().mutable_window()->add_dimensions();
    made.set_size(dimension.size());
    made.set_stride(1);
    made.set_window_dilation(dimension.window_dilation());
    made.set_base_dilation(dimension.stride());
    made.set_padding_low((dimension.size() - 1) * dimension.window_dilation() - dimension.padding_low());
    made.set_padding_high(site.instruction.shape.dimension(at) - reach + dimension.padding_low());
  }
  const ElementType type = of_windows.shape().element_type();
  return {&site.builder, site.builder.add_like(sums, site.instruction.shape.with_element_type(type),
                                               {of_windows.index, site.builder.constant(type, 0)})};
}

// The relative error of what the windows that an element is in add up to.
double roundings_of_windows(const Site& site) {
  return numerics::sum_growth(site.contract(), site.window_elements() + 1) * site.unit_roundoff();
}

// Which of the elements of a window that tie is chosen depends on the order of comparisons, which is free: each of a
// window with ties may get what that window scatters, or not.
Deviation chosen_among_ties(const Site& site) {
  const std::optional<bool> largest = keeps_largest(site.called(0));
  if (!site.contract().unordered_ties || !largest || site.operand_shape(1).element_count() == 0) return std::nullopt;
  const Expression element = *largest ? site.real(0) : 0 - site.real(0);
  const ElementType type = element.shape().element_type();
  Instruction counts;
  counts.opcode = Opcode::ReduceWindow;
  *counts.edit_attributes().mutable_window() = site.instruction.attributes().window();
  counts.called = {site.transformer.add(largest_and_how_many(type))};
  const Shape of_windows = site.operand_shape(1).with_element_type(type);
  const InstructionIndex both = site.builder.add_like(
      counts, Shape::tuple({of_windows, of_windows}),
      {element.index, element.constant(1).index, site.builder.constant(type, -std::numeric_limits<double>::infinity()),
       site.builder.constant(type, 0)});
  const Expression ties = Expression{&site.builder, site.builder.element(both, 1)} > 1.0;
  Expression source = abs(site.real(1));
  if (const Deviation moves = site.deviation(1)) source = source + *moves;
  source = converted(source * (1 + roundings_of_windows(site)), type);
  return sum_over_windows(site, where(ties, source, source.constant(0)));
}

}  // namespace

Deviations bound_scatter(const Site& site) {
  const bool plain = site.operands.size() == 3 && !site.instruction.shape.is_tuple();
  if (!plain)
    return site.any_deviates() || !site.instruction.attributes().unique_indices() ? site.unbounded()
                                                                                  : bound_exact(site);
  if (site.moved_deviation(1)) return {site.undetermined_like(site.instruction.shape)};
  switch (combiner_of(site.called(0))) {
    case Combiner::Add: return {added(site)};
    case Combiner::Overwrite: return {overwritten(site)};
    case Combiner::Extremum: return {extremum(site)};
    case Combiner::Other: break;
  }
  return site.unbounded();
}

Deviations bound_select_and_scatter(const Site& site) {
  // Which element of a window is chosen must be certain.
  if (site.moved_deviation(0) || combiner_of(site.called(1)) != Combiner::Add || !hlo::is_float(site.type()))
    return site.unbounded();
  const double roundings = roundings_of_windows(site);
  Expression source = site.magnitude(1) * roundings;
  Expression init = site.magnitude(2) * roundings;
  if (site.deviation(1)) source = source + *site.deviation(1);
  if (site.deviation(2)) init = init + *site.deviation(2);
  Instruction like = site.instruction;
  const ElementType type = source.shape().element_type();
  // The selection compares elements of the deviations' type: converting keeps their order.
  Computation select = site.called(0);
  for (Instruction& instruction : select.instructions)
    if (instruction.shape.element_type() == site.type()) instruction.shape = instruction.shape.with_element_type(type);
  like.called = {site.transformer.add(std::move(select)), site.transformer.operation(Opcode::Add, type)};
  const Expression moved{&site.builder, site.builder.add_like(like, site.instruction.shape.with_element_type(type),
                                                              {site.real(0).index, source.index, init.index})};
  return {sum(sum(site.rounded(moved), chosen_among_zeros(site)), chosen_among_ties(site))};
}

}  // namespace sapper::bounds
