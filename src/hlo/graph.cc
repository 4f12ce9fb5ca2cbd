#include "hlo/graph.h"

#include <fmt/format.h>

namespace sapper::hlo {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string_view fill_colour(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Parameter: return "lightyellow";
    case Opcode::Constant: return "white";
    case Opcode::Fusion:
    case Opcode::Call:
    case Opcode::CustomCall: return "lightgrey";
    case Opcode::Dot:
    case Opcode::Convolution: return "lightblue";
    case Opcode::While:
    case Opcode::Conditional: return "mistyrose";
    default: return "honeydew";
  }
}

}  // namespace

std::string to_dot(const Module& module) {
  std::string dot =
      fmt::format("digraph \"{}\" {{\n  node [shape=box, style=filled, fontname=monospace];\n", escaped(module.name));
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    dot += fmt::format("  subgraph cluster_{} {{\n    label=\"{}{}\";\n", c, c == module.entry ? "ENTRY " : "",
                       escaped(computation.name));
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      dot += fmt::format("    n{}_{} [label=\"{}\\n{} {}\", fillcolor={}{}];\n", c, i, escaped(instruction.name),
                         to_string(instruction.opcode), escaped(instruction.shape.to_text(false)),
                         fill_colour(instruction), i == computation.root ? ", penwidth=2" : "");
      for (const InstructionIndex operand : instruction.operands)
        dot += fmt::format("    n{}_{} -> n{}_{};\n", c, operand, c, i);
    }
    dot += "  }\n";
    for (size_t i = 0; i < computation.instructions.size(); ++i)
      for (const ComputationIndex callee : computation.instructions[i].called)
        dot += fmt::format("  n{}_{} -> n{}_{} [style=dashed];\n", c, i, callee, module.computations[callee].root);
  }
  return dot + "}\n";
}

}  // namespace sapper::hlo
