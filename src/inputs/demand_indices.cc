// Index operands: inside the dimension that they index, windows too; shift amounts: below the width.
#include <algorithm>

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

}  // namespace

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
      index(1, least(hlo::last_gather_starts(instruction, shape(0))));
      order(1);
      break;
    case Opcode::Scatter: {
      const size_t count = x.size() / 2;
      index(count, least(hlo::last_scatter_starts(instruction, shape(0), shape(count + 1))));
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
