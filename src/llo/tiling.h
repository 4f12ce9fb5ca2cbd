// Where the elements of a value lie in TPU memory: XLA's tiled layouts, packed narrow types, padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "hlo/shape.h"

namespace sapper::llo {

// Bytes that an array of `shape` takes in memory, tile padding included. Unsupported: layouts that are not modelled.
[[nodiscard]] Result<uint64_t> tiled_bytes(const hlo::Shape& shape);

// `value` laid out by `shape` (its layout decides; same dimensions and type as the value's shape) in `memory`, of
// tiled_bytes(shape); padding bytes are left as they are. `written`, where given, gets ones in every bit that an
// element occupies, as many bytes. Linear in the elements.
[[nodiscard]] Status write_tiled(const hlo::Literal& value, const hlo::Shape& shape, std::span<std::byte> memory,
                                 std::span<std::byte> written = {});

// The value that lies in `memory`.
[[nodiscard]] Result<hlo::Literal> read_tiled(std::span<const std::byte> memory, const hlo::Shape& shape);

// The element (linear, row-major) whose bits contain bit `bit` of byte `byte`; nullopt: padding.
[[nodiscard]] std::optional<int64_t> element_at(const hlo::Shape& shape, uint64_t byte, int bit);

// What stands in one row of memory, in one piece of each of its words: `count` elements from `base` on, ElementRuns'
// stride apart, from the first word on. 0: padding; -1: elements in another order.
struct ElementRun {
  int64_t base = 0;
  int count = 0;
};
struct ElementRuns {
  int per_word = 1;  // pieces of a word, an element each
  int64_t stride = 1;
  std::vector<ElementRun> runs;  // by row * per_word + piece
};
// Of an array whose elements have 8, 16 or 32 bits; others are Unsupported. Linear in the elements.
[[nodiscard]] Result<ElementRuns> element_runs(const hlo::Shape& shape);

}  // namespace sapper::llo
