// A program that the verifier accepts is evaluated, or refused with a reason: on sampled inputs, within limits.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "eval/evaluator.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"

namespace {

using namespace sapper;

// A program worth the time: few instructions, small arrays.
bool is_small(const hlo::Module& module) {
  constexpr int64_t most_instructions = 200;
  constexpr int64_t most_bytes = 50'000;
  bool small = module.instruction_count() <= most_instructions;
  hlo::for_each_instruction(module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    small = small && instruction.shape.host_byte_size() <= most_bytes;
  });
  return small;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT(readability-identifier-naming)
  const auto module = hlo::parse_text({reinterpret_cast<const char*>(data), size});
  if (!module || !hlo::verify(*module) || !is_small(*module)) return -1;  // no seed for later runs
  const auto arguments = inputs::sample(*module, hlo::fingerprint(*module), 0);
  if (!arguments) {
    SAPPER_ASSERT(!arguments.error().message.empty());
    return 0;
  }
  const auto value = eval::evaluate(*module, *arguments,
                                    {.memory_limit_bytes = 64 << 20, .iteration_limit = 100, .time_limit_seconds = 1});
  SAPPER_ASSERT(value || !value.error().message.empty());
  if (value) SAPPER_ASSERT(value->shape().same_ignoring_layout(module->entry_computation().root_instruction().shape));
  return 0;
}
