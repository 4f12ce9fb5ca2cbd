// reduce and reduce-window. Sums, products, extrema and the logic of preds have rules, also where one reduction takes
// several of them side by side; any other body is bounded itself, and the reduction carries the deviations beside the
// values, unless the body computes floats: the order that it is applied in is free, and what another order gives has no
// bound.
#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

// How many elements of the operand one element of the result takes in.
double terms_of(const Site& site) {
  if (site.instruction.opcode == Opcode::ReduceWindow) return site.window_elements();
  double terms = 1;
  for (const int64_t d : site.instruction.dimensions)
    terms *= static_cast<double>(site.operand_shape(0).dimension(static_cast<size_t>(d)));
  return terms;
}

// The same reduction of something else by one operation.
Expression reduced(const Site& site, Opcode opcode, Expression operand, Expression init) {
  Instruction like = site.instruction;
  const ElementType type = operand.shape().element_type();
  like.called = {site.transformer.operation(opcode, type)};
  return {&site.builder, site.builder.add_like(like, site.instruction.shape.with_element_type(type),
                                               {operand.index, converted(init, type).index})};
}

// Whether no value of the instruction is below 0.
bool is_never_negative(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Abs:
    case Opcode::Exponential:
    case Opcode::Logistic: return true;
    case Opcode::Constant: return instruction.literal->element_count() == 1 && instruction.literal->real_at(0) >= 0;
    case Opcode::Multiply: return instruction.operands[0] == instruction.operands[1];
    default: return false;
  }
}

// Adding 0 rounds nothing: in long sums the terms that are not 0 count.
constexpr double long_sum = 4096;

// How many terms of a sum are not 0, with its initial value.
Expression terms_that_count(const Site& site) {
  const auto counts = [&](size_t i) {
    Expression size = abs(site.real(i));
    if (const Deviation e = site.deviation(i)) size = size + *e;
    return where(size <= 0.0, size.constant(0), size.constant(1));
  };
  return reduced(site, Opcode::Add, counts(0), counts(1));
}

Deviation sum_rule(const Site& site) {
  const double unit = site.unit_roundoff();
  const double wide = std::min(unit, numerics::unit_roundoff(ElementType::F32));
  const double terms = terms_of(site);
  double roundings = numerics::sum_growth(site.contract(), terms) * wide;
  // Narrow partial sums are rounded where they are stored: a reduction may run in up to three stages.
  if (unit > wide && terms > 1) roundings += 3 * unit;
  // Independent errors add up as their squares do.
  const bool statistical = site.contract().statistical;
  const auto total_of = [&](Expression terms_deviate, Expression init_deviates) {
    if (!statistical) return reduced(site, Opcode::Add, terms_deviate, init_deviates);
    return sqrt(reduced(site, Opcode::Add, terms_deviate * terms_deviate, init_deviates * init_deviates));
  };
  const Deviation element = site.deviation(0), init = site.deviation(1);
  const auto or_zero = [&](size_t i, const Deviation& e) { return e ? *e : site.deviation_or_zero(i); };
  Deviation total;
  if (element || init) total = total_of(or_zero(0, element), or_zero(1, init));
  if (roundings > 0 && statistical) {
    const auto most = [&](size_t i, const Deviation& e) { return e ? site.magnitude(i) + *e : site.magnitude(i); };
    total = sum(total, total_of(most(0, element) * roundings, most(1, init) * roundings));
  } else if (roundings > 0) {
    // The terms' magnitudes are not held below infinity, as Site::magnitude() is: then nothing is in range either.
    const auto never_negative = [&](size_t i) {
      return hlo::is_float(site.type()) &&
             is_never_negative(site.computation.instructions[site.instruction.operands[i]]);
    };
    const Expression sizes =
        never_negative(0) && never_negative(1) ? site.result_real() : total_of(abs(site.real(0)), abs(site.real(1)));
    const Expression in_range = site.sum_within_range(total ? sizes + *total : sizes, 1);
    Expression error = in_range * roundings;
    if (terms >= long_sum && unit == wide) error = min(error, in_range * (max(terms_that_count(site) - 1, 0) * unit));
    total = sum(total, error);
  }
  if (const double flushed = site.flushed_terms(2 * terms); flushed > 0)
    total = sum(total, site.result_magnitude().constant(flushed));
  return site.rounded(total);
}

