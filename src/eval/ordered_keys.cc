#include "eval/ordered_keys.h"

#include <type_traits>

#include "base/assert.h"
#include "eval/scalar_ops.h"

namespace sapper::eval {
namespace {

template <class Lane>
bool make_keys(FloatOrder order, uint64_t flip, size_t n, const void* lanes, uint64_t* keys) {
  const auto* values = static_cast<const Lane*>(lanes);
  bool has_nan = false;
  for (size_t i = 0; i < n; ++i) {
    uint64_t key;
    if constexpr (std::is_floating_point_v<Lane>) {
      const Lane value = values[i];
      const Lane placed = order == FloatOrder::Plain ? value + Lane{0} : value;  // -0 + 0 = +0
      has_nan |= value != value;
      key = static_cast<uint64_t>(int64_t{total_order_key(placed)}) ^ (uint64_t{1} << 63);
    } else if constexpr (std::is_signed_v<Lane>) {
      key = static_cast<uint64_t>(int64_t{values[i]}) ^ (uint64_t{1} << 63);
    } else {
      key = values[i];
    }
    keys[i] = key ^ flip;
  }
  return order == FloatOrder::Total || !has_nan;
}

}  // namespace

bool make_ordered_keys(hlo::ElementType type, FloatOrder order, bool descending, size_t n, const void* lanes,
                       uint64_t* keys) {
  using enum hlo::ElementType;
  const uint64_t flip = descending ? ~uint64_t{0} : 0;
  switch (lane_type(type)) {
    case Pred:
    case U8: return make_keys<uint8_t>(order, flip, n, lanes, keys);
    case U16: return make_keys<uint16_t>(order, flip, n, lanes, keys);
    case U32: return make_keys<uint32_t>(order, flip, n, lanes, keys);
    case U64: return make_keys<uint64_t>(order, flip, n, lanes, keys);
    case S8: return make_keys<int8_t>(order, flip, n, lanes, keys);
    case S16: return make_keys<int16_t>(order, flip, n, lanes, keys);
    case S32: return make_keys<int32_t>(order, flip, n, lanes, keys);
    case S64: return make_keys<int64_t>(order, flip, n, lanes, keys);
    case F32: return make_keys<float>(order, flip, n, lanes, keys);
    default: SAPPER_ASSERT(type == F64); return make_keys<double>(order, flip, n, lanes, keys);
  }
}

}  // namespace sapper::eval
