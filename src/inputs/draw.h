// Draws the elements of one array inside its safe range, in one of several kinds.
#pragma once

#include <cstdint>

#include "hlo/literal.h"
#include "inputs/ranges.h"

namespace sapper::inputs {

enum class Kind : uint8_t {
  Dense,   // distinct numbers of everyday sizes, of both signs where they may be
  Edges,   // half of them from the edges of the type and of the range: zeros, subnormals, powers of two, ties, limits
  Sparse,  // mostly zeros
  Structured,  // rows that are one-hot, sorted, constant, or of equal pairs
  Rounding,    // numbers that are hard to round: all-ones mantissas, ties after rounding to bf16, sums that cancel
};

constexpr Kind kinds[] = {Kind::Dense, Kind::Edges, Kind::Sparse, Kind::Structured, Kind::Rounding};

// "dense", "edges", ...
[[nodiscard]] std::string_view to_string(Kind kind);

// An array of the range's shape; the same for the same stream on every machine.
[[nodiscard]] hlo::Literal draw(const ParameterRange& range, Kind kind, uint64_t stream);

// SplitMix64 (Steele, Lea, Flood 2014): a bijective mix, so a counter gives a stream.
[[nodiscard]] inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace sapper::inputs
