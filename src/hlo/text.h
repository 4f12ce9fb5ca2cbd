// HLO text: XLA's syntax, read and written.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo {

// Reads a module. Accepts what XLA's own parser does: the long and short forms (with and without %, operand shapes,
// `ENTRY`, shapes that can be inferred), one instruction alone, whose operands become parameters, comments, any
// attribute order, constants of any size (a literal elided as {...} leaves Instruction::literal null), and besides that
// computations in any order. Arrays without a layout get the default one, descending, as in XLA. Does not verify: see
// hlo/verifier.h. An error names line and column in `text`.
[[nodiscard]] Result<Module> parse_text(std::string_view text);
[[nodiscard]] Result<Shape> parse_shape(std::string_view text);

struct PrintOptions {
  bool percent = true;         // %name rather than name
  bool operand_shapes = true;  // add(f32[2] %a, ...) rather than add(%a, ...)
  bool metadata = true;        // of instructions, and the stack frames that it refers to
  bool backend_config = true;
  bool layouts = true;
  int64_t elide_constants_over = -1;  // print {...} for literals with more elements; -1: never
};

// Text that parse_text and XLA's own parser read back to the same module, up to what text cannot say: ids, unknown
// fields, profile data of metadata, names that are not words or not unique, frontend attributes whose name is not a
// word, fields of the wire that do not belong to the opcode, and the difference between a field left out and its
// default.
[[nodiscard]] std::string to_text(const Module& module, const PrintOptions& options = {});
// One line, without the trailing newline.
[[nodiscard]] std::string to_text(const Module& module, const Computation& computation, const Instruction& instruction,
                                  const PrintOptions& options = {});
// The value as in `constant(...)`.
[[nodiscard]] std::string to_text(const Literal& literal);

}  // namespace sapper::hlo
