#include "fuzz/novelty.h"

#include <bit>
#include <functional>

namespace sapper::fuzz {
namespace {

uint64_t operation(const hlo::Instruction& instruction) {
  return static_cast<uint64_t>(instruction.opcode) << 8 | static_cast<uint64_t>(instruction.shape.element_type());
}

uint64_t extent(const hlo::Shape& shape) {
  return static_cast<uint64_t>(shape.rank()) << 8 | std::bit_width(static_cast<uint64_t>(shape.element_count()));
}

}  // namespace

size_t Novelty::take(const hlo::Module& module) {
  size_t fresh = 0;
  hlo::for_each_instruction(module, [&](const hlo::Computation& computation, const hlo::Instruction& user) {
    fresh += seen_.insert(operation(user) << 32 | extent(user.shape)).second ? 1 : 0;
    for (const hlo::InstructionIndex operand : user.operands)
      fresh += seen_.insert(operation(user) << 16 | operation(computation.instructions[operand])).second ? 1 : 0;
  });
  return fresh;
}

size_t Novelty::take(const CompiledFeatures& features) {
  size_t fresh = 0;
  for (const std::string& feature : features) fresh += seen_.insert(std::hash<std::string>()(feature)).second ? 1 : 0;
  return fresh;
}

}  // namespace sapper::fuzz
