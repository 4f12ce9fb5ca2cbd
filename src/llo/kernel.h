// Runs one kernel on values: lays its operands out in memory, runs its code, reads its results back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hlo/literal.h"
#include "hlo/shape.h"
#include "llo/machine.h"
#include "llo/program.h"

namespace sapper::llo {

// Some elements of a value: for each of its arrays, in tuple order, row-major, whether it is one. Empty: none is.
using Elements = std::vector<std::vector<bool>>;

struct KernelRun {
  hlo::Literal output;            // of the shape asked for
  std::vector<Finding> findings;  // in the order they were seen
  uint64_t steps = 0;
  uint64_t vector_steps = 0;  // of them on vector registers
};

// What the kernel's own declarations say of its operands, in order, and of its result. Real dumps state no layouts.
struct KernelShapes {
  std::vector<hlo::Shape> operands;
  hlo::Shape result;
};
// Errors: BadInput: shapes that cannot be read, operands without a layout that lie in memory.
[[nodiscard]] Result<KernelShapes> declared_shapes(const Program& program);

// An operand or a result of a kernel in memory: of tuples one array after the other.
struct PlacedArray {
  hlo::Shape shape;
  Space space = Space::Hbm;
  uint64_t first_word = 0;
  bool result = false;
};
// Told where all of them lie, before the first step.
using ArraysPlaced = std::function<void(std::span<const PlacedArray>)>;

// Runs `program` as the kernel of an HLO instruction: `operands` are its operands' values with their shapes (layouts
// and memory spaces as the optimized module states them), `result` its shape. `declarations` is an SSA form of the same
// kernel (the `original` stage), needed where the program does not declare its allocations itself. A result that shares
// the buffer of an operand (may-alias) starts as that operand's bytes. `open` are the elements of the result that may
// be anything, undefined too. Errors: Unsupported (an opcode, a layout), BadInput (the dump and the shapes do not fit),
// Resource (limits).
[[nodiscard]] Result<KernelRun> run_kernel(const Program& program, const Program* declarations,
                                           std::span<const hlo::Literal> operands,
                                           std::span<const hlo::Shape> operand_shapes, const hlo::Shape& result,
                                           const MachineOptions& options, const Elements& open = {},
                                           const ArraysPlaced& placed = {});

}  // namespace sapper::llo
