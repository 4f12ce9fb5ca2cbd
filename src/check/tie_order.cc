#include "check/tie_order.h"

#include <algorithm>
#include <string>

namespace sapper::check {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::Module;

// The sort that the module is, of its parameters in order; null: it is something else, or stable.
const Instruction* unstable_sort(const Module& module) {
  const hlo::Computation& entry = module.computations[module.entry];
  const Instruction& root = entry.root_instruction();
  if (root.opcode != hlo::Opcode::Sort || root.attributes().is_stable()) return nullptr;
  for (size_t i = 0; i < root.operands.size(); ++i) {
    const Instruction& operand = entry.instructions[root.operands[i]];
    if (operand.opcode != hlo::Opcode::Parameter || operand.parameter_number != static_cast<int64_t>(i)) return nullptr;
  }
  return &root;
}

// The elements that are sorted together, as bytes of all operands one after the other, line by line; each line's in
// ascending order.
std::vector<std::string> elements_by_line(const std::vector<Literal>& arrays, size_t dimension) {
  const hlo::Shape& shape = arrays[0].shape();
  const int64_t length = shape.dimension(dimension);
  int64_t stride = 1;
  for (size_t d = dimension + 1; d < shape.rank(); ++d) stride *= shape.dimension(d);
  std::vector<std::string> elements;
  for (int64_t line = 0; length > 0 && line < shape.element_count() / length; ++line) {
    const int64_t first = line / stride * stride * length + line % stride;
    for (int64_t k = 0; k < length; ++k) {
      std::string& element = elements.emplace_back();
      for (const Literal& array : arrays) {
        const auto width = static_cast<size_t>(hlo::host_bytes(array.shape().element_type()));
        const auto at = static_cast<size_t>(first + k * stride) * width;
        element.append(reinterpret_cast<const char*>(array.bytes().data()) + at, width);
      }
    }
    std::sort(elements.end() - length, elements.end());
  }
  return elements;
}

}  // namespace

bool is_unstable_sort(const Module& module) { return unstable_sort(module) != nullptr; }

bool orders_ties_otherwise(const Module& module, const std::vector<Literal>& arguments, const Literal& got,
                           const eval::Options& evaluation) {
  const Instruction* const sort = unstable_sort(module);
  if (sort == nullptr || sort->operands.size() != arguments.size()) return false;
  const std::vector<Literal> sorted = hlo::leaves(got);
  if (sorted.size() != arguments.size()) return false;
  for (size_t i = 0; i < sorted.size(); ++i)
    if (!sorted[i].shape().same_ignoring_layout(arguments[i].shape())) return false;
  // In order: sorting it once more, stably, leaves it as it is.
  const Result<Literal> again = eval::evaluate(module, sorted, evaluation);
  if (!again || hlo::leaves(*again) != sorted) return false;
  const auto dimension = static_cast<size_t>(sort->dimensions[0]);
  return elements_by_line(sorted, dimension) == elements_by_line(arguments, dimension);
}

}  // namespace sapper::check
