// The stepper: watches a function of this process while it runs, instruction by instruction, by breakpoints that walk:
// each instruction begins with a breakpoint but the one that is running. The handler writes what changed in the
// registers into a trace (trace.h) and neither allocates nor locks.
//
// One stepper at a time. The process is pinned to one CPU: what one thread writes into the code no other has fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "target/trace_writer.h"

namespace sapper::target {

// Makes this process, and all threads that it starts from now on, run on one CPU.
void pin_to_one_cpu();

// The function that is stepped: all copies of it, and what a reader of the trace has to know of it.
struct SteppedFunction {
  std::vector<std::byte*> copies;
  size_t size = 0;
  uint64_t memcpy_address = 0;  // that it calls; 0: it does not
};

// A byte of the function that is written over before it runs: a simulated defect of the compiler.
struct BytePatch {
  uint32_t offset = 0;
  uint8_t value = 0;
};

// Writes them into each copy of the function.
[[nodiscard]] Status patch_code(const SteppedFunction& function, std::span<const BytePatch> patches);

class Stepper {
 public:
  // Arms all copies of the function, and makes the trace's file at `path`.
  [[nodiscard]] static Result<Stepper> arm(const SteppedFunction& function, const std::string& path,
                                           const StepLimits& limits);
  Stepper(Stepper&& other) noexcept : is_armed_(std::exchange(other.is_armed_, false)) {}
  Stepper& operator=(Stepper&&) = delete;
  ~Stepper() { disarm(); }
  // The code is as it was.
  void disarm();

 private:
  Stepper() = default;
  bool is_armed_ = true;
};

}  // namespace sapper::target
