#include "llo/subnormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sapper::llo {

namespace {

#if defined(__x86_64__)
constexpr uint64_t kFlush = 0x8040;  // MXCSR: flush to zero, denormals are zeros
uint64_t control() { return _mm_getcsr(); }
void set_control(uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR: FZ
uint64_t control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
#error "how this host flushes subnormals is not known"
#endif

}  // namespace

FlushSubnormals::FlushSubnormals(bool flush) : before_(control()) {
  set_control(flush ? before_ | kFlush : before_ & ~kFlush);
}

FlushSubnormals::~FlushSubnormals() { set_control(before_); }

}  // namespace sapper::llo
