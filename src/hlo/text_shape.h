// The grammar of shapes and layouts: f32[2,<=3]{1,0:T(8,128)S(1)}, (f32[], token[]), b(f32[4]).
#pragma once

#include "hlo/shape.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// Whether a shape starts at the cursor, as far as its first tokens tell.
[[nodiscard]] bool shape_starts(const Scanner& scan);

// A layout that is not stated is the default one, descending, as in XLA. An invalid shape after a failure.
[[nodiscard]] Shape read_shape(Scanner& scan);

// A shape in the form of the wire; opaque[] when it is malformed.
void append_wire_shape(std::string& out, const proto::ShapeProto& wire);

// The text of the shape at the cursor, found without reading it: equal texts are equal shapes, so readers can keep a
// cache. Empty when that is not plain to see (a comment inside, a malformed shape).
[[nodiscard]] std::string_view shape_extent(const Scanner& scan);

}  // namespace sapper::hlo
