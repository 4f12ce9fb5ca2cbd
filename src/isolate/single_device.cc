#include "isolate/single_device.h"

#include <algorithm>

#include "base/assert.h"
#include "isolate/roles.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

constexpr int64_t most_copies = 1024;

// Whether cutting and repeating along dimensions makes a `to` of a `from`.
bool fits(const Shape& from, const Shape& to) {
  if (!from.is_array() || !to.is_array() || from.element_type() != to.element_type() || from.rank() != to.rank())
    return false;
  for (size_t d = 0; d < to.rank(); ++d) {
    const int64_t have = from.dimension(d);
    const int64_t want = to.dimension(d);
    if (have < want && (have == 0 || want % have != 0 || want / have > most_copies)) return false;
  }
  return !from.is_dynamic() && !to.is_dynamic();
}

std::vector<Shape> parts(const Shape& shape) { return shape.is_tuple() ? shape.elements() : std::vector{shape}; }

InstructionIndex append(Computation& to, Instruction instruction) {
  instruction.shape = in_default_memory(instruction.shape);
  to.instructions.push_back(std::move(instruction));
  return static_cast<InstructionIndex>(to.instructions.size() - 1);
}

Instruction named_after(const Instruction& like, Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made;
  made.opcode = opcode;
  made.name = like.name;
  made.shape = std::move(shape);
  made.operands = std::move(operands);
  return made;
}

// The layout of `like` holds for any dimensions of its rank.
Shape resized(const Shape& like, size_t dimension, int64_t size) {
  std::vector<int64_t> dimensions = like.dimensions();
  dimensions[dimension] = size;
  return Shape::array(like.element_type(), std::move(dimensions), {}, like.shared_layout());
}

InstructionIndex append_first(const Instruction& like, InstructionIndex operand, size_t dimension, int64_t size,
                              Computation& to) {
  const Shape from = to.instructions[operand].shape;
  Instruction slice = named_after(like, Opcode::Slice, resized(from, dimension, size), {operand});
  for (size_t d = 0; d < from.rank(); ++d) {
    auto* bounds = slice.edit_attributes().add_slice_dimensions();
    bounds->set_limit(d == dimension ? size : from.dimension(d));
    bounds->set_stride(1);
  }
  return append(to, std::move(slice));
}

InstructionIndex append_fitted(const Instruction& like, InstructionIndex operand, const Shape& target,
                               Computation& to) {
  for (size_t d = 0; d < target.rank(); ++d) {
    const Shape from = to.instructions[operand].shape;
    const int64_t want = target.dimension(d);
    if (from.dimension(d) > want) {
      operand = append_first(like, operand, d, want, to);
    } else if (from.dimension(d) < want) {
      const auto copies = static_cast<size_t>(want / from.dimension(d));
      Instruction repeated = named_after(like, Opcode::Concatenate, resized(from, d, want),
                                         std::vector<InstructionIndex>(copies, operand));
      repeated.dimensions = {static_cast<int64_t>(d)};
      operand = append(to, std::move(repeated));
    }
  }
  return operand;
}

bool is_device_number(const Instruction& instruction) {
  return instruction.opcode == Opcode::PartitionId || instruction.opcode == Opcode::ReplicaId;
}

}  // namespace

std::string_view single_device_problem(const Instruction& instruction, std::span<const Shape> operands) {
  if (is_device_number(instruction)) return {};
  if (instruction.opcode == Opcode::RaggedAllToAll) return "exchanges ragged data between devices";
  const std::vector<Shape> results = parts(instruction.shape);
  if (results.size() != operands.size()) return "exchanges data between devices through buffers of its own";
  const bool all_fit = std::ranges::equal(operands, results, fits);
  return all_fit ? std::string_view{} : "its result on one device has another shape";
}

InstructionIndex append_single_device(const Instruction& instruction, const std::vector<InstructionIndex>& operands,
                                      Computation& to) {
  if (is_device_number(instruction)) {
    Instruction zero = named_after(instruction, Opcode::Constant, instruction.shape, {});
    zero.literal = std::make_shared<const hlo::Literal>(instruction.shape);
    return append(to, std::move(zero));
  }
  const std::vector<Shape> results = parts(instruction.shape);
  SAPPER_ASSERT(results.size() == operands.size());
  std::vector<InstructionIndex> fitted;
  for (size_t k = 0; k < results.size(); ++k) fitted.push_back(append_fitted(instruction, operands[k], results[k], to));
  if (!instruction.shape.is_tuple()) return fitted[0];
  return append(to, named_after(instruction, Opcode::Tuple, instruction.shape, std::move(fitted)));
}

}  // namespace sapper::isolate
