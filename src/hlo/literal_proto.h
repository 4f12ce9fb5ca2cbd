// Inside of the proto reader and writer: literals straight from and to wire bytes.
#pragma once

#include <string_view>

#include "base/error.h"
#include "hlo/literal.h"

namespace sapper::hlo {

// The shape that XLA states in the literal of an instruction of shape `shape`: tiles are left out.
[[nodiscard]] Shape literal_shape(const Shape& shape);

struct WireLiteral {
  Literal literal;
  Shape stated_shape;  // with layout
  // The bytes say no more than `literal` and `stated_shape` do.
  bool is_complete = true;
};

// Reads a serialized LiteralProto; its values are copied once, from `bytes` to their place.
[[nodiscard]] Result<WireLiteral> literal_from_wire(std::string_view bytes);

}  // namespace sapper::hlo
