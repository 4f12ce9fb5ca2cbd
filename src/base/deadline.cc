#include "base/deadline.h"

namespace sapper {
namespace {

thread_local Deadline current = Deadline::max();

}  // namespace

Deadline deadline_in(double seconds) {
  if (seconds <= 0) return Deadline::max();
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

Deadline current_deadline() { return current; }

bool deadline_passed() { return current != Deadline::max() && std::chrono::steady_clock::now() > current; }

DeadlineScope::DeadlineScope(Deadline deadline) : before_(current) { current = deadline; }

DeadlineScope::~DeadlineScope() { current = before_; }

}  // namespace sapper
