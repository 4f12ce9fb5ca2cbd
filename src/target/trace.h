// Trace: what a stepped kernel did, as the stepper writes it into a file in memory, and its reader. The file is whole
// at every instant: when the process dies, what came before is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace sapper::target {

// What stepped the kernel: breakpoints in its own process (stepper.h), or another process (tracer.h).
enum class SteppedBy : uint32_t { Breakpoints, Tracer };

// The form of the file: a TraceHeader, the code, then records, each on a multiple of 8 bytes.
struct TraceHeader {
  static constexpr uint64_t expected_magic = 0x3145434152544153;  // "SATRACE1"
  uint64_t magic = 0;
  uint64_t code_bytes = 0;  // that follow: the function, as it ran
  uint64_t record_bytes = 0;
  uint64_t steps = 0;
  uint64_t invocations = 0;  // that were stepped to their end
  uint32_t is_cut = 0;       // a limit was reached: the kernel went on unseen
  SteppedBy by = SteppedBy::Breakpoints;
  double seconds = 0;           // of the processor, in the stepped run
  uint64_t memcpy_address = 0;  // which the function calls; 0: it does not
};

enum class RecordKind : uint16_t { Step, Entry, Exit };

// Followed by the registers that are not as in the record before: 8 bytes a general one, 64 a vector, 8 a mask.
struct StepRecord {
  RecordKind kind = RecordKind::Step;
  uint16_t general = 0;  // bit r: register r
  uint32_t offset = 0;   // of the instruction that comes next
  uint32_t vectors = 0;
  uint32_t masks = 0;
};

// A call of the kernel begins or ends. Followed by a BufferRecord an argument, then by the bytes of them all, each
// on a multiple of 8 bytes.
struct CallRecord {
  RecordKind kind = RecordKind::Entry;
  uint16_t unused = 0;
  uint32_t buffers = 0;
  uint64_t code_address = 0;
  std::array<uint64_t, 3> work_group{};  // which part of the kernel's work this call does
};

struct BufferRecord {
  uint64_t address = 0;
  uint64_t size = 0;
};

[[nodiscard]] constexpr size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

struct VectorRegister {
  alignas(64) std::array<std::byte, 64> bytes{};
};

struct Registers {
  std::array<uint64_t, 16> general{};
  std::array<VectorRegister, 32> vectors{};
  std::array<uint64_t, 8> masks{};
};

// An argument of the kernel: operands first, then results.
struct TracedBuffer {
  uint64_t address = 0;
  std::span<const std::byte> bytes;  // as they were then
};

struct TraceEvent {
  RecordKind kind = RecordKind::Step;
  // Step: the instruction at `offset` is next. What the one before it changed:
  uint32_t offset = 0;
  uint16_t general = 0;
  uint32_t vectors = 0;
  uint32_t masks = 0;
  // Entry, Exit:
  uint64_t code_address = 0;
  std::array<uint64_t, 3> work_group{};
  std::vector<TracedBuffer> buffers;
};

// A trace in memory. Everything in it was written by another process: it is checked as it is read.
class Trace {
 public:
  Trace() = default;  // of no step
  // Internal: the bytes are no trace.
  [[nodiscard]] static Result<Trace> from_bytes(std::string bytes);
  [[nodiscard]] const TraceHeader& header() const { return header_; }
  [[nodiscard]] std::span<const std::byte> code() const;
  [[nodiscard]] std::span<const std::byte> records() const;

 private:
  std::string bytes_;
  TraceHeader header_;
};

// Reads the records one after another and keeps the registers.
class TraceReader {
 public:
  explicit TraceReader(const Trace& trace) : rest_(trace.records()) {}
  // False at the end.
  [[nodiscard]] bool next(TraceEvent& event);
  // After the event: what the next instruction finds.
  [[nodiscard]] const Registers& registers() const { return registers_; }

 private:
  [[nodiscard]] bool read(void* to, size_t bytes);
  [[nodiscard]] bool read_step(TraceEvent& event);
  [[nodiscard]] bool read_call(TraceEvent& event);
  std::span<const std::byte> rest_;
  Registers registers_;
};

}  // namespace sapper::target
