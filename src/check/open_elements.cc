#include "check/open_elements.h"

#include <algorithm>
#include <cstring>

namespace sapper::check {
namespace {

using hlo::Literal;

bool allocates(const hlo::Module& module) {
  return std::ranges::any_of(module.computations, [](const hlo::Computation& computation) {
    return std::ranges::any_of(computation.instructions, is_uninitialized);
  });
}

size_t width_of(const Literal& array) { return static_cast<size_t>(hlo::host_bytes(array.shape().element_type())); }

std::vector<bool> different_elements(const Literal& a, const Literal& b) {
  const size_t width = width_of(a);
  std::vector<bool> different(static_cast<size_t>(a.element_count()));
  for (size_t i = 0; i < different.size(); ++i)
    different[i] = std::memcmp(a.bytes().data() + i * width, b.bytes().data() + i * width, width) != 0;
  return different;
}

// `next` counts the arrays.
void close(Literal& value, const Literal& reference, const llo::Elements& open, size_t& next) {
  if (value.shape().is_tuple())
    for (size_t i = 0; i < value.elements().size(); ++i)
      close(value.mutable_elements()[i], reference.elements()[i], open, next);
  if (!value.shape().is_array()) return;
  const std::vector<bool>& elements = open[next++];
  const size_t width = width_of(value);
  for (size_t i = 0; i < elements.size(); ++i)
    if (elements[i]) std::memcpy(value.mutable_bytes().data() + i * width, reference.bytes().data() + i * width, width);
}

}  // namespace

bool is_uninitialized(const hlo::Instruction& instruction) {
  return instruction.opcode == hlo::Opcode::CustomCall &&
         instruction.attributes().custom_call_target() == "AllocateBuffer";
}

llo::Elements open_elements(const hlo::Module& module, std::span<const Literal> arguments, const Literal& reference,
                            eval::Options evaluation) {
  if (!allocates(module)) return {};
  evaluation.substitute.covers = [](const hlo::Computation&, const hlo::Instruction& instruction) {
    return is_uninitialized(instruction);
  };
  evaluation.substitute.run = [](const hlo::Computation&, const hlo::Instruction& instruction,
                                 const std::vector<Literal>&) -> Result<Literal> { return Literal(instruction.shape); };
  const Result<Literal> other = eval::evaluate(module, arguments, evaluation);
  if (!other) return {};
  llo::Elements open;
  const std::vector<Literal> leaves = hlo::leaves(reference);
  const std::vector<Literal> other_leaves = hlo::leaves(*other);
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
    if (leaves[leaf].shape().is_array()) open.push_back(different_elements(leaves[leaf], other_leaves[leaf]));
  return open;
}

Literal closed(Literal value, const Literal& reference, const llo::Elements& open) {
  size_t next = 0;
  if (!open.empty()) close(value, reference, open, next);
  return value;
}

}  // namespace sapper::check
