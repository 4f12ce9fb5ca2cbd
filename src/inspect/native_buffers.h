// What a kernel of XLA:CPU gets and gives, as it lay in memory.
#pragma once

#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "inspect/native_sites.h"
#include "target/trace.h"

namespace sapper::inspect {

struct KernelBuffers {
  std::vector<hlo::Literal> operands;  // of each parameter of the kernel
  std::vector<hlo::Literal> results;   // of each leaf of its result
  std::vector<OperandBuffer> places;   // where the operands lie
  std::vector<size_t> operand_of;      // of each parameter's number: the operand that the tags count it as
  std::vector<int64_t> elements;       // of each of those
};

// `kernel` is one instruction with its operands as parameters. Errors: Unsupported, where the buffers are not those of
// its operands and results, or hold elements that are packed; Resource, where the kernel did not come to its end.
[[nodiscard]] Result<KernelBuffers> read_buffers(const hlo::Module& kernel, const target::Trace& trace);

}  // namespace sapper::inspect
