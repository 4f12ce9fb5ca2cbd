// Which instruction made an element of a kernel's result what it is: the store that wrote it last, traced back through
// the DMAs that carried it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "llo/divergence.h"
#include "llo/program.h"

namespace sapper::llo {

// `leaf` and `element` (row-major) say which element of the result. nullopt: nobody wrote it. Runs the kernel once and
// once more for each DMA on the way. Errors as of run_kernel.
[[nodiscard]] Result<std::optional<InstructionIndex>> last_writer(const Program& program, const KernelCall& call,
                                                                  size_t leaf, int64_t element);

}  // namespace sapper::llo
