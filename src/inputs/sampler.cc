#include "inputs/sampler.h"

namespace sapper::inputs {
namespace {

using hlo::Literal;
using hlo::Shape;

// Takes the ranges of the value's arrays from `next` on.
Literal draw_value(const Shape& shape, const ParameterRange*& next, Kind kind, uint64_t stream) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements())
      elements.push_back(draw_value(element, next, kind, stream = mix(stream)));
    return Literal::tuple(std::move(elements));
  }
  const ParameterRange& range = *next++;
  return shape.is_array() ? draw(range, kind, stream) : Literal(shape);
}

}  // namespace

Result<std::vector<Literal>> sample(const hlo::Module& module, const hlo::Fingerprint& fingerprint, uint64_t seed,
                                    Kind kind) {
  return sample(module, safe_ranges(module), fingerprint, seed, kind);
}

Result<std::vector<Literal>> sample(const hlo::Module& module, const Ranges& ranges,
                                    const hlo::Fingerprint& fingerprint, uint64_t seed, Kind kind) {
  constexpr int64_t largest_bytes = int64_t{16} << 30;
  const hlo::Computation& entry = module.entry_computation();
  const ParameterRange* next = ranges.parameters.data();
  std::vector<Literal> literals;
  int64_t total = 0;
  for (const hlo::InstructionIndex parameter : entry.parameters()) {
    const hlo::Instruction& instruction = entry.instructions[parameter];
    if (__builtin_add_overflow(total, instruction.shape.host_byte_size(), &total) || total > largest_bytes)
      return tl::unexpected<Error>(error_at(ErrorKind::Resource, instruction,
                                            fmt::format("the inputs up to parameter {} take more than {} GiB",
                                                        instruction.parameter_number, largest_bytes >> 30)));
    const uint64_t of_kind = kind == Kind::Dense ? 0 : mix(static_cast<uint64_t>(kind));
    const uint64_t stream =
        mix(fingerprint.high ^
            mix(fingerprint.low ^ mix((seed ^ of_kind) ^ mix(static_cast<uint64_t>(instruction.parameter_number)))));
    literals.push_back(draw_value(instruction.shape, next, kind, stream));
  }
  return literals;
}

}  // namespace sapper::inputs
