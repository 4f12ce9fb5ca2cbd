#include "target/trace.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sapper::target {

Result<Trace> Trace::from_bytes(std::string bytes) {
  Trace trace;
  const auto broken = [] { return fail(ErrorKind::Internal, "the trace of a stepped kernel cannot be read"); };
  if (bytes.size() < sizeof(TraceHeader)) return broken();
  std::memcpy(&trace.header_, bytes.data(), sizeof(TraceHeader));
  const size_t room = bytes.size() - sizeof(TraceHeader);
  const TraceHeader& header = trace.header_;
  if (header.magic != TraceHeader::expected_magic || header.code_bytes > room ||
      header.record_bytes > room - std::min(room, padded(header.code_bytes)))
    return broken();
  trace.bytes_ = std::move(bytes);
  return trace;
}

std::span<const std::byte> Trace::code() const {
  return std::as_bytes(std::span(bytes_)).subspan(sizeof(TraceHeader), header_.code_bytes);
}

std::span<const std::byte> Trace::records() const {
  return std::as_bytes(std::span(bytes_))
      .subspan(sizeof(TraceHeader) + padded(header_.code_bytes), header_.record_bytes);
}

bool TraceReader::read(void* to, size_t bytes) {
  if (rest_.size() < padded(bytes)) return false;
  std::memcpy(to, rest_.data(), bytes);
  rest_ = rest_.subspan(padded(bytes));
  return true;
}

bool TraceReader::read_step(TraceEvent& event) {
  StepRecord record;
  if (!read(&record, sizeof record)) return false;
  event.offset = record.offset;
  event.general = record.general;
  event.vectors = record.vectors;
  event.masks = record.masks & 0xff;
  const auto each = [](uint32_t bits, const auto& visit) {
    bool good = true;
    for (; good && bits != 0; bits &= bits - 1) good = visit(static_cast<size_t>(std::countr_zero(bits)));
    return good;
  };
  return each(event.general, [&](size_t r) { return read(&registers_.general[r], 8); }) &&
         each(event.vectors, [&](size_t r) { return read(&registers_.vectors[r], 64); }) &&
         each(event.masks, [&](size_t r) { return read(&registers_.masks[r], 8); });
}

bool TraceReader::read_call(TraceEvent& event) {
  CallRecord record;
  if (!read(&record, sizeof record) || record.buffers > rest_.size() / sizeof(BufferRecord)) return false;
  event.code_address = record.code_address;
  event.work_group = record.work_group;
  std::vector<BufferRecord> buffers(record.buffers);
  for (BufferRecord& buffer : buffers)
    if (!read(&buffer, sizeof buffer)) return false;
  for (const BufferRecord& buffer : buffers) {
    if (buffer.size > rest_.size() || padded(buffer.size) > rest_.size()) return false;
    event.buffers.push_back({buffer.address, rest_.subspan(0, buffer.size)});
    rest_ = rest_.subspan(padded(buffer.size));
  }
  return true;
}

bool TraceReader::next(TraceEvent& event) {
  event = {};
  if (rest_.size() < sizeof(RecordKind)) return false;
  std::memcpy(&event.kind, rest_.data(), sizeof event.kind);
  switch (event.kind) {
    case RecordKind::Step: return read_step(event);
    case RecordKind::Entry:
    case RecordKind::Exit: return read_call(event);
  }
  return false;
}

}  // namespace sapper::target
