// A 128-bit hash of words, bytes and other hashes, for fingerprints: the same on every machine and in every release.
// Two lanes of 64 bits, each a chain of bijective mixing steps with constants of its own. Not against adversaries.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sapper::hlo {

struct Hash {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash&) const = default;

  // Sums of hashes do not depend on the order of what is summed.
  Hash& operator+=(const Hash& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
};

class Hasher {
 public:
  // `domain` keeps hashes of different kinds of things apart.
  explicit Hasher(uint64_t domain) { add(domain); }

  Hasher& add(uint64_t word) {
    state_.high = mix<0xbf58476d1ce4e5b9, 0x94d049bb133111eb>(state_.high ^ word);
    state_.low = mix<0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53>(state_.low ^ std::rotl(word, 32));
    return *this;
  }
  Hasher& add(const Hash& hash) { return add(hash.high).add(hash.low); }

  Hasher& add_bytes(std::span<const std::byte> bytes) {
    static_assert(std::endian::native == std::endian::little);
    add(bytes.size());
    for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t)))
      add(word_of(bytes, sizeof(uint64_t)));
    if (!bytes.empty()) add(word_of(bytes, bytes.size()));
    return *this;
  }
  Hasher& add(std::string_view text) { return add_bytes(std::as_bytes(std::span(text))); }

  // The length and each element of a range of integers.
  template <class Range>
  Hasher& add_all(const Range& range) {
    add(static_cast<uint64_t>(range.size()));
    for (const auto value : range) add(static_cast<uint64_t>(value));
    return *this;
  }

  [[nodiscard]] Hash get() const { return state_; }

 private:
  static uint64_t word_of(std::span<const std::byte> bytes, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), size);
    return word;
  }

  template <uint64_t first, uint64_t second>
  static constexpr uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;  // zero is no fixed point
    x = (x ^ (x >> 30)) * first;
    x = (x ^ (x >> 27)) * second;
    return x ^ (x >> 31);
  }

  Hash state_;
};

}  // namespace sapper::hlo
