// Work split over cores: every parallel loop goes through here. The loops are oneTBB's; Debian's libtbb is built
// without ThreadSanitizer, which therefore does not see that a loop forks and joins: under it, parallel_for says so.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/deadline.h"

#if defined(__has_feature)
#define SAPPER_THREAD_SANITIZER __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define SAPPER_THREAD_SANITIZER 1
#else
#define SAPPER_THREAD_SANITIZER 0
#endif
#if SAPPER_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace sapper {

// What comes before happens_before(edge) on one thread happens before what comes after happens_after(edge) on another.
inline void happens_before([[maybe_unused]] char& edge) {
#if SAPPER_THREAD_SANITIZER
  __tsan_release(&edge);
#endif
}
inline void happens_after([[maybe_unused]] char& edge) {
#if SAPPER_THREAD_SANITIZER
  __tsan_acquire(&edge);
#endif
}

// Calls body(begin, end) on blocks that cover [0, count), in parallel; a block is not split below `grain`. Once the
// calling thread's deadline has passed, blocks that remain are left out.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  using Range = tbb::blocked_range<int64_t>;
  char fork = 0;
  char join = 0;
  const Deadline deadline = current_deadline();
  const int64_t smallest = std::max<int64_t>(1, grain);
  // With a deadline, blocks stay short enough to ask for the time between them.
  const int64_t largest = deadline == Deadline::max() ? count : 16 * smallest;
  const auto task = [&](const Range& block) {
    happens_after(fork);
    const DeadlineScope scope(deadline);
    for (int64_t begin = block.begin(); begin < block.end() && !deadline_passed(); begin += largest)
      body(begin, std::min(begin + largest, block.end()));
    happens_before(join);
  };
  happens_before(fork);
  tbb::parallel_for(Range(0, count, static_cast<size_t>(smallest)), task);
  happens_after(join);
}

// Calls visit(i) for each i of [0, count), in parallel.
template <class Visit>
void parallel_for_each(int64_t count, const Visit& visit) {
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) visit(i);
  });
}

}  // namespace sapper
