#include "inputs/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "inputs/accumulation.h"
#include "inputs/elementwise_bounds.h"

namespace sapper::inputs {
namespace {

using hlo::Opcode;

// Typical sizes are kept in what double can say.
constexpr double largest_size = 1e300;

Interval values_of(const hlo::Literal& literal) {
  constexpr int64_t most_elements = 1 << 20;
  const hlo::ElementType type = literal.shape().element_type();
  if (literal.element_count() > most_elements) return finite_values(type);
  Interval values{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::infinity()};
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const std::complex<double> element = literal.complex_at(i);
    for (const double part : {element.real(), hlo::is_complex(type) ? element.imag() : element.real()})
      if (std::isfinite(part)) values = hull(values, {part, part, std::fabs(part)});
  }
  return values.low <= values.high ? values : Interval{0, 0};  // masks: no finite element
}

// The size of f(x) for a typical x of either sign, as far as the bounds allow.
double size_of_unary(Opcode opcode, const Estimate& x) {
  const double size = x.size;
  const double above = std::min(size, x.bounds.high);  // a typical element on the positive side
  switch (opcode) {
    case Opcode::Exponential: return std::exp(std::min(above, 700.0));
    case Opcode::ExponentialMinusOne: return std::max(std::min(size, 1.0), std::expm1(std::min(above, 700.0)));
    case Opcode::Log: return std::max(1.0, std::fabs(std::log(std::max(size, 1e-300))));
    case Opcode::LogPlusOne: return std::log1p(size);
    case Opcode::Sqrt: return std::sqrt(size);
    case Opcode::Rsqrt: return 1 / std::sqrt(std::max(size, 1e-300));
    case Opcode::Cbrt: return std::cbrt(size);
    case Opcode::Tanh:
    case Opcode::Erf: return std::min(size, 1.0);
    case Opcode::Logistic: return 1;
    default: return size;
  }
}

class Pass {
 public:
  Pass(const hlo::Module& module, const FlatProgram& program, std::span<const Interval> assured)
      : module_(module), program_(program), assured_(assured) {}

  std::vector<Estimate> run(std::span<const Estimate> parameters) {
    estimates_.reserve(program_.nodes.size());
    estimates_.assign(parameters.begin(), parameters.end());  // their leaves are the first nodes
    for (Node n = static_cast<Node>(parameters.size()); n < program_.nodes.size(); ++n)
      estimates_.push_back(finished(n, visit(n)));
    return std::move(estimates_);
  }

 private:
  const Estimate& operand(const FlatNode& node, size_t i) const { return estimates_[program_.operands_of(node)[i]]; }

  // Within the type, and what is assured otherwise; notes what leaves it.
  Estimate finished(Node n, Estimate it) const {
    const FlatNode& node = program_.nodes[n];
    if (!node.shape->is_array()) return it;
    const hlo::ElementType type = node.shape->element_type();
    const Interval limits = finite_values(type);
    for (const Node operand : program_.operands_of(node))
      if (operand < n) it.adjustable |= estimates_[operand].adjustable;
    if (!assured_.empty()) it.bounds = intersection(it.bounds, assured_[n]);
    if (!(it.bounds.low <= it.bounds.high)) it.bounds = limits;
    if (!limits.contains({it.bounds.low, it.bounds.high})) {
      it.may_overflow = hlo::is_float(type) || hlo::is_complex(type);
      const bool wraps = hlo::is_integer(type) && node.instruction->opcode != Opcode::Convert;
      it.bounds = wraps ? limits : intersection(it.bounds, limits);
      if (!(it.bounds.low <= it.bounds.high)) it.bounds = limits;
    }
    const double most = std::min(it.bounds.largest(), largest_size);
    it.size = std::isnan(it.size) ? most : std::clamp(it.size, std::min(it.bounds.smallest(), most), most);
    return it;
  }

