#include "inspect/native_values.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace sapper::inspect {
namespace {

using hlo::ElementType;

uint64_t low_bits(uint64_t value, int bits) { return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1); }

// The narrow float that `value` is exactly.
std::optional<uint64_t> narrowed(ElementType type, double value) {
  const hlo::FloatFormat format = *hlo::float_format(type);
  const uint64_t bits = hlo::encode_float(format, value);
  if (hlo::decode_float(format, bits) != value) return std::nullopt;
  return bits;
}

}  // namespace

bool is_native_type(ElementType type) {
  return hlo::is_array_type(type) && !hlo::is_complex(type) && hlo::bit_width(type) >= 8;
}

std::optional<uint64_t> bits_in_lane(ElementType type, const Lane& lane) {
  const int lane_bits = lane.width * 8;
  if (type == ElementType::Pred) {
    if (lane.width == 0) return lane.value;
    if (lane.value == 0 || lane.value == 1) return lane.value;
    if (lane.value == low_bits(~uint64_t{0}, lane_bits)) return 1;
    return std::nullopt;
  }
  const int bits = hlo::bit_width(type);
  if (lane_bits < bits) return std::nullopt;
  if (lane_bits == bits || !hlo::is_float(type) || bits >= 32) return low_bits(lane.value, bits);
  const uint64_t low = low_bits(lane.value, std::min(lane_bits, 32));
  if (low == low_bits(low, bits)) return low;  // not converted yet, or again
  if (lane_bits == 16) return narrowed(type, hlo::decode_float(*hlo::float_format(ElementType::F16), low));
  return narrowed(type, std::bit_cast<float>(static_cast<uint32_t>(low)));
}

uint64_t element_bits(const hlo::Literal& array, int64_t i) {
  uint64_t bits = 0;
  const auto width = static_cast<size_t>(hlo::host_bytes(array.shape().element_type()));
  std::memcpy(&bits, array.bytes().data() + static_cast<size_t>(i) * width, width);
  return bits;
}

void set_element_bits(hlo::Literal& array, int64_t i, uint64_t bits) {
  const auto width = static_cast<size_t>(hlo::host_bytes(array.shape().element_type()));
  std::memcpy(array.mutable_bytes().data() + static_cast<size_t>(i) * width, &bits, width);
}

double number_of(ElementType type, uint64_t bits) {
  if (hlo::is_float(type)) return hlo::decode_float(*hlo::float_format(type), bits);
  if (hlo::element_class(type) == hlo::ElementClass::Signed) {
    const int unused = 64 - hlo::bit_width(type);
    return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
  }
  return static_cast<double>(bits);
}

bool is_finite(ElementType type, uint64_t bits) { return std::isfinite(number_of(type, bits)); }

bool same_value(ElementType type, uint64_t a, uint64_t b, const Nearness& nearness, int64_t element) {
  if (a == b) return true;
  if (!hlo::is_float(type)) return false;
  const double x = number_of(type, a);
  const double y = number_of(type, b);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  if (nearness.relative == 0 || !std::isfinite(x) || !std::isfinite(y)) return false;
  return std::abs(x - y) <=
         std::max(nearness.absolute(element), nearness.relative * std::max(std::abs(x), std::abs(y)));
}

}  // namespace sapper::inspect