// The order of factors is free: while no product of some of them can overflow or lose bits to underflow, only roundings
// differ.
Deviation product_rule(const Site& site) {
  const double unit = std::max(site.unit_roundoff(), numerics::unit_roundoff(ElementType::F64));
  const double factor_error = unit + numerics::function_error(site.contract(), Opcode::Multiply, site.type()).relative;
  const double roundings = numerics::sum_growth(site.contract(), terms_of(site) + 1) * factor_error;
  if (!site.any_deviates() && (terms_of(site) <= 1 || site.unit_roundoff() == 0)) return std::nullopt;
  const auto product_of = [&](auto&& factor) { return reduced(site, Opcode::Multiply, factor(0), factor(1)); };
  const auto most = [&](size_t i) { return site.magnitude(i) + site.deviation_or_zero(i); };
  const Expression bound = max(product_of(most) * (1 + 2 * roundings) - site.result_magnitude(), 0);
  const Expression largest = product_of([&](size_t i) { return max(most(i), 1); });
  const Expression smallest = product_of([&](size_t i) {
    const Expression size = site.magnitude(i);
    return where(size <= 0.0, size.constant(1), min(size, 1));
  });
  const double highest = numerics::overflow(site.contract(), site.type()) / 2;
  const double lowest = std::max(hlo::least_normal(*hlo::float_format(site.type())),
                                 numerics::underflow(site.contract(), site.type()).below);
  const Expression in_range = (smallest >= smallest.constant(lowest)) & (largest < highest);
  return site.rounded(or_infinite(in_range, bound));
}

Deviation extremum_rule(const Site& site, Opcode opcode) {
  if (!site.any_deviates_in_arithmetic()) return std::nullopt;
  const auto end = [&](double sign) {
    return reduced(site, opcode, site.real(0) + site.arithmetic_deviation_or_zero(0) * sign,
                   site.real(1) + site.arithmetic_deviation_or_zero(1) * sign);
  };
  return site.any_of_zeros(hull(site.result_real(), end));
}

// Undecided where the result with all undecided elements true is another than with all false.
Deviation logic_rule(const Site& site, Opcode opcode) {
  if (!site.any_deviates()) return std::nullopt;
  const auto doubtful = [&](size_t i) { return !(site.deviation_or_zero(i) <= 0.0); };
  const Expression high = reduced(site, opcode, site.operand(0) | doubtful(0), site.operand(1) | doubtful(1));
  const Expression low = reduced(site, opcode, site.operand(0) & !doubtful(0), site.operand(1) & !doubtful(1));
  return converted(compare("NE", high, low), ElementType::F32);
}

// A reducer over values and deviations, in the order that a reduction with more operands calls it: parameters
// (values, deviations) of the accumulators, then of the elements; the root is the tuple of values and deviations.
std::optional<ComputationIndex> reducer_with_deviations(Transformer& transformer, const BoundedComputation& body,
                                                        size_t values, size_t deviations) {
  Computation reducer = transformer.to().computations[body.index];
  for (Instruction& instruction : reducer.instructions) {
    if (instruction.opcode != Opcode::Parameter) continue;
    // Bounded computations take: accumulators, elements, deviations of the accumulators, of the elements.
    const auto number = static_cast<size_t>(instruction.parameter_number);
    size_t moved = number;
    if (number >= values && number < 2 * values) moved = number + deviations;
    if (number >= 2 * values && number < 2 * values + deviations) moved = number - values;
    instruction.parameter_number = static_cast<int64_t>(moved);
  }
  if (values > 1) {
    // The bounded root is ((values), deviations...): flatten it.
    const std::vector<InstructionIndex> parts = reducer.root_instruction().operands;
    const Instruction inner = reducer.instructions[parts[0]];
    if (inner.opcode != Opcode::Tuple) return std::nullopt;
    Instruction& root = reducer.instructions[reducer.root];
    root.operands = inner.operands;
    root.operands.insert(root.operands.end(), parts.begin() + 1, parts.end());
    std::vector<Shape> shapes;
    for (const InstructionIndex operand : root.operands) shapes.push_back(reducer.instructions[operand].shape);
    root.shape = Shape::tuple(std::move(shapes));
  }
  return transformer.add(std::move(reducer));
}

// Whether the order in which the body is applied may show in numbers: it does more than pick one of its operands.
bool computes(const Computation& body) {
  return std::ranges::any_of(body.instructions, [](const Instruction& instruction) {
    const bool is_number = instruction.shape.is_array() && (hlo::is_float(instruction.shape.element_type()) ||
                                                            hlo::is_complex(instruction.shape.element_type()));
    if (!instruction.called.empty()) return true;
    switch (instruction.opcode) {
      case Opcode::Clamp:
      case Opcode::Constant:
      case Opcode::Copy:
      case Opcode::GetTupleElement:
      case Opcode::Maximum:
      case Opcode::Minimum:
      case Opcode::Parameter:
      case Opcode::Select: return false;
      default: return is_number;
    }
  });
}