  Estimate visit(Node n) {
    const FlatNode& node = program_.nodes[n];
    const auto operands = program_.operands_of(node);
    if (!node.shape->is_array()) return {};
    switch (node.step) {
      case Step::Unknown: return unknown(node);
      case Step::Join: return joined(operands);
      case Step::LoopEntry: return loop_entry(node);
      case Step::Operation: break;
    }
    switch (node.instruction->opcode) {
      case Opcode::Constant: return constant(node);
      case Opcode::Iota: {
        const auto last =
            static_cast<double>(node.shape->dimension(static_cast<size_t>(node.instruction->dimensions[0])));
        return {{0, std::max(0.0, last - 1)}, last};
      }
      case Opcode::ReplicaId:
      case Opcode::PartitionId: return {{0, 0}, 0};
      case Opcode::GetDimensionSize: return {{0, std::exp2(31)}, 1};
      case Opcode::Rng: return joined(operands);
      // Moves.
      case Opcode::Broadcast:
      case Opcode::Bitcast:
      case Opcode::Copy:
      case Opcode::Reshape:
      case Opcode::DynamicReshape:
      case Opcode::SetDimensionSize:
      case Opcode::Transpose:
      case Opcode::Reverse:
      case Opcode::Slice:
      case Opcode::DynamicSlice:
      case Opcode::Gather:
      case Opcode::Topk:
      case Opcode::Cholesky:
      case Opcode::AllGather:
      case Opcode::AllToAll:
      case Opcode::CollectivePermute:
      case Opcode::CollectiveBroadcast:
        return node.leaf == 0 && same_type(node, operands[0]) ? moved(node, 0) : unknown(node);
      case Opcode::Pad:
      case Opcode::DynamicUpdateSlice: return joined(operands.first(2));
      case Opcode::Concatenate: return joined(operands);
      case Opcode::Sort: return moved(node, node.leaf);
      case Opcode::Real:
      case Opcode::Imag:
      case Opcode::Complex: return joined(operands);
      // Accumulations.
      case Opcode::Reduce:
      case Opcode::ReduceWindow:
      case Opcode::AllReduce:
      case Opcode::ReduceScatter: return reduced(node);
      case Opcode::Scatter: return scattered(node);
      case Opcode::SelectAndScatter: return accumulated(node, {operand(node, 1), operand(node, 2)}, 1);
      case Opcode::Dot:
      case Opcode::Convolution:
      case Opcode::RaggedDot: return contracted(n);
      case Opcode::BitcastConvert: return reinterpreted(node);
      case Opcode::Fft: {
        Estimate x = operand(node, 0);
        const double terms = term_count(program_, node);
        return {{-2 * terms * x.bounds.largest(), 2 * terms * x.bounds.largest()}, x.size * std::sqrt(terms)};
      }
      default: return elementwise(n);
    }
  }

  bool same_type(const FlatNode& node, Node operand) const {
    return program_.nodes[operand].shape->is_array() &&
           program_.nodes[operand].shape->element_type() == node.shape->element_type();
  }

  Estimate unknown(const FlatNode& node) const {
    Estimate it{finite_values(node.shape->element_type()), 1};
    if (hlo::is_integer(node.shape->element_type())) it.size = it.bounds.high;
    for (const Node operand : program_.operands_of(node))
      if (operand != no_node && same_type(node, operand)) it.size = std::max(it.size, estimates_[operand].size);
    return it;
  }

  // The bits of positive floats are in their order.
  Estimate reinterpreted(const FlatNode& node) const {
    const hlo::Shape& from = *program_.nodes[program_.operands_of(node)[0]].shape;
    const auto format = hlo::float_format(node.shape->element_type());
    const Interval& bits = operand(node, 0).bounds;
    const double positive = format ? std::exp2(format->width() - 1) : 0;
    if (!format || !hlo::is_integer(from.element_type()) || hlo::bit_width(from.element_type()) != format->width() ||
        bits.low < 0 || bits.high >= positive)
      return unknown(node);
    const double low = decode_float(*format, static_cast<uint64_t>(bits.low));
    const double high = decode_float(*format, static_cast<uint64_t>(bits.high));
    if (!std::isfinite(high)) return unknown(node);
    return {{low, high}, high};
  }

  Estimate moved(const FlatNode& node, size_t i) const { return {operand(node, i).bounds, operand(node, i).size}; }

  // Any of these. Constants that are put beside what depends on parameters (fills, masks) do not say what is typical.
  Estimate joined(std::span<const Node> operands) const {
    Estimate it{estimates_[operands[0]].bounds, 0};
    double fixed_size = 0;
    bool adjustable = false;
    for (const Node operand : operands) {
      if (operand == no_node) continue;
      const Estimate& x = estimates_[operand];
      it.bounds = hull(it.bounds, x.bounds);
      adjustable |= x.adjustable;
      double& size = x.adjustable ? it.size : fixed_size;
      size = std::max(size, x.size);
    }
    if (!adjustable) it.size = fixed_size;
    return it;
  }

