// Work split over cores: every parallel loop goes through here. The loops are oneTBB's; Debian's libtbb is built
// without ThreadSanitizer, which therefore does not see that a loop forks and joins: under it, ForkJoin says so.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

// The life of one parallel loop: what comes before it happens before its tasks, and they before what comes after.
class ForkJoin {
 public:
  ForkJoin() { happens_before(fork_); }
  ~ForkJoin() { happens_after(join_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  // `work` as a task of the loop.
  template <class Work>
  [[nodiscard]] auto task(const Work& work) {
    return [this, &work](const auto& block) {
      happens_after(fork_);
      work(block);
      happens_before(join_);
    };
  }

 private:
  static void happens_before([[maybe_unused]] char& edge) {
#if SAPPER_THREAD_SANITIZER
    __tsan_release(&edge);
#endif
  }
  static void happens_after([[maybe_unused]] char& edge) {
#if SAPPER_THREAD_SANITIZER
    __tsan_acquire(&edge);
#endif
  }

  char fork_ = 0;
  char join_ = 0;
};

// Calls body(begin, end) on blocks that cover [0, count), in parallel; a block is not split below `grain`.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  using Range = tbb::blocked_range<int64_t>;
  ForkJoin edges;
  tbb::parallel_for(Range(0, count, static_cast<size_t>(std::max<int64_t>(1, grain))),
                    edges.task([&](const Range& block) { body(block.begin(), block.end()); }));
}

// Calls visit(i) for each i of [0, count), in parallel.
template <class Visit>
void parallel_for_each(int64_t count, const Visit& visit) {
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) visit(i);
  });
}

}  // namespace sapper
