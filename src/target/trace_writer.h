// Writes the trace of a stepped kernel (trace.h) into a file in memory. Once it is made it neither allocates nor locks:
// it works in handlers of signals, and in a process that was forked off threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "target/trace.h"

namespace sapper::target {

struct StepLimits {
  uint64_t steps = 0;
  uint64_t bytes = 0;  // of the trace
};

// The memory of the process that is stepped.
struct SteppedMemory {
  int file = -1;  // its /proc/PID/mem; -1: it is this process
  [[nodiscard]] bool read(uint64_t address, void* to, size_t bytes) const;
};

// All registers at one instant.
struct RegisterImage {
  std::array<uint64_t, 16> general{};   // as x86 numbers them
  const std::byte* extended = nullptr;  // an XSAVE area in its standard form (Intel SDM volume 1, 13.4)
  uint64_t components = 0;              // which parts of it are there
};

class TraceWriter {
 public:
  // Makes the file, with the header and the code. Interrupted: there is no room for it.
  [[nodiscard]] static Result<TraceWriter> create(const std::string& path, std::span<const std::byte> code,
                                                  const StepLimits& limits);
  TraceWriter(TraceWriter&&) noexcept = default;
  TraceWriter& operator=(TraceWriter&&) = delete;
  ~TraceWriter() { close(); }
  // The file is as long as what was written, with the processor time since it was made; nothing is written any more.
  void close();

  // A call of the kernel begins: what XLA:CPU passed to it is at `call`. False: no room, the trace is cut here.
  [[nodiscard]] bool enter(uint64_t code_address, uint64_t call, SteppedMemory memory);
  // The instruction at `offset` comes next. False: a limit is reached, the trace is cut here.
  [[nodiscard]] bool step(uint32_t offset, const RegisterImage& registers);
  // The call returns. False: as above.
  [[nodiscard]] bool leave(SteppedMemory memory);
  // The kernel goes on unseen.
  void cut();

  [[nodiscard]] bool in_call() const { return in_call_; }
  // Every call that the kernel's work is split into was written; also after a cut.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] TraceHeader& header() { return *header_; }

 private:
  TraceWriter() = default;

  // What XLA:CPU passes to a kernel, in its first argument.
  struct KernelCall {
    uint64_t work_groups = 0;  // address of how many there are
    uint64_t work_group = 0;   // of which one this is
    uint64_t argument_count = 0;
    uint64_t arguments = 0;  // address of BufferRecords
  };
  // The registers of the record before, in the parts that an XSAVE area has.
  struct State {
    std::array<uint64_t, 16> general{};
    alignas(64) std::array<std::byte, 256> low{};
    alignas(64) std::array<std::byte, 256> middle{};
    alignas(64) std::array<std::byte, 512> high{};
    alignas(64) std::array<std::byte, 1024> more{};
    std::array<uint64_t, 8> masks{};
  };
  struct Unmap {
    size_t bytes;
    void operator()(std::byte* memory) const;
  };
  // Where these parts lie in the area.
  struct Layout {
    uint32_t middle = 0;  // the second 16 bytes of vectors 0 to 15
    uint32_t masks = 0;
    uint32_t high = 0;  // their upper 32
    uint32_t more = 0;  // vectors 16 to 31
  };

  template <class T>
  void put(const T& value);
  void publish();
  [[nodiscard]] bool record_call(RecordKind kind, SteppedMemory memory);
  [[nodiscard]] StepRecord changes(uint32_t offset, const RegisterImage& now);

  std::string path_;
  StepLimits limits_;
  double start_ = 0;
  Layout layout_;
  std::unique_ptr<std::byte, Unmap> file_;
  std::byte* end_ = nullptr;
  std::byte* at_ = nullptr;  // where the next record goes
  TraceHeader* header_ = nullptr;
  KernelCall call_;  // the one that runs
  uint64_t code_address_ = 0;
  uint64_t calls_ = 0;  // that are to be stepped; 0: not known before the first
  bool in_call_ = false;
  bool all_registers_ = false;  // the next record has them all
  State state_;
};

}  // namespace sapper::target
