// The grammar of literals: 1.5, true, (1, -2), {1, 2, 3}, { { 1, 2 }, { 3, 4 } }, (1, {2, 3}) for a tuple, {...} for a
// value left out. The reader stands beside the writer.
#pragma once

#include <memory>
#include <string>

#include "hlo/literal.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// The value of the given shape at the cursor; null when it is elided, and after a failure. Takes no more memory than
// the text is long, times the size of an element.
[[nodiscard]] std::shared_ptr<const Literal> read_literal(Scanner& scan, const Shape& shape);
void append_literal(std::string& out, const Literal& literal);

// {...} for each array of the shape.
void append_elided(std::string& out, const Shape& shape);

// With the shape in front of each array: f32[2] {1, 2}.
[[nodiscard]] std::shared_ptr<const Literal> read_shaped_literal(Scanner& scan);
void append_shaped_literal(std::string& out, const Literal& literal);

}  // namespace sapper::hlo
