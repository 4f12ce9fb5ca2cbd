#include "eval/view.h"

#include <algorithm>
#include <cstdlib>

namespace sapper::eval {
namespace {

View broadcast(const View& operand, const hlo::Instruction& instruction) {
  View result{{}, operand.offset};
  for (const int64_t size : instruction.shape.dimensions()) result.dims.push_back({size, 0});
  for (size_t i = 0; i < operand.dims.size(); ++i)
    result.dims[static_cast<size_t>(instruction.dimensions[i])].stride = operand.dims[i].stride;
  return result;
}

View transpose(const View& operand, const hlo::Instruction& instruction) {
  View result{{}, operand.offset};
  for (const int64_t from : instruction.dimensions) result.dims.push_back(operand.dims[static_cast<size_t>(from)]);
  return result;
}

View slice(const View& operand, const hlo::Instruction& instruction) {
  View result = operand;
  for (size_t i = 0; i < result.dims.size(); ++i) {
    const auto& range = instruction.attributes().slice_dimensions(static_cast<int>(i));
    result.offset += range.start() * result.dims[i].stride;
    const int64_t size = instruction.shape.dimension(i);
    result.dims[i] = {size,
                      size > 1 ? result.dims[i].stride * range.stride() : 0};  // a single element may have any stride
  }
  return result;
}

View reverse(const View& operand, const hlo::Instruction& instruction) {
  View result = operand;
  for (const int64_t i : instruction.dimensions) {
    View::Dim& dim = result.dims[static_cast<size_t>(i)];
    if (dim.size == 0) continue;
    result.offset += (dim.size - 1) * dim.stride;
    dim.stride = -dim.stride;
  }
  return result;
}

}  // namespace

View View::of(std::span<const int64_t> dimensions) {
  View view;
  view.dims.resize(dimensions.size());
  uint64_t stride = 1;  // wraps harmlessly when a dimension is 0
  for (size_t i = dimensions.size(); i-- > 0;) {
    view.dims[i] = {dimensions[i], static_cast<int64_t>(stride)};
    stride *= static_cast<uint64_t>(dimensions[i]);
  }
  return view;
}

View View::collapsed() const {
  View result{{}, offset};
  for (const Dim& dim : dims) {
    if (dim.size == 1) continue;
    if (!result.dims.empty() && result.dims.back().stride == dim.stride * dim.size) {
      result.dims.back() = {result.dims.back().size * dim.size, dim.stride};
    } else {
      result.dims.push_back(dim);
    }
  }
  return result;
}

bool View::is_identity() const {
  if (offset != 0) return false;
  const View simple = collapsed();
  return simple.dims.empty() || (simple.dims.size() == 1 && simple.dims[0].stride == 1);
}

bool View::reads_runs() const {
  constexpr int64_t shortest_run = 4;
  const View simple = collapsed();
  if (simple.dims.empty()) return true;
  const Dim& inner = simple.dims.back();
  return (inner.stride == 0 || inner.stride == 1) && (inner.size >= shortest_run || simple.dims.size() == 1);
}

std::optional<View> View::reshaped(std::span<const int64_t> dimensions) const {
  const View simple = collapsed();
  View result;
  result.offset = offset;
  result.dims.resize(dimensions.size());
  if (hlo::element_count(dimensions) == 0) {
    for (size_t i = 0; i < dimensions.size(); ++i) result.dims[i] = {dimensions[i], 0};
    return result;
  }
  // From the innermost dimension out: each collapsed dimension is used up by new dimensions whose product is its size.
  size_t source = simple.dims.size();
  int64_t left = 1;  // of the collapsed dimension that is being split
  int64_t stride = 0;
  for (size_t i = dimensions.size(); i-- > 0;) {
    const int64_t size = dimensions[i];
    if (size == 1) {
      result.dims[i] = {1, 0};
      continue;
    }
    if (left == 1) {
      if (source == 0) return std::nullopt;
      --source;
      left = simple.dims[source].size;
      stride = simple.dims[source].stride;
    }
    if (left % size != 0) return std::nullopt;
    result.dims[i] = {size, stride};
    left /= size;
    stride *= size;
  }
  return result;
}

std::optional<View> apply_to_view(const hlo::Instruction& instruction, const View& operand) {
  switch (instruction.opcode) {
    case hlo::Opcode::Broadcast: return broadcast(operand, instruction);
    case hlo::Opcode::Transpose: return transpose(operand, instruction);
    case hlo::Opcode::Slice: return slice(operand, instruction);
    case hlo::Opcode::Reverse: return reverse(operand, instruction);
    case hlo::Opcode::Reshape: return operand.reshaped(instruction.shape.dimensions());
    default: return std::nullopt;
  }
}

}  // namespace sapper::eval
