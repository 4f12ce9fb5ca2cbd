#include "llo/matrix_format.h"

#include <array>
#include <bit>

#include "base/assert.h"
#include "hlo/element_type.h"

namespace sapper::llo {

namespace {

constexpr uint32_t upper_half = 0xffff0000;

double number(uint32_t f32_bits) { return std::bit_cast<float>(f32_bits); }

uint32_t round_to_bf16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits | 0x00400000) & upper_half;
  return (bits + 0x7fff + (bits >> 16 & 1)) & upper_half;
}

uint32_t second_part(uint32_t bits) {
  const float rest = std::bit_cast<float>(bits) - std::bit_cast<float>(bits & upper_half);
  return std::bit_cast<uint32_t>(rest) & upper_half;
}

using ByteTable = std::array<double, 256>;

ByteTable float_table(hlo::ElementType type) {
  ByteTable table;
  for (uint32_t bits = 0; bits < table.size(); ++bits) table[bits] = hlo::decode_float(*hlo::float_format(type), bits);
  return table;
}

// Calls store(place in the rows, element's bits) for each element.
template <int bits, class Store>
void for_each_element(const Vreg& packed, Store&& store) {
  constexpr int parts = 32 / bits;
  constexpr uint32_t mask = bits == 32 ? ~uint32_t{0} : (uint32_t{1} << (bits % 32)) - 1;
  for (int sublane = 0; sublane < kSublanes; ++sublane)
    for (int part = 0; part < parts; ++part)
      for (int lane = 0; lane < kLanes; ++lane)
        store((sublane * parts + part) * kLanes + lane,
              packed.word[sublane * kLanes + lane] >> (part * bits % 32) & mask);
}

}  // namespace

int bits_of(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::F32:
    case MatrixFormat::F32Rounded:
    case MatrixFormat::F32High:
    case MatrixFormat::F32Low: return 32;
    case MatrixFormat::Bf16: return 16;
    case MatrixFormat::S8:
    case MatrixFormat::U8:
    case MatrixFormat::F8E5M2:
    case MatrixFormat::F8E4M3: return 8;
  }
  SAPPER_ASSERT(false);
}

bool is_integer(MatrixFormat format) { return format == MatrixFormat::S8 || format == MatrixFormat::U8; }

void decode_rows(const Vreg& packed, MatrixFormat format, double* rows) {
  static const ByteTable e5m2 = float_table(hlo::ElementType::F8E5M2);
  static const ByteTable e4m3 = float_table(hlo::ElementType::F8E4M3FN);
  const auto words = [&](auto&& value) {
    for_each_element<32>(packed, [&](int at, uint32_t bits) { rows[at] = value(bits); });
  };
  const auto bytes = [&](auto&& value) {
    for_each_element<8>(packed, [&](int at, uint32_t bits) { rows[at] = value(bits); });
  };
  switch (format) {
    case MatrixFormat::F32: return words(number);
    case MatrixFormat::F32Rounded: return words([](uint32_t bits) { return number(round_to_bf16(bits)); });
    case MatrixFormat::F32High: return words([](uint32_t bits) { return number(bits & upper_half); });
    case MatrixFormat::F32Low: return words([](uint32_t bits) { return number(second_part(bits)); });
    case MatrixFormat::Bf16:
      return for_each_element<16>(packed, [&](int at, uint32_t bits) { rows[at] = number(bits << 16); });
    case MatrixFormat::S8: return bytes([](uint32_t bits) { return static_cast<double>(static_cast<int8_t>(bits)); });
    case MatrixFormat::U8: return bytes([](uint32_t bits) { return static_cast<double>(bits); });
    case MatrixFormat::F8E5M2: return bytes([](uint32_t bits) { return e5m2[bits]; });
    case MatrixFormat::F8E4M3: return bytes([](uint32_t bits) { return e4m3[bits]; });
  }
  SAPPER_ASSERT(false);
}

void mark_rows(const Vreg& bits, MatrixFormat format, uint8_t* rows) {
  const uint32_t used = format == MatrixFormat::F32High ? upper_half : ~uint32_t{0};
  const auto mark = [&](int at, uint32_t element) { rows[at] = element != 0 ? 1 : 0; };
  switch (bits_of(format)) {
    case 32: return for_each_element<32>(bits, [&](int at, uint32_t element) { mark(at, element & used); });
    case 16: return for_each_element<16>(bits, mark);
    default: return for_each_element<8>(bits, mark);
  }
}

}  // namespace sapper::llo
