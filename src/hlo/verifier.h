// The verifier: is a module well-formed? Every instruction's shape is inferred from its operands and attributes and
// compared with the stated one; operand counts, called-computation signatures, parameter numbering, attribute ranges
// are checked.
#pragma once

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo {

// The first defect found, as BadInput naming the instruction (with line and column when it was read from text), what is
// wrong and what was expected. Linear in the module's size.
[[nodiscard]] Status verify(const Module& module);

// The shape that `instruction` must have (layouts not set), from its operands and attributes; for opcodes whose shape
// is part of the program (parameter, constant, iota, reshape, bitcast, custom-call, ...) the stated shape after
// checking it.
[[nodiscard]] Result<Shape> infer_shape(const Module& module, const Computation& computation,
                                        const Instruction& instruction);

}  // namespace sapper::hlo
