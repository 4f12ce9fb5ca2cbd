#include "eval/random_bits.h"

#include <bit>

namespace sapper::eval {
namespace {

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace

std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  constexpr uint32_t parity = 0x1BD11BDA;
  constexpr std::array<std::array<int, 4>, 2> rotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  const std::array<uint32_t, 3> keys = {low(key), high(key), parity ^ low(key) ^ high(key)};
  uint32_t x = low(counter) + keys[0];
  uint32_t y = high(counter) + keys[1];
  for (uint32_t group = 1; group <= 5; ++group) {
    for (const int rotation : rotations[(group - 1) % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[group % 3];
    y += keys[(group + 1) % 3] + group;
  }
  return {x, y};
}

std::array<uint32_t, 4> philox(uint64_t key, std::array<uint64_t, 2> counter) {
  std::array<uint32_t, 4> x = {low(counter[0]), high(counter[0]), low(counter[1]), high(counter[1])};
  uint32_t key0 = low(key);
  uint32_t key1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * x[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * x[2];
    x = {high(product1) ^ x[1] ^ key0, low(product1), high(product0) ^ x[3] ^ key1, low(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

}  // namespace sapper::eval