Deviations any_body(const Site& site) {
  if (terms_of(site) > 1 && computes(site.called(0))) return site.unbounded();
  const size_t values = site.operands.size() / 2;
  std::vector<bool> deviates(values);
  for (size_t i = 0; i < values; ++i)
    deviates[i] = site.moved_deviation(i).has_value() || site.moved_deviation(values + i).has_value();
  // Accumulators deviate as results do.
  BoundedComputation body;
  for (;;) {
    std::vector<bool> parameters = deviates;
    parameters.insert(parameters.end(), deviates.begin(), deviates.end());
    body = site.transformer.bounded(site.instruction.called[0], parameters);
    bool more = false;
    for (size_t i = 0; i < values; ++i) {
      more = more || (body.deviates[i] && !deviates[i]);
      deviates[i] = deviates[i] || body.deviates[i];
    }
    if (!more) break;
  }
  std::vector<InstructionIndex> operands, inits;
  std::vector<Shape> shapes;
  const std::vector<Shape> results = leaf_shapes(site.instruction.shape);
  for (size_t i = 0; i < values; ++i) {
    operands.push_back(site.operands[i]->index);
    inits.push_back(site.operands[values + i]->index);
    shapes.push_back(results[i]);
  }
  size_t deviations = 0;
  for (size_t i = 0; i < values; ++i) {
    if (!deviates[i]) continue;
    ++deviations;
    operands.push_back(site.deviation_or_zero(i).index);
    inits.push_back(site.deviation_or_zero(values + i).index);
    shapes.push_back(results[i].with_element_type(deviation_type(results[i].element_type())));
  }
  if (deviations == 0) return Deviations(values);
  // A root leaf that does not deviate while its parameter does has no place in the tuple.
  if (body.deviates != deviates) return site.unbounded();
  const auto reducer = reducer_with_deviations(site.transformer, body, values, deviations);
  if (!reducer) return site.unbounded();
  operands.insert(operands.end(), inits.begin(), inits.end());
  Instruction like = site.instruction;
  like.called = {*reducer};
  const InstructionIndex both = site.builder.add_like(like, Shape::tuple(std::move(shapes)), std::move(operands));
  Deviations all;
  size_t next = values;
  for (size_t i = 0; i < values; ++i) {
    if (!deviates[i]) {
      all.push_back(std::nullopt);
      continue;
    }
    // Which operand is picked may differ in another order.
    all.push_back(Expression{&site.builder, site.builder.element(both, next++)} * 2);
  }
  return all;
}

// Of a reduction of one array by one operation; none: there is no rule for it.
std::optional<Deviation> rule_of(const Site& site, Opcode operation) {
  const ElementType type = site.type();
  switch (operation) {
    case Opcode::Add: return sum_rule(site);
    case Opcode::Multiply:
      if (hlo::is_float(type)) return product_rule(site);
      return std::nullopt;
    case Opcode::Maximum:
    case Opcode::Minimum:
      if (type != ElementType::Pred) return extremum_rule(site, operation);
      return std::nullopt;
    case Opcode::And:
    case Opcode::Or:
      if (type == ElementType::Pred) return logic_rule(site, operation);
      return std::nullopt;
    default: return std::nullopt;
  }
}

// What a body does to each of the values that it reduces side by side, when that is one operation on it alone.
std::optional<std::vector<Opcode>> operations_of(const Computation& body, size_t values) {
  if (values == 1 && !body.root_instruction().shape.is_tuple()) {
    const std::optional<Opcode> operation = single_operation(body);
    return operation ? std::optional(std::vector{*operation}) : std::nullopt;
  }
  if (body.root_instruction().opcode != Opcode::Tuple) return std::nullopt;
  std::vector<Opcode> operations;
  for (size_t i = 0; i < values; ++i) {
    const Instruction& made = body.instructions[body.root_instruction().operands[i]];
    std::vector<int64_t> takes;
    for (const InstructionIndex operand : made.operands)
      if (body.instructions[operand].opcode == Opcode::Parameter)
        takes.push_back(body.instructions[operand].parameter_number);
    std::ranges::sort(takes);
    const auto own = static_cast<int64_t>(i);
    if (made.operands.size() != 2 || takes != std::vector{own, own + static_cast<int64_t>(values)}) return std::nullopt;
    operations.push_back(made.opcode);
  }
  return operations;
}

// The rules of all values; none: one has no rule.
std::optional<Deviations> side_by_side(const Site& site, const std::vector<Opcode>& operations) {
  const size_t values = operations.size();
  const bool is_tuple = site.instruction.shape.is_tuple();
  Deviations all;
  for (size_t i = 0; i < values; ++i) {
    Instruction alone = site.instruction;
    alone.shape = is_tuple ? site.instruction.shape.elements()[i] : site.instruction.shape;
    alone.operands = {site.instruction.operands[i], site.instruction.operands[values + i]};
    const InstructionIndex result = is_tuple ? site.builder.element(site.result, i) : site.result;
    const Site one{site.transformer,
                   site.builder,
                   site.computation,
                   alone,
                   {site.operands[i], site.operands[values + i]},
                   site.is_output,
                   site.is_constant,
                   result};
    const std::optional<Deviation> deviation = rule_of(one, operations[i]);
    if (!deviation) return std::nullopt;
    all.push_back(*deviation);
  }
  return all;
}

}  // namespace

Deviations bound_reduce(const Site& site) {
  if (const auto operations = operations_of(site.called(0), site.operands.size() / 2))
    if (const auto deviations = side_by_side(site, *operations)) return *deviations;
  return any_body(site);
}

Deviations bound_reduce_window(const Site& site) { return bound_reduce(site); }

}  // namespace sapper::bounds
