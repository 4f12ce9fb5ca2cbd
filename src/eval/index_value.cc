#include "eval/index_value.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sapper::eval {
namespace {

template <class T>
int64_t load(const std::byte* array, int64_t i) {
  T value;
  std::memcpy(&value, array + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<int64_t>(value);
}

}  // namespace

int64_t index_value(const std::byte* array, hlo::ElementType type, int64_t i) {
  using enum hlo::ElementType;
  switch (type) {
    case S1:
    case S2:
    case S4:
    case S8: return load<int8_t>(array, i);
    case S16: return load<int16_t>(array, i);
    case S32: return load<int32_t>(array, i);
    case S64: return load<int64_t>(array, i);
    case Pred:
    case U1:
    case U2:
    case U4:
    case U8: return load<uint8_t>(array, i);
    case U16: return load<uint16_t>(array, i);
    case U32: return load<uint32_t>(array, i);
    case U64: {
      const int64_t bits = load<uint64_t>(array, i);
      return bits < 0 ? std::numeric_limits<int64_t>::max() : bits;
    }
    default: return 0;
  }
}

}  // namespace sapper::eval
