#include "target/trace_writer.h"

#include <cpuid.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "target/process.h"

namespace sapper::target {
namespace {

constexpr uint64_t most_arguments = 4096;
constexpr size_t low_offset = 160;  // in an XSAVE area: the low 16 bytes of vectors 0 to 15
constexpr size_t largest_step = sizeof(StepRecord) + size_t{16} * 8 + size_t{32} * 64 + size_t{8} * 8;

enum Component : uint32_t { Sse = 1, Avx = 2, Opmask = 5, ZmmHigh = 6, ZmmMore = 7 };

uint32_t component_offset(Component component) {
  uint32_t size = 0;
  uint32_t offset = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid_count(0xd, component, &size, &offset, &c, &d) == 0 || size == 0) return 0;
  return offset;
}

// Which elements of `Each` bytes differ, as bits; `old` becomes `now`.
template <size_t Each, size_t Size>
uint32_t changed(std::array<std::byte, Size>& old, const std::byte* now) {
  if (std::memcmp(old.data(), now, Size) == 0) return 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < Size / Each; ++i)
    if (std::memcmp(old.data() + i * Each, now + i * Each, Each) != 0) bits |= 1U << i;
  std::memcpy(old.data(), now, Size);
  return bits;
}

}  // namespace

bool SteppedMemory::read(uint64_t address, void* to, size_t bytes) const {
  if (file >= 0)
    return bytes == 0 || pread(file, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  if (bytes > 0) std::memcpy(to, std::bit_cast<const void*>(address), bytes);
  return true;
}

Result<TraceWriter> TraceWriter::create(const std::string& path, std::span<const std::byte> code,
                                        const StepLimits& limits) {
  TraceWriter writer;
  writer.path_ = path;
  writer.start_ = processor_seconds();
  writer.limits_ = limits;
  writer.layout_ = {.middle = component_offset(Avx),
                    .masks = component_offset(Opmask),
                    .high = component_offset(ZmmHigh),
                    .more = component_offset(ZmmMore)};
  const size_t bytes = sizeof(TraceHeader) + padded(code.size()) + limits.bytes;
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  void* memory = MAP_FAILED;
  // Pages come as they are written, so that a short trace costs little; that there is room for all is asked before.
  struct statvfs space {};
  const bool has_room =
      file.get() >= 0 && fstatvfs(file.get(), &space) == 0 && uint64_t{space.f_bavail} * space.f_bsize > bytes;
  if (has_room && ftruncate(file.get(), static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED)
    return fail(ErrorKind::Interrupted, "{}: no {} MiB for the trace of the kernel", path, bytes >> 20);
  auto* const begin = static_cast<std::byte*>(memory);
  writer.file_ = {begin, Unmap{bytes}};
  writer.end_ = begin + bytes;
  writer.at_ = begin + sizeof(TraceHeader) + padded(code.size());
  writer.header_ = new (begin) TraceHeader{.magic = TraceHeader::expected_magic, .code_bytes = code.size()};
  std::memcpy(begin + sizeof(TraceHeader), code.data(), code.size());
  return writer;
}

void TraceWriter::Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

void TraceWriter::close() {
  if (file_ == nullptr) return;
  header_->seconds += processor_seconds() - start_;
  const size_t used = sizeof(TraceHeader) + padded(header_->code_bytes) + header_->record_bytes;
  file_.reset();
  (void)!truncate(path_.c_str(), static_cast<off_t>(used));  // a longer file is no harm
}

bool TraceWriter::is_over() const { return header_->is_cut != 0 || (calls_ != 0 && header_->invocations >= calls_); }

void TraceWriter::cut() {
  header_->is_cut = 1;
  in_call_ = false;
}

template <class T>
void TraceWriter::put(const T& value) {
  std::memcpy(at_, &value, sizeof value);
  at_ += padded(sizeof value);
}

void TraceWriter::publish() {
  std::atomic_signal_fence(std::memory_order_release);
  header_->record_bytes = static_cast<uint64_t>(at_ - file_.get()) - sizeof(TraceHeader) - padded(header_->code_bytes);
}

bool TraceWriter::record_call(RecordKind kind, SteppedMemory memory) {
  if (call_.argument_count > most_arguments) return false;
  const auto room = static_cast<size_t>(end_ - at_);
  const auto argument = [&](uint64_t i, BufferRecord& record) {
    return memory.read(call_.arguments + i * sizeof record, &record, sizeof record);
  };
  size_t needed = sizeof(CallRecord);
  BufferRecord buffer;
  for (uint64_t i = 0; i < call_.argument_count; ++i) {
    if (!argument(i, buffer) || buffer.size > room) return false;
    needed += sizeof(BufferRecord) + padded(buffer.size);
  }
  if (needed > room) return false;
  CallRecord record{
      .kind = kind, .buffers = static_cast<uint32_t>(call_.argument_count), .code_address = code_address_};
  if (!memory.read(call_.work_group, &record.work_group, sizeof record.work_group)) return false;
  put(record);
  for (uint64_t i = 0; i < call_.argument_count; ++i) {
    if (!argument(i, buffer)) return false;
    put(buffer);
  }
  for (uint64_t i = 0; i < call_.argument_count; ++i) {
    if (!argument(i, buffer) || !memory.read(buffer.address, at_, buffer.size)) return false;
    at_ += padded(buffer.size);
  }
  publish();
  return true;
}

bool TraceWriter::enter(uint64_t code_address, uint64_t call, SteppedMemory memory) {
  code_address_ = code_address;
  in_call_ = true;
  all_registers_ = true;
  std::array<uint64_t, 3> groups{};
  bool good = memory.read(call, &call_, sizeof call_) && memory.read(call_.work_groups, &groups, sizeof groups);
  if (calls_ == 0)
    calls_ = std::max<uint64_t>(1, groups[0]) * std::max<uint64_t>(1, groups[1]) * std::max<uint64_t>(1, groups[2]);
  good = good && record_call(RecordKind::Entry, memory);
  if (!good) cut();
  return good;
}

bool TraceWriter::leave(SteppedMemory memory) {
  in_call_ = false;
  const bool good = record_call(RecordKind::Exit, memory);
  if (good)
    ++header_->invocations;
  else
    cut();
  return good;
}

// What differs from the registers before, which become those of now.
StepRecord TraceWriter::changes(uint32_t offset, const RegisterImage& now) {
  static constexpr std::array<std::byte, 1024> zeros{};
  const auto part = [&](Component component, size_t at) {
    return (now.components >> component & 1) != 0 && at != 0 ? now.extended + at : zeros.data();
  };
  StepRecord record{.offset = offset};
  for (size_t r = 0; r < now.general.size(); ++r)
    if (state_.general[r] != now.general[r]) record.general |= static_cast<uint16_t>(1U << r);
  state_.general = now.general;
  record.vectors = changed<16>(state_.low, part(Sse, low_offset)) |
                   changed<16>(state_.middle, part(Avx, layout_.middle)) |
                   changed<32>(state_.high, part(ZmmHigh, layout_.high)) |
                   changed<64>(state_.more, part(ZmmMore, layout_.more)) << 16;
  std::array<uint64_t, 8> masks{};
  std::memcpy(masks.data(), part(Opmask, layout_.masks), sizeof masks);
  for (size_t r = 0; r < masks.size(); ++r)
    if (state_.masks[r] != masks[r]) record.masks |= 1U << r;
  state_.masks = masks;
  if (std::exchange(all_registers_, false)) {
    record.general = UINT16_MAX;
    record.vectors = UINT32_MAX;
    record.masks = UINT8_MAX;
  }
  return record;
}

bool TraceWriter::step(uint32_t offset, const RegisterImage& registers) {
  if (header_->steps >= limits_.steps || static_cast<size_t>(end_ - at_) < largest_step) {
    cut();
    return false;
  }
  const StepRecord record = changes(offset, registers);
  put(record);
  for (size_t r = 0; r < state_.general.size(); ++r)
    if ((record.general >> r & 1) != 0) put(state_.general[r]);
  for (size_t r = 0; r < 32; ++r) {
    if ((record.vectors >> r & 1) == 0) continue;
    if (r < 16) {
      std::memcpy(at_, state_.low.data() + r * 16, 16);
      std::memcpy(at_ + 16, state_.middle.data() + r * 16, 16);
      std::memcpy(at_ + 32, state_.high.data() + r * 32, 32);
    } else {
      std::memcpy(at_, state_.more.data() + (r - 16) * 64, 64);
    }
    at_ += 64;
  }
  for (size_t r = 0; r < state_.masks.size(); ++r)
    if ((record.masks >> r & 1) != 0) put(state_.masks[r]);
  ++header_->steps;
  publish();
  return true;
}

}  // namespace sapper::target
