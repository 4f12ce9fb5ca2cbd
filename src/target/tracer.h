// The tracer: steps through a function of this process from another process (ptrace), which writes the trace of the
// stepper (stepper.h). Slower, but it needs neither writable code nor to know where instructions begin, and of the code
// only the first byte is ever another: for where breakpoints cannot be.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "target/stepper.h"

namespace sapper::target {

class Tracer {
 public:
  // From here on each call of the function is traced, whatever thread it is on. Errors: Unsupported, where the system
  // does not let a process be traced.
  [[nodiscard]] static Result<Tracer> start(const SteppedFunction& function, const std::string& path,
                                            const StepLimits& limits);
  Tracer(Tracer&& other) noexcept : trace_(std::move(other.trace_)), process_(std::exchange(other.process_, 0)) {}
  Tracer& operator=(Tracer&&) = delete;
  ~Tracer() { stop(); }
  // This process goes on by itself; the trace is whole.
  void stop();

 private:
  Tracer(TraceWriter trace, pid_t process) : trace_(std::move(trace)), process_(process) {}

  TraceWriter trace_;
  pid_t process_;  // that traces; 0: none
};

}  // namespace sapper::target
