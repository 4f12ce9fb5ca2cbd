#include "inputs/demand.h"

#include <algorithm>
#include <cmath>

#include "inputs/accumulation.h"
#include "inputs/shares.h"

namespace sapper::inputs {
namespace {

// Whether bounds for overflow, which may be given up, are stronger than firm ones.
bool hides_firm(const Need& need) {
  const auto is_firm = [](const Cause& cause) { return cause.because != Because::Overflow; };
  return need.firm != need.values && (is_firm(need.firm_low) || is_firm(need.firm_high) || is_firm(need.firm_away));
}

}  // namespace

using hlo::Opcode;

void Demand::run() {
  for (Node n = static_cast<Node>(program_.nodes.size()); n-- > program_.parameters.size();) {
    if (!node(n).shape->is_array() || !estimates_[n].adjustable) {
      assured_[n] = true;
      continue;
    }
    if (node(n).step == Step::Operation) {
      domain(n);
      indices(n);
    }
    need_ = needs_[n];
    passes_fields_ = need_.fields.empty();
    assured_[n] = rule(n);
    if (!passes_fields_) assured_[n] = false;
    if (hides_firm(need_)) {
      need_ = firm_part(needs_[n]);
      rule(n);
    }
    if (assured_[n] && needs_[n].is_proof) continue;
    for (const Node operand : operands(n))
      if (operand != no_node) needs_.doubt(operand);
  }
}

Need Demand::firm_part(const Need& need) {
  Need firm = need;
  firm.values = need.firm;
  firm.low = need.firm_low;
  firm.high = need.firm_high;
  firm.away = need.firm_away;
  return firm;
}

Need Demand::need_of_result(Node n) const {
  Need need = need_;
  const Interval all = finite_values(type(n));
  // Hashes wrap, and so does what has a few bits only: compilers compute it in wider types and must cut it back.
  const bool is_unsigned = hlo::element_class(type(n)) == hlo::ElementClass::Unsigned;
  if (is_unsigned || (hlo::is_integer(type(n)) && hlo::bit_width(type(n)) < 8)) {
    if (need.low.because == Because::Overflow) need.values.low = -std::numeric_limits<double>::infinity();
    if (need.high.because == Because::Overflow) need.values.high = std::numeric_limits<double>::infinity();
  }
  constexpr double narrow = 1000;  // types that reach less have no room to give away
  if (hlo::is_integer(type(n)) || all.high < narrow) return need;
  need.values.low = std::max(need.values.low, all.low / 2);
  need.values.high = std::min(need.values.high, all.high / 2);
  return need;
}

void Demand::within(Node n, double largest, const Need& need) {
  needs_.at_least(n, -largest, need.low);
  needs_.at_most(n, largest, need.high);
}

bool Demand::rule(Node n) {
  const auto x = operands(n);
  switch (node(n).step) {
    case Step::Unknown: return false;
    case Step::Join: return move(x);
    case Step::LoopEntry: return move(x.first(2));
    case Step::Operation: break;
  }
  switch (node(n).instruction->opcode) {
    case Opcode::AllGather:
    case Opcode::AllToAll:
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::CollectiveBroadcast:
    case Opcode::CollectivePermute:
    case Opcode::Copy:
    case Opcode::DynamicReshape:
    case Opcode::DynamicSlice:
    case Opcode::Gather:
    case Opcode::Imag:
    case Opcode::Real:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::SetDimensionSize:
    case Opcode::Slice:
    case Opcode::Transpose:
      if (!node(x[0]).shape->is_array()) return false;
      return move(x.first(1));
    case Opcode::Topk: return node(n).leaf != 0 || move(x.first(1));
    case Opcode::Complex: return move(x);
    case Opcode::Pad:
    case Opcode::DynamicUpdateSlice: return move(x.first(2));
    case Opcode::Concatenate: return move(x);
    case Opcode::Sort:
    case Opcode::AllReduce:
    case Opcode::ReduceScatter: return move(x.subspan(node(n).leaf, 1));
    case Opcode::Reduce:
    case Opcode::ReduceWindow: return reduce(n);
    case Opcode::Scatter: return scatter(n);
    case Opcode::SelectAndScatter: return sum_of_terms(n, x[1], x[2]);
    case Opcode::Dot:
    case Opcode::Convolution:
    case Opcode::RaggedDot: return product(n, term_count(program_, node(n)) * (hlo::is_complex(type(n)) ? 2 : 1));
    case Opcode::Fft: {
      const Need need = need_of_result(n);
      within(x[0], need.values.largest() / (2 * term_count(program_, node(n))), need);
      return true;
    }
    case Opcode::BatchNormTraining:
    case Opcode::BatchNormInference:
    case Opcode::BatchNormGrad: return batch_norm(n);
    case Opcode::Cholesky:
    case Opcode::TriangularSolve: {
      const Need need = need_of_result(n);
      const double side = static_cast<double>(std::max<int64_t>(1, node(x[0]).shape->dimensions().back()));
      for (const Node operand : x) within(operand, need.values.largest() / (4 * side), need);
      return false;
    }
    case Opcode::Compare:
    case Opcode::IsFinite: return true;
    default: return elementwise(n);
  }
}

bool Demand::move(std::span<const Node> operands) {
  passes_fields_ = true;
  bool enough = true;
  for (const Node operand : operands) {
    if (!node(operand).shape->is_array()) continue;
    needs_.as(operand, need_.values, need_);
    needs_.add_roles(operand, need_.roles);
    needs_.add_fields(operand, need_.fields);
    if (!estimates_[operand].adjustable && !need_.values.contains(estimates_[operand].bounds)) enough = false;
  }
  return enough;
}

bool Demand::give_sign(Node a, Node b, bool positive, Cause cause) {
  const auto sign_of = [&](Node n) {
    const Interval values = intersection(estimates_[n].bounds, needs_[n].values);
    return values.low >= 0 ? 1 : values.high <= 0 ? -1 : 0;
  };
  const int wanted = positive ? 1 : -1;
  int of_a = sign_of(a);
  int of_b = sign_of(b);
  if (of_a == 0 && !estimates_[a].adjustable) return false;
  if (of_b == 0 && !estimates_[b].adjustable) return false;
  if (of_a == 0 && of_b == 0) of_a = 1;
  if (of_a == 0) of_a = of_b * wanted;
  of_b = of_a * wanted;
  for (const auto& [n, sign] : {std::pair(a, of_a), std::pair(b, of_b)}) {
    if (sign > 0) needs_.at_least(n, 0, cause);
    if (sign < 0) needs_.at_most(n, 0, cause);
  }
  return true;
}

bool Demand::product(Node n, double terms) {
  const Node a = operands(n)[0];
  const Node b = operands(n)[1];
  const Estimate& of_a = estimates_[a];
  const Estimate& of_b = estimates_[b];
  const Need need = need_of_result(n);
  const Interval expected = inputs::product(of_a.bounds, of_b.bounds);
  bool enough = true;
  // Which sign the product has: as it must, else as it is expected to have.
  const bool must_rise = need.values.low >= 0 && need.low.because != Because::Overflow;
  const bool must_fall = need.values.high <= 0 && need.high.because != Because::Overflow;
  double limit = std::min(-need.values.low, need.values.high);
  if (must_rise || (!must_fall && expected.low >= 0)) {
    enough &= give_sign(a, b, true, must_rise ? need.low : Cause{n, Because::Overflow});
    limit = need.values.high;
  } else if (must_fall || expected.high <= 0) {
    enough &= give_sign(a, b, false, must_fall ? need.high : Cause{n, Because::Overflow});
    limit = -need.values.low;
  }
  const Share most = share_of_product(std::max(limit, 0.0), terms, of_a, of_b);
  within(a, most.a, need);
  within(b, most.b, need);
  const double least = std::max({need.values.low, -need.values.high, need.values.away});
  if (least > 0) {
    const Share share = share_of_least(least / terms, of_a, of_b);
    const Cause cause = need.values.away == least ? need.away : need.values.low == least ? need.low : need.high;
    needs_.away_from_zero(a, share.a, cause);
    needs_.away_from_zero(b, share.b, cause);
    enough &= share.is_proof && (terms == 1 || need.values.low > 0);
  }
  return enough && most.is_proof;
}

bool Demand::sum_of_terms(Node n, Node term, Node start) {
  const double terms = term_count(program_, node(n));
  const Need need = need_of_result(n);
  const Estimate& x = estimates_[term];
  Estimate total = x;
  total.bounds = scaled(x.bounds, terms);
  total.size *= terms;
  const bool one_sign = x.bounds.low >= 0 || x.bounds.high <= 0;
  const double typical_terms = one_sign ? terms : std::min(terms, 8 * std::sqrt(terms));
  bool enough = true;
  // The largest (of both negated: the least) that a term may be for the total to stay within `limit`.
  const auto most = [&](double limit, double expected) {
    const double hard = limit / terms;
    if (hard >= expected) return hard;
    enough = false;
    return limit <= 0 ? hard : std::min(expected, limit / typical_terms);
  };
  const Estimate& from = estimates_[start];
  const auto negative = [](Estimate it) {
    it.bounds = negated(it.bounds);
    return it;
  };
  const Share low = share_of_sum(need.values.low, total, from);
  const Share high = share_of_sum(-need.values.high, negative(total), negative(from));
  enough &= low.is_proof && high.is_proof;
  needs_.at_least(term, -most(-low.a, -x.working().low), need.low);
  needs_.at_most(term, most(-high.a, x.working().high), need.high);
  needs_.at_least(start, low.b, need.low);
  needs_.at_most(start, -high.b, need.high);
  if (need.values.away == 0) return enough;
  if (x.bounds.low < 0 || from.bounds.low < 0) return false;
  needs_.at_least(start, 0, need.away);
  needs_.at_least(term, need.values.away / terms, need.away);
  return enough;
}

bool Demand::reduce(Node n) {
  const auto x = operands(n);
  const size_t count = x.size() / 2;
  const uint32_t leaf = node(n).leaf;
  const Node term = x[leaf];
  const Node start = x[count + leaf];
  switch (reducer_of(module_.computations[node(n).instruction->called[0]])) {
    case Reducer::Sum: return sum_of_terms(n, term, start);
    case Reducer::Product: {
      const Need need = need_of_result(n);
      within(term, std::pow(std::max(1.0, need.values.largest()), 1 / (term_count(program_, node(n)) + 1)), need);
      return need.low.because == Because::Overflow;
    }
    case Reducer::Maximum:
    case Reducer::Minimum:
    case Reducer::Pick: return move(std::vector<Node>{term, start});
    case Reducer::Other: break;
  }
  return false;
}

bool Demand::scatter(Node n) {
  const auto x = operands(n);
  const size_t count = x.size() / 2;
  const Node target = x[node(n).leaf];
  const Node update = x[count + 1 + node(n).leaf];
  const hlo::Computation& combiner = module_.computations[node(n).instruction->called[0]];
  switch (reducer_of(combiner)) {
    case Reducer::Sum: return sum_of_terms(n, update, target);
    case Reducer::Maximum:
    case Reducer::Minimum:
    case Reducer::Pick: return move(std::vector<Node>{target, update});
    case Reducer::Other:
      return combiner.root_instruction().opcode == Opcode::Parameter && move(std::vector<Node>{target, update});
    case Reducer::Product: break;
  }
  return false;
}

// (x, scale, offset[, mean, variance]) or (x, scale, mean, variance, gradient): variances are not negative.
bool Demand::batch_norm(Node n) {
  const auto x = operands(n);
  const Opcode opcode = node(n).instruction->opcode;
  const Need need = need_of_result(n);
  const double elements = static_cast<double>(std::max<int64_t>(1, node(x[0]).shape->element_count()));
  for (const Node operand : x) within(operand, std::sqrt(need.values.largest()) / std::sqrt(elements), need);
  if (opcode == Opcode::BatchNormInference) needs_.at_least(x[4], 0, {n, Because::Domain});
  if (opcode == Opcode::BatchNormGrad) needs_.at_least(x[3], 0, {n, Because::Domain});
  return false;
}

}  // namespace sapper::inputs
