#include "hlo/reals.h"

#include <bit>
#include <cstring>

namespace sapper::hlo {
namespace {

// `value_of` makes a number of an element's bits.
template <class Bits, class ValueOf>
void read(const std::byte* at, std::span<double> out, ValueOf value_of) {
  for (double& value : out) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    at += sizeof bits;
    value = value_of(bits);
  }
}

}  // namespace

void read_reals(const Literal& array, int64_t first, std::span<double> out) {
  const ElementType type = array.shape().element_type();
  const std::byte* at = array.bytes().data() + first * host_bytes(type);
  switch (type) {
    case ElementType::F32: return read<uint32_t>(at, out, [](uint32_t bits) { return std::bit_cast<float>(bits); });
    case ElementType::BF16:
      return read<uint16_t>(at, out, [](uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); });
    case ElementType::F64: return read<uint64_t>(at, out, [](uint64_t bits) { return std::bit_cast<double>(bits); });
    default:
      for (double& value : out) value = array.real_at(first++);
  }
}

}  // namespace sapper::hlo
