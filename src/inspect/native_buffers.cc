#include "inspect/native_buffers.h"

#include <algorithm>
#include <cstring>

namespace sapper::inspect {
namespace {

using hlo::Literal;
using hlo::Shape;
using target::TracedBuffer;

// The element (in row-major order) of each place in memory; empty: they are in order.
std::vector<int64_t> elements_in_memory(const Shape& shape) {
  const size_t rank = shape.rank();
  if (shape.layout() == nullptr || rank < 2) return {};
  const std::vector<int64_t>& minor_to_major = shape.layout()->minor_to_major;
  if (minor_to_major.size() != rank) return {};
  bool in_order = true;
  for (size_t i = 0; i < rank; ++i) in_order = in_order && minor_to_major[i] == static_cast<int64_t>(rank - 1 - i);
  if (in_order) return {};
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank - 1; d-- > 0;) strides[d] = strides[d + 1] * shape.dimension(d + 1);
  std::vector<int64_t> result(static_cast<size_t>(shape.element_count()));
  std::vector<int64_t> index(rank, 0);
  for (int64_t& element : result) {
    element = 0;
    for (size_t d = 0; d < rank; ++d) element += index[d] * strides[d];
    for (const int64_t d : minor_to_major) {
      if (++index[static_cast<size_t>(d)] < shape.dimension(static_cast<size_t>(d))) break;
      index[static_cast<size_t>(d)] = 0;
    }
  }
  return result;
}

Result<Literal> read_array(const Shape& shape, std::span<const std::byte> bytes, const std::vector<int64_t>& elements) {
  if (!shape.is_array() || shape.is_dynamic() || hlo::bit_width(shape.element_type()) < 8)
    return fail(ErrorKind::Unsupported, "a buffer of shape {} cannot be read from memory", shape.to_text());
  if (bytes.size() < static_cast<size_t>(shape.host_byte_size()))
    return fail(ErrorKind::Unsupported, "the kernel has {} bytes where {} takes {}", bytes.size(), shape.to_text(),
                shape.host_byte_size());
  Literal literal = Literal::uninitialized(shape.without_layout());
  const std::span<std::byte> to = literal.mutable_bytes();
  if (elements.empty()) {
    std::memcpy(to.data(), bytes.data(), to.size());
    return literal;
  }
  const auto width = static_cast<size_t>(hlo::host_bytes(shape.element_type()));
  for (size_t place = 0; place < elements.size(); ++place)
    std::memcpy(&to[static_cast<size_t>(elements[place]) * width], &bytes[place * width], width);
  return literal;
}

}  // namespace

Result<KernelBuffers> read_buffers(const hlo::Module& kernel, const target::Trace& trace) {
  std::vector<TracedBuffer> before;
  std::vector<TracedBuffer> after;
  uint64_t entries = 0;
  target::TraceReader reader(trace);
  for (target::TraceEvent event; reader.next(event);) {
    if (event.kind == target::RecordKind::Entry && ++entries == 1) before = event.buffers;
    if (event.kind == target::RecordKind::Exit) after = event.buffers;
  }
  if (entries == 0) return fail(ErrorKind::Unsupported, "the program never came to the kernel");
  if (after.empty() || trace.header().is_cut != 0)
    return fail(ErrorKind::Resource, "the kernel takes more than the {} steps that a trace holds",
                trace.header().steps);

  const hlo::Computation& entry = kernel.entry_computation();
  const hlo::Instruction& root = entry.root_instruction();
  const std::vector<hlo::InstructionIndex> parameters = entry.parameters();
  std::vector<Shape> results;
  hlo::for_each_leaf(root.shape, [&](const Shape& leaf) { results.push_back(leaf); });
  if (before.size() != parameters.size() + results.size() || after.size() != before.size())
    return fail(ErrorKind::Unsupported, "the kernel has {} buffers, not one for each of its {} operands and {} results",
                before.size(), parameters.size(), results.size());

  KernelBuffers buffers;
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Shape& shape = entry.instructions[parameters[k]].shape;
    std::vector<int64_t> elements = shape.is_array() ? elements_in_memory(shape) : std::vector<int64_t>{};
    SAPPER_TRY(Literal literal, read_array(shape, before[k].bytes, elements));
    buffers.operands.push_back(std::move(literal));
    // The same memory under two names is one operand.
    const auto known = std::ranges::find(buffers.places, before[k].address, &OperandBuffer::address);
    if (known != buffers.places.end() && known->element_bytes == hlo::host_bytes(shape.element_type())) {
      buffers.operand_of.push_back(known->operand);
      continue;
    }
    buffers.operand_of.push_back(buffers.elements.size());
    buffers.places.push_back({.address = before[k].address,
                              .bytes = static_cast<uint64_t>(shape.host_byte_size()),
                              .operand = buffers.elements.size(),
                              .element_bytes = hlo::host_bytes(shape.element_type()),
                              .elements = std::move(elements)});
    buffers.elements.push_back(shape.element_count());
  }
  for (size_t k = 0; k < results.size(); ++k) {
    SAPPER_TRY(Literal literal,
               read_array(results[k], after[parameters.size() + k].bytes,
                          results[k].is_array() ? elements_in_memory(results[k]) : std::vector<int64_t>{}));
    buffers.results.push_back(std::move(literal));
  }
  return buffers;
}

}  // namespace sapper::inspect
