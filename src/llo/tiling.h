// Where the elements of a value lie in TPU memory: XLA's tiled layouts, packed narrow types, padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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

}  // namespace sapper::llo
