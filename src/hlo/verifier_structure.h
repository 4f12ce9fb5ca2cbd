// What the verifier checks before and beside shape inference: shapes and layouts are well-formed, indices of operands
// and called computations exist, computations call only earlier ones, parameters are numbered, control predecessors and
// the module's own tables (aliasing, donors, prefetches, entry layout) name things that exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "hlo/verifier_site.h"

namespace sapper::hlo::verifier {

// What is wrong with a shape or its layout; nullopt when nothing is. Dimensions of Shape::unbounded pass.
[[nodiscard]] std::optional<std::string> shape_defect(const Shape& shape);
[[nodiscard]] bool has_unbounded_dimension(const Shape& shape);

// The module has an entry computation; a computation has instructions and a root.
[[nodiscard]] Status check_entry(const Module& module);
[[nodiscard]] Status check_computation(const Computation& computation);

// Numbers of `computation`'s parameters are 0 .. n-1, each once.
[[nodiscard]] Result<Parameters> collect_parameters(const Computation& computation);

// Operands of instruction `at` are earlier instructions, called computations exist, and there are as many of both as
// the opcode takes.
[[nodiscard]] Status check_references(const Module& module, const Computation& computation,
                                      const Instruction& instruction, size_t at);

// The stated shape has no defect.
[[nodiscard]] Status check_shape(const Instruction& instruction);

// `caller` calls `callee`, which does not come before it: the error says whether they call each other in a circle.
[[nodiscard]] Error call_order_error(const Module& module, ComputationIndex caller, const Instruction& instruction,
                                     ComputationIndex callee);

// Control predecessors are earlier instructions of the same computation.
[[nodiscard]] Status check_control_predecessors(const Computation& computation);

// Entry layout, input-output aliasing, buffer donors and cross-program prefetches fit the entry computation.
// (verifier_boundary.cc)
[[nodiscard]] Status check_boundary(const Module& module, const Parameters& entry_parameters);

}  // namespace sapper::hlo::verifier
