#include "inputs/natural.h"

#include <algorithm>
#include <cmath>

#include "inputs/accumulation.h"

namespace sapper::inputs {

using hlo::Opcode;

Interval natural_values(const hlo::Shape& shape, double terms) {
  const hlo::ElementType type = shape.element_type();
  const Interval all = finite_values(type);
  if (!hlo::is_float(type) && !hlo::is_complex(type)) return intersection(all, {-100, 100});
  int exponent = 0;
  if (shape.rank() >= 2 && shape.element_count() >= 4096) {
    if (terms == 0) terms = static_cast<double>(std::max<int64_t>(1, shape.dimension(shape.rank() - 2)));
    exponent = -static_cast<int>(std::lround(std::log2(terms) / 2));
  }
  const double high = std::min(std::ldexp(1.0, exponent + 2), all.high);
  return {std::max(-high, all.low), high, std::ldexp(1.0, exponent - 3)};
}

std::vector<double> contracted_terms(const FlatProgram& program) {
  std::vector<double> terms(program.nodes.size());
  for (Node n = static_cast<Node>(program.nodes.size()); n-- > 0;) {
    const FlatNode& node = program.nodes[n];
    const auto operands = program.operands_of(node);
    const auto pass_to = [&](std::span<const Node> to, double count) {
      for (const Node operand : to)
        if (operand != no_node) terms[operand] = std::max(terms[operand], count);
    };
    if (node.step == Step::Join || node.step == Step::LoopEntry) pass_to(operands, terms[n]);
    if (node.step != Step::Operation) continue;
    switch (node.instruction->opcode) {
      case Opcode::Dot: pass_to(operands, term_count(program, node)); break;
      case Opcode::Convolution: pass_to(operands.subspan(1, 1), term_count(program, node)); break;
      case Opcode::Bitcast:
      case Opcode::Broadcast:
      case Opcode::Convert:
      case Opcode::Copy:
      case Opcode::DynamicSlice:
      case Opcode::Reshape:
      case Opcode::Slice:
      case Opcode::Transpose: pass_to(operands.first(1), terms[n]); break;
      case Opcode::Select: pass_to(operands.subspan(1), terms[n]); break;
      case Opcode::Concatenate: pass_to(operands, terms[n]); break;
      default: break;
    }
  }
  terms.resize(program.parameters.size());
  return terms;
}

}  // namespace sapper::inputs
