// Index operands: inside the dimension that they index, windows too; shift amounts: below the width.
#include <algorithm>

#include "inputs/demand.h"

namespace sapper::inputs {
namespace {

using hlo::Opcode;
using hlo::Shape;

bool is_among(const auto& dimensions, int64_t d) {
  return std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
}

double room(int64_t dimension, int64_t window) { return static_cast<double>(std::max<int64_t>(0, dimension - window)); }

// The largest start of a gather's windows that is inside along every indexed dimension.
double largest_gather_index(const Shape& operand, const hlo::Attributes& attributes) {
  double largest = std::numeric_limits<double>::infinity();
  for (const int64_t d : attributes.gather_dimension_numbers().start_index_map())
    largest = std::min(
        largest, room(operand.dimension(static_cast<size_t>(d)), attributes.gather_slice_sizes(static_cast<int>(d))));
  return largest;
}

double largest_scatter_index(const Shape& operand, const Shape& updates, const hlo::Attributes& attributes) {
  const auto& numbers = attributes.scatter_dimension_numbers();
  std::vector<int64_t> window(operand.rank(), 1);
  int next = 0;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (is_among(numbers.inserted_window_dims(), dimension) || is_among(numbers.input_batching_dims(), dimension))
      continue;
    if (next < numbers.update_window_dims_size())
      window[d] = updates.dimension(static_cast<size_t>(numbers.update_window_dims(next++)));
  }
  double largest = std::numeric_limits<double>::infinity();
  for (const int64_t d : numbers.scatter_dims_to_operand_dims())
    largest = std::min(largest, room(operand.dimension(static_cast<size_t>(d)), window[static_cast<size_t>(d)]));
  return largest;
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
      index(1, largest_gather_index(shape(0), instruction.attributes()));
      order(1);
      break;
    case Opcode::Scatter: {
      const size_t count = x.size() / 2;
      index(count, largest_scatter_index(shape(0), shape(count + 1), instruction.attributes()));
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
