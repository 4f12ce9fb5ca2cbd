#include "fuzz/dialect.h"

#include <algorithm>

namespace sapper::fuzz {
namespace {

using hlo::ElementType;
using hlo::Opcode;
using target::Platform;

// These opcodes over these types are not taken on the platform; no opcodes or no types named: all of them.
struct Refusal {
  Platform platform = Platform::Cpu;
  std::vector<Opcode> opcodes;
  std::vector<ElementType> types;
};

const std::vector<ElementType> complex_types = {ElementType::C64, ElementType::C128};
const std::vector<ElementType> below_four_bits = {ElementType::S1, ElementType::S2, ElementType::U1, ElementType::U2};

const std::vector<ElementType> sixty_four_bits = {ElementType::S64, ElementType::U64, ElementType::F64,
                                                  ElementType::C128};

const std::vector<Refusal> refusals = {
    // "Is called on unsupported shape", where values enter and leave kernels.
    {Platform::Cpu, {}, {ElementType::S1, ElementType::U1}},
    // The compiler crashes (docs/findings).
    {Platform::Cpu,
     {Opcode::Acos, Opcode::Acosh, Opcode::Asin, Opcode::Asinh, Opcode::Atanh, Opcode::Cosh, Opcode::Sinh},
     complex_types},
    {Platform::Cpu, {Opcode::Concatenate}, below_four_bits},
    // "Inputs must have the same shape"; "unsupported operand type in op dot"; "failed to legalize".
    {Platform::Cpu, {Opcode::Sort, Opcode::Dot}, below_four_bits},
    // "is not supported by XLA:CPU ThunkEmitter"; "Unsupported stochastic convert".
    {Platform::Cpu, {Opcode::RaggedDot, Opcode::StochasticConvert}, {}},
    // "INT2 is not supported for rank 1".
    {Platform::Tpu, {}, below_four_bits},
    // "While rewriting computation to not contain X64 element types, XLA encountered an HLO for which this rewriting is
    // not implemented"; seen for one or two of these types each. "Unexpected operand type for FFT".
    {Platform::Tpu,
     {Opcode::Acos, Opcode::Asin, Opcode::Convolution, Opcode::Cosh, Opcode::Dot, Opcode::Fft, Opcode::RaggedDot,
      Opcode::ReducePrecision, Opcode::Sinh},
     sixty_four_bits},
    // "Attempted to compile acosh as an elementwise vector operation"; "Encountered scalar operation ..."; "Select and
    // Scatter with less than 2 inactive dims is not implemented on TPU"; "Hit an unimplemented case while compiling
    // stochastic-convert"; the rewriting above, of complex numbers too.
    {Platform::Tpu,
     {Opcode::Acosh, Opcode::AddDependency, Opcode::Asinh, Opcode::Atanh, Opcode::SelectAndScatter,
      Opcode::StochasticConvert},
     {}},
};

}  // namespace

Grammar within_dialects(Grammar grammar, const std::vector<target::Target>& targets) {
  for (const Refusal& refusal : refusals) {
    if (std::ranges::find(targets, refusal.platform, &target::Target::platform) == targets.end()) continue;
    if (refusal.opcodes.empty())
      std::erase_if(grammar.types, [&](const WeightedType& type) {
        return std::ranges::find(refusal.types, type.type) != refusal.types.end();
      });
    for (const Opcode opcode : refusal.opcodes) {
      if (refusal.types.empty()) grammar.without.insert(opcode);
      for (const ElementType type : refusal.types) grammar.without_types.insert({opcode, type});
    }
  }
  return grammar;
}

}  // namespace sapper::fuzz
