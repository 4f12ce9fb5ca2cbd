// How a kernel declares its operands and results: inlined_call_operand.vmem [shape: f32[8], index: 0, kind: input,
// ...].
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "hlo/shape.h"
#include "llo/program.h"

namespace sapper::llo {

struct KernelOperand {
  int index = 0;  // operands first, then results, the arrays of tuples one by one; -1: the table of them all
  std::optional<Space> space;  // nullopt: passed by value
};

// nullopt: `instruction` declares no operand. Errors: BadInput: one without its index.
[[nodiscard]] Result<std::optional<KernelOperand>> kernel_operand(const Program& program,
                                                                  const Instruction& instruction);

// The arrays of a shape in tuple order, as operands are counted; tokens are none.
[[nodiscard]] std::vector<hlo::Shape> arrays_of(const hlo::Shape& shape);

// A BadInput error about `instruction`, with its line.
[[nodiscard]] tl::unexpected<Error> error_in(const Program& program, const Instruction& instruction,
                                             std::string message);

}  // namespace sapper::llo
