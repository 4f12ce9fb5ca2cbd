// How the host treats subnormal numbers.
#pragma once

#include <cstdint>

namespace sapper::llo {

// While it lives, this thread's floating-point instructions take subnormal operands for zeros and make zeros of
// subnormal results, as the TPU does. Code that moves bits (integer instructions, copies) is not touched.
class FlushSubnormals {
 public:
  explicit FlushSubnormals(bool flush);
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
  FlushSubnormals(FlushSubnormals&&) = delete;
  FlushSubnormals& operator=(FlushSubnormals&&) = delete;

 private:
  uint64_t before_;
};

}  // namespace sapper::llo
