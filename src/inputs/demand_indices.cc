// Index operands: inside the dimension that they index, windows too, also where compilers pack several into one word;
// shift amounts: below the width.
#include <algorithm>
#include <bit>
#include <cmath>

#include "hlo/window_starts.h"
#include "inputs/demand.h"

namespace sapper::inputs {
namespace {

using hlo::Opcode;
using hlo::Shape;

double room(int64_t dimension, int64_t window) { return static_cast<double>(std::max<int64_t>(0, dimension - window)); }

// The largest start that is inside along every indexed dimension.
double least(const std::vector<int64_t>& last_starts) {
  double least = std::numeric_limits<double>::infinity();
  for (const int64_t last : last_starts) least = std::min(least, room(last, 0));
  return least;
}

// The one value that it has, as a word of bits.
std::optional<uint64_t> constant_word(const Estimate& estimate) {
  const auto& [low, high, away] = estimate.bounds;
  if (estimate.adjustable || low != high || low < 0 || low >= 0x1p53) return std::nullopt;
  return static_cast<uint64_t>(low);
}

}  // namespace

// Where `vectors` is put together from its parts, each part has a bound of its own.
void Demand::starts(Node n, Node vectors, int64_t dimension, const std::vector<int64_t>& last_starts) {
  const Cause cause{n, Because::Index};
  const auto bound = [&](Node part, double largest) {
    needs_.at_least(part, 0, cause);
    needs_.at_most(part, largest, cause);
  };
  const FlatNode& whole = node(vectors);
  const bool by_parts = whole.step == Step::Operation && whole.instruction->opcode == Opcode::Concatenate &&
                        whole.instruction->dimensions.front() == dimension;
  if (!by_parts) return bound(vectors, least(last_starts));
  auto last = last_starts.begin();
  for (const Node part : operands(vectors)) {
    const int64_t count = node(part).shape->dimension(static_cast<size_t>(dimension));
    bound(part, least({last, last + count}));
    last += count;
  }
}

// x & mask, where the result is an index: a field of x.
bool Demand::masked(Node n) {
  if (need_.high.because != Because::Index || need_.values.low > 0 || need_.values.high < 0) return false;
  const auto x = operands(n);
  const auto take = [&](Node word, Node mask) {
    const uint64_t bits = constant_word(estimates_[mask]).value_or(0);
    if (bits == 0 || !estimates_[word].adjustable) return false;
    if (static_cast<double>(bits) <= need_.values.high) {  // the mask alone keeps it inside
      needs_.add_roles(word, RoleBits);
      return true;
    }
    const auto most = static_cast<uint64_t>(std::min(need_.values.high, static_cast<double>(bits)));
    needs_.add_field(word, {bits, most >> std::countr_zero(bits)});
    return true;
  };
  return take(x[0], x[1]) || take(x[1], x[0]);
}

// x >> places, where the result is an index or has fields.
bool Demand::shifted_down(Node n) {
  const auto x = operands(n);
  const std::optional<uint64_t> places = constant_word(estimates_[x[1]]);
  if (!places || *places >= static_cast<uint64_t>(hlo::bit_width(type(n)))) return false;
  for (const Field& field : need_.fields) needs_.add_field(x[0], {field.mask << *places, field.most});
  passes_fields_ = true;
  if (need_.high.because != Because::Index || need_.values.low > 0) return false;
  const double scale = std::exp2(static_cast<double>(*places));
  needs_.at_least(x[0], 0, need_.high);
  needs_.at_most(x[0], (need_.values.high + 1) * scale - 1, need_.high);
  return true;
}

void Demand::indices(Node n) {
  const auto x = operands(n);
  const hlo::Instruction& instruction = *node(n).instruction;
  const auto shape = [&](size_t i) -> const Shape& { return *node(x[i]).shape; };
  const auto index = [&](size_t operand, double largest) {
    needs_.at_least(x[operand], 0, {n, Because::Index});
    needs_.at_most(x[operand], largest, {n, Because::Index});
  };
  const auto order = [&](size_t operand) {
    const auto& attributes = instruction.attributes();
    needs_.add_roles(x[operand], static_cast<uint8_t>((attributes.indices_are_sorted() ? RoleSorted : 0) |
                                                      (attributes.unique_indices() ? RoleDistinct : 0)));
  };
  switch (instruction.opcode) {
    case Opcode::DynamicSlice:
      for (size_t d = 0; d + 1 < x.size() && d < shape(0).rank(); ++d)
        index(d + 1, room(shape(0).dimension(d), node(n).shape->dimension(d)));
      break;
    case Opcode::DynamicUpdateSlice:
      for (size_t d = 0; d + 2 < x.size() && d < shape(0).rank(); ++d)
        index(d + 2, room(shape(0).dimension(d), shape(1).dimension(d)));
      break;
    case Opcode::Gather:
      starts(n, x[1], instruction.attributes().gather_dimension_numbers().index_vector_dim(),
             hlo::last_gather_starts(instruction, shape(0)));
      order(1);
      break;
    case Opcode::Scatter: {
      const size_t count = x.size() / 2;
      starts(n, x[count], instruction.attributes().scatter_dimension_numbers().index_vector_dim(),
             hlo::last_scatter_starts(instruction, shape(0), shape(count + 1)));
      order(count);
      break;
    }
    case Opcode::ShiftLeft:
    case Opcode::ShiftRightArithmetic:
    case Opcode::ShiftRightLogical: index(1, hlo::bit_width(type(n)) - 1); break;
    case Opcode::Cholesky:
    case Opcode::TriangularSolve: needs_.add_roles(x[0], RoleHeavyDiagonal); break;
    case Opcode::CustomCall:
      if (instruction.attributes().custom_call_target() == "Cholesky" && !x.empty())
        needs_.add_roles(x[0], RoleHeavyDiagonal);
      break;
    default: break;
  }
}

}  // namespace sapper::inputs
