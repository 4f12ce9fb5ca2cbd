// Splitting independent work over cores.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sapper::eval {

// Calls body(begin, end) on blocks that cover [0, count), in parallel when there is enough work to pay for a thread.
// `cost` is the number of elementary steps (about a nanosecond) of one item.
template <class Body>
void parallel_blocks(int64_t count, int64_t cost, Body&& body) {
  constexpr int64_t worthwhile = 50'000;
  const int64_t grain = std::max<int64_t>(1, worthwhile / std::max<int64_t>(1, cost));
  if (count <= 0) return;
  if (count <= grain) return body(int64_t{0}, count);
  parallel_for(count, grain, body);
}

// The same for a body that returns a Status. Only a body that cannot fail may run in parallel (`parallel`); one that
// can runs on this thread.
template <class Body>
[[nodiscard]] Status try_blocks(bool parallel, int64_t count, int64_t cost, Body&& body) {
  if (!parallel) return body(int64_t{0}, count);
  parallel_blocks(count, cost, [&](int64_t begin, int64_t end) {
    const Status status = body(begin, end);
    SAPPER_ASSERT(status);
  });
  return {};
}

}  // namespace sapper::eval
