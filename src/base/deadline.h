// When the work of a thread stops being wanted. Parallel loops (base/parallel.h) hand the deadline on to the threads
// that they use, and leave out what remains once it has passed: whoever set it asks deadline_passed() afterwards, and
// then discards what was computed.
#pragma once

#include <chrono>

namespace sapper {

using Deadline = std::chrono::steady_clock::time_point;

// So many seconds from now; 0: no deadline.
[[nodiscard]] Deadline deadline_in(double seconds);

// This thread's; Deadline::max(): none.
[[nodiscard]] Deadline current_deadline();

// One clock read where there is a deadline.
[[nodiscard]] bool deadline_passed();

// Sets this thread's deadline while it lives. Deadline::max() lifts it: for what is computed on the way and kept,
// whatever becomes of the work around it.
class DeadlineScope {
 public:
  explicit DeadlineScope(Deadline deadline);
  ~DeadlineScope();
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

 private:
  Deadline before_;
};

}  // namespace sapper
