#include "fuzz/holes.h"

#include <algorithm>
#include <charconv>

#include "fuzz/builder.h"
#include "fuzz/rule.h"

namespace sapper::fuzz {
namespace {

using hlo::Computation;
using hlo::Instruction;

constexpr std::string_view stand_in = "sapper hole ";

std::optional<size_t> hole_number(const Instruction& instruction) {
  if (instruction.opcode != hlo::Opcode::CustomCall) return std::nullopt;
  std::string_view target = instruction.attributes().custom_call_target();
  if (!target.starts_with(stand_in)) return std::nullopt;
  target.remove_prefix(stand_in.size());
  size_t number = 0;
  std::from_chars(target.data(), target.data() + target.size(), number);
  return number;
}

Result<std::set<hlo::Opcode>> parse_ops(std::string_view list) {
  std::set<hlo::Opcode> ops;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    const auto opcode = hlo::parse_opcode(word);
    if (!opcode || std::ranges::find(rules(), *opcode, &Rule::opcode) == rules().end())
      return fail(ErrorKind::BadInput, "no rule makes '{}' (docs/fuzzing.md lists the opcodes)", word);
    ops.insert(*opcode);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ops;
}

// Copies the instructions of `from` to the computation at hand of `builder`; returns its root there.
Builder::Index copy(const Computation& from, const std::vector<Hole>& holes,
                    const std::vector<hlo::ComputationIndex>& moved_computations, Builder& builder) {
  std::vector<Builder::Index> moved;
  builder.reserve_parameters(std::ssize(from.parameters()));
  for (const Instruction& instruction : from.instructions) {
    std::vector<Builder::Index> operands;
    for (const hlo::InstructionIndex operand : instruction.operands) operands.push_back(moved[operand]);
    if (const auto number = hole_number(instruction)) {
      const Hole& hole = holes[*number];
      moved.push_back(builder.over(operands, instruction.shape, hole.ops, hole.depth));
      continue;
    }
    const Builder::Index made = builder.add(instruction.opcode, instruction.shape, operands);
    Instruction& copied = builder.at(made);
    copied = instruction;
    copied.id = -1;
    copied.operands = std::move(operands);
    for (hlo::ComputationIndex& called : copied.called) called = moved_computations[called];
    moved.push_back(made);
  }
  return moved[from.root];
}

}  // namespace

Result<std::optional<Hole>> take_hole(std::string& line, size_t number) {
  const size_t call = line.find(" hole(");
  if (call == std::string::npos || line.find("//") < call) return std::nullopt;
  const size_t close = line.find(')', call);
  if (close == std::string::npos) return fail(ErrorKind::BadInput, "')' of the hole's operands is missing");
  Hole hole;
  std::string_view attributes = std::string_view(line).substr(close + 1);
  if (const size_t ops = attributes.find("ops={"); ops != std::string_view::npos) {
    const size_t end = attributes.find('}', ops);
    if (end == std::string_view::npos) return fail(ErrorKind::BadInput, "'}}' of ops={{...}} is missing");
    SAPPER_TRY(hole.ops, parse_ops(attributes.substr(ops + 5, end - ops - 5)));
  }
  if (const size_t depth = attributes.find("depth="); depth != std::string_view::npos) {
    const char* const begin = attributes.data() + depth + 6;
    const auto [end, error] = std::from_chars(begin, attributes.data() + attributes.size(), hole.depth);
    if (error != std::errc() || hole.depth < 1 || hole.depth > 20)
      return fail(ErrorKind::BadInput, "the depth of a hole is 1 to 20");
  }
  line = fmt::format("{} custom-call{}, custom_call_target=\"{}{}\"", line.substr(0, call),
                     line.substr(call + 5, close - call - 4), stand_in, number);
  return hole;
}

hlo::Module fill_holes(const hlo::Module& module, const std::vector<Hole>& holes, const Grammar& grammar,
                       Choices& choices) {
  if (holes.empty()) return module;
  Builder builder(grammar, choices);
  std::vector<hlo::ComputationIndex> moved(module.computations.size());
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    if (c == module.entry) continue;
    const Computation& from = module.computations[c];
    moved[c] = builder.computation(
        from.name, {}, [&](const std::vector<Builder::Index>&) { return copy(from, holes, moved, builder); });
  }
  hlo::Module filled = builder.finish(copy(module.entry_computation(), holes, moved, builder));
  filled.name = module.name;
  return filled;
}

}  // namespace sapper::fuzz
