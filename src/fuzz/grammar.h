// The bounds of what is generated: which element types, shapes and opcodes, how much of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fuzz/choices.h"
#include "hlo/opcode.h"
#include "hlo/shape.h"

namespace sapper::fuzz {

struct WeightedType {
  hlo::ElementType type = hlo::ElementType::F32;
  double weight = 1;
};

struct Grammar {
  std::vector<WeightedType> types = all_types();
  // Sizes of dimensions: 1, primes, multiples of 8 and 128 and what is next to tiles.
  std::vector<int64_t> sizes = {1,  2,  3,  4,   5,   7,   8,   9,   13,  16,  17,  31,
                                32, 33, 64, 127, 128, 129, 130, 255, 256, 257, 384, 640};
  int64_t rank = 4;         // most dimensions of a value
  int64_t elements = 2048;  // most of a value
  int depth = 4;            // most operations one above the other
  int64_t instructions = 20;
  std::set<hlo::Opcode> only;  // empty: all of the table
  // What the compilers at hand do not take (fuzz/dialect.h): the opcode, or the opcode over the type. Parameter: what
  // enters and leaves the program.
  std::set<hlo::Opcode> without;
  std::set<std::pair<hlo::Opcode, hlo::ElementType>> without_types;

  [[nodiscard]] static std::vector<WeightedType> all_types();
  [[nodiscard]] bool has(hlo::ElementType type) const;
  [[nodiscard]] bool takes(hlo::Opcode opcode) const;
  [[nodiscard]] bool takes(hlo::Opcode opcode, hlo::ElementType type) const;
};

// A type of the grammar that `fits`; nullopt: none does.
[[nodiscard]] std::optional<hlo::ElementType> choose_type(const Grammar& grammar, Choices& choices,
                                                          const std::function<bool(hlo::ElementType)>& fits);
// A size of the grammar of at most `most` (at least 1).
[[nodiscard]] int64_t choose_size(const Grammar& grammar, Choices& choices, int64_t most);
// Dimensions of at most `rank` and `elements`.
[[nodiscard]] std::vector<int64_t> choose_dimensions(const Grammar& grammar, Choices& choices, int64_t rank,
                                                     int64_t elements);

}  // namespace sapper::fuzz