  // Bounds that the first iteration widens go to the next threshold, then to the type's limit.
  Estimate loop_entry(const FlatNode& node) {
    const auto operands = program_.operands_of(node);
    const Estimate& initial = estimates_[operands[0]];
    const Estimate& once = estimates_[operands[1]];
    const Interval limits = finite_values(node.shape->element_type());
    Estimate it = joined(operands.first(2));
    it.bounds.away = 0;
    if (once.bounds.low < initial.bounds.low) it.bounds.low = once.bounds.low >= 0 ? 0 : limits.low;
    if (once.bounds.high > initial.bounds.high) it.bounds.high = limits.high;
    if (operands[2] != no_node) {
      const double last = constant(program_.nodes[operands[2]]).bounds.high - 1;  // it comes after the node
      it.bounds.high = std::max(it.bounds.low, std::min(it.bounds.high, last));
    }
    return it;
  }

  Estimate constant(const FlatNode& node) {
    const hlo::Literal* const literal = node.instruction->literal.get();
    if (literal == nullptr || node.shape != &node.instruction->shape) return unknown(node);
    const auto [known, fresh] = constants_.try_emplace(literal);
    if (fresh) known->second = values_of(*literal);
    return {known->second, known->second.largest()};
  }

  // `factors`: over how many factors each term is made of two; bounds of one term from the estimates.
  Estimate accumulated(const FlatNode& node, std::pair<Estimate, Estimate> term_and_start, double factor) const {
    const auto& [term, start] = term_and_start;
    const double terms = term_count(program_, node) * factor;
    const bool one_sign = term.bounds.low >= 0 || term.bounds.high <= 0;
    Estimate it{sum(scaled(term.bounds, terms), start.bounds),
                term.size * (one_sign ? terms : std::sqrt(terms)) + start.size};
    // Every term counts when all of them do: plain reductions.
    if (node.instruction->opcode == Opcode::Reduce && start.bounds.smallest() == 0 && term.bounds.low > 0)
      it.bounds.low = term.bounds.low * terms + start.bounds.low;
    return it;
  }

  Estimate reduced(const FlatNode& node) const {
    const auto operands = program_.operands_of(node);
    const size_t count = operands.size() / 2;
    const bool collective =
        node.instruction->opcode == Opcode::AllReduce || node.instruction->opcode == Opcode::ReduceScatter;
    if (collective) return moved(node, node.leaf);
    const Estimate& term = estimates_[operands[node.leaf]];
    const Estimate& start = estimates_[operands[count + node.leaf]];
    switch (reducer(node)) {
      case Reducer::Sum: return accumulated(node, {term, start}, 1);
      case Reducer::Product: {
        const double terms = term_count(program_, node);
        const double most = std::pow(std::max(1.0, term.bounds.largest()), terms) * start.bounds.largest();
        const double least = std::pow(std::min(1.0, term.bounds.smallest()), terms) * start.bounds.smallest();
        return {{term.bounds.low >= 0 ? least : -most, most, least}, std::pow(term.size, terms)};
      }
      case Reducer::Maximum: {
        Estimate it{term.bounds, term.size};
        if (start.bounds.low > it.bounds.low && start.bounds.largest() > 0 && start.bounds.low == start.bounds.high)
          it.bounds.low = std::min(start.bounds.low, it.bounds.high);
        return it;
      }
      case Reducer::Minimum:
      case Reducer::Pick: return {term.bounds, term.size};
      case Reducer::Other: break;
    }
    return unknown(node);
  }

  Reducer reducer(const FlatNode& node) const { return reducer_of(module_.computations[node.instruction->called[0]]); }

  Estimate scattered(const FlatNode& node) const {
    const auto operands = program_.operands_of(node);
    const size_t count = operands.size() / 2;
    const Node target = operands[node.leaf];
    const Node update = operands[count + 1 + node.leaf];
    switch (reducer(node)) {
      case Reducer::Sum: return accumulated(node, {estimates_[update], estimates_[target]}, 1);
      case Reducer::Other: {
        const hlo::Computation& combiner = module_.computations[node.instruction->called[0]];
        if (combiner.root_instruction().opcode != Opcode::Parameter) return unknown(node);
        [[fallthrough]];
      }
      case Reducer::Pick:
      case Reducer::Maximum:
      case Reducer::Minimum: return joined(std::vector<Node>{target, update});
      case Reducer::Product: break;
    }
    return unknown(node);
  }

  Estimate contracted(Node n) const {
    const FlatNode& node = program_.nodes[n];
    const auto operands = program_.operands_of(node);
    const Estimate& a = estimates_[operands[0]];
    const Estimate& b = estimates_[operands[1]];
    const Interval values = product(a.bounds, b.bounds);
    const Estimate term{values, a.size * b.size};
    Estimate it = accumulated(node, {term, Estimate{{0, 0}, 0}}, hlo::is_complex(node.shape->element_type()) ? 2 : 1);
    const bool with_itself = operands[0] == operands[1] && node.shape->element_count() == 1;
    if (with_itself && !hlo::is_complex(node.shape->element_type())) it.bounds.low = 0;
    return it;
  }

  Estimate elementwise(Node n) {
    const FlatNode& node = program_.nodes[n];
    const Opcode opcode = node.instruction->opcode;
    const auto operands = program_.operands_of(node);
    const hlo::ElementType type = node.shape->element_type();
    std::array<Interval, 3> bounds;
    const size_t count = std::min<size_t>(operands.size(), 3);
    for (size_t i = 0; i < count; ++i) bounds[i] = estimates_[operands[i]].bounds;
    const std::span<const Interval> x(bounds.data(), count);
    const auto result = operands.empty() ? std::nullopt : elementwise_bounds(opcode, x, type);
    if (!result) return unknown(node);
    Estimate it{*result, elementwise_size(node)};
    it.may_leave_domain = may_leave_domain(opcode, x, type);
    const bool squared = opcode == Opcode::Multiply && operands[0] == operands[1] && !hlo::is_complex(type);
    if (squared) it.bounds = product(magnitude(bounds[0]), magnitude(bounds[0]));
    if (opcode == Opcode::Subtract && is_maximum_over(module_, program_, operands[1], operands[0])) {
      it.bounds.high = std::min(it.bounds.high, 0.0);
      it.bounds.low = std::min(it.bounds.low, 0.0);
    }
    if (opcode == Opcode::Select) {
      const Estimate either = joined(operands.subspan(1, 2));
      it.size = either.size;
    }
    return it;
  }

  double elementwise_size(const FlatNode& node) const {
    const auto size = [&](size_t i) { return operand(node, i).size; };
    switch (node.instruction->opcode) {
      case Opcode::Add:
      case Opcode::Subtract: return std::hypot(size(0), size(1));
      case Opcode::Multiply: return size(0) * size(1);
      case Opcode::Divide: return size(0) / std::max(size(1), 1e-300);
      case Opcode::Maximum:
      case Opcode::Minimum: return std::max(size(0), size(1));
      case Opcode::Clamp: return size(1);
      case Opcode::Power: {
        const Interval& exponent = operand(node, 1).bounds;
        const double typical = exponent.low == exponent.high ? exponent.low : size(1);
        return std::pow(size(0), typical);
      }
      default: return size_of_unary(node.instruction->opcode, operand(node, 0));
    }
  }

  const hlo::Module& module_;
  const FlatProgram& program_;
  std::span<const Interval> assured_;
  std::vector<Estimate> estimates_;
  std::unordered_map<const hlo::Literal*, Interval> constants_;
};

}  // namespace

Interval Estimate::working() const {
  const double reach = 8 * size;
  if (bounds.low > reach || bounds.high < -reach) return bounds;
  return {std::max(bounds.low, -reach), std::min(bounds.high, reach), bounds.away};
}

std::vector<Estimate> estimate(const hlo::Module& module, const FlatProgram& program,
                               std::span<const Estimate> parameters, std::span<const Interval> assured) {
  return Pass(module, program, assured).run(parameters);
}

bool is_maximum_over(const hlo::Module& module, const FlatProgram& program, Node candidate, Node value) {
  value = behind_moves(program, value);
  constexpr int most_steps = 8;
  for (int i = 0; i < most_steps; ++i) {
    candidate = behind_moves(program, candidate);
    const FlatNode& node = program.nodes[candidate];
    if (node.step != Step::Operation) return false;
    const auto operands = program.operands_of(node);
    switch (node.instruction->opcode) {
      case Opcode::Reduce:
        return node.leaf == 0 && behind_moves(program, operands[0]) == value &&
               reducer_of(module.computations[node.instruction->called[0]]) == Reducer::Maximum;
      case Opcode::Maximum:  // with the identity of the maximum
        candidate = operands[program.nodes[behind_moves(program, operands[0])].instruction->opcode == Opcode::Constant];
        break;
      case Opcode::Select: candidate = operands[1]; break;  // of finite maxima
      default: return false;
    }
  }
  return false;
}

}  // namespace sapper::inputs
