// Edits that leave instructions out: results, what comes after the failure, what comes before it, what is between.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "eval/evaluator.h"
#include "hlo/rewriter.h"
#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Literal;
using hlo::Opcode;

Computation& entry_of(Program& program) { return program.module.computations[program.module.entry]; }

bool is_leaf(const Instruction& instruction) {
  return instruction.operands.empty() && instruction.called.empty() && instruction.opcode != Opcode::Iota;
}

// The values of the entry's instructions, by name.
using Values = std::map<std::string, Literal>;

// Empty where the evaluator does not run it, or where that takes more memory than it is worth.
std::shared_ptr<const Values> values_of(const Program& program) {
  constexpr int64_t most_bytes = int64_t{2} << 30;
  constexpr double most_seconds = 60;
  constexpr int64_t most_iterations = 1'000'000;
  auto values = std::make_shared<Values>();
  int64_t room = most_bytes;
  const std::string& entry = program.module.entry_computation().name;
  eval::Options options{.iteration_limit = most_iterations, .time_limit_seconds = most_seconds};
  options.trace = [&](const Computation& computation, const Instruction& instruction, const Literal& value) {
    if (computation.name != entry) return;
    room -= value.shape().host_byte_size();
    if (room > 0) values->insert_or_assign(instruction.name, value);
  };
  if (!eval::evaluate(program.module, program.arguments, options)) values->clear();
  return values;
}

// A parameter of the entry with this argument.
Instruction parameter_with(Program& program, const std::string& name, const hlo::Shape& shape,
                           const Literal& argument) {
  Instruction parameter;
  parameter.opcode = Opcode::Parameter;
  parameter.name = name;
  parameter.shape = shape;
  parameter.parameter_number = static_cast<int64_t>(program.arguments.size());
  program.arguments.push_back(argument);
  return parameter;
}

// Whether a value can be an argument: arrays, or one tuple of them.
bool can_be_argument(const hlo::Shape& shape) {
  return shape.is_array() || (shape.is_tuple() && !shape.elements().empty() &&
                              std::ranges::all_of(shape.elements(), &hlo::Shape::is_array));
}

// Makes arguments of the values of `cut_off` that others need.
bool make_arguments(Program& program, const std::set<InstructionIndex>& cut_off, const Values& values) {
  const Computation from = program.module.entry_computation();
  std::set<InstructionIndex> needed;
  for (InstructionIndex i = 0; i < from.instructions.size(); ++i)
    if (!cut_off.contains(i))
      for (const InstructionIndex operand : from.instructions[i].operands)
        if (cut_off.contains(operand)) needed.insert(operand);
  for (const InstructionIndex i : needed)
    if (!can_be_argument(from.instructions[i].shape) || !values.contains(from.instructions[i].name)) return false;
  if (needed.empty()) return false;
  hlo::Rewriter rewriter(from);
  InstructionIndex index = 0;
  entry_of(program) = rewriter.run([&](const Instruction& instruction) -> InstructionIndex {
    const InstructionIndex i = index++;
    if (!needed.contains(i)) return rewriter.copy(instruction, rewriter.moved_operands(instruction));
    const Literal& value = values.at(instruction.name);
    if (instruction.shape.is_array())
      return rewriter.copy(parameter_with(program, instruction.name, instruction.shape, value), {});
    std::vector<InstructionIndex> elements;
    for (size_t k = 0; k < value.elements().size(); ++k)
      elements.push_back(rewriter.copy(parameter_with(program, fmt::format("{}.part{}", instruction.name, k),
                                                      instruction.shape.elements()[k], value.elements()[k]),
                                       {}));
    Instruction tuple;
    tuple.opcode = Opcode::Tuple;
    tuple.name = instruction.name;
    tuple.shape = instruction.shape;
    return rewriter.copy(std::move(tuple), std::move(elements));
  });
  return true;
}

// Puts `other`, which must come before it, in the place of an instruction.
void replace(Computation& computation, const std::map<InstructionIndex, InstructionIndex>& others) {
  const Computation from = computation;
  hlo::Rewriter rewriter(from);
  InstructionIndex index = 0;
  computation = rewriter.run([&](const Instruction& instruction) -> InstructionIndex {
    const auto other = others.find(index++);
    if (other != others.end()) return rewriter.moved(other->second);
    return rewriter.copy(instruction, rewriter.moved_operands(instruction));
  });
}

// The operands of the same shape, each once.
std::vector<InstructionIndex> alike_operands(const Computation& computation, const Instruction& instruction) {
  std::vector<InstructionIndex> alike;
  for (const InstructionIndex operand : instruction.operands)
    if (computation.instructions[operand].shape.same_ignoring_layout(instruction.shape) &&
        std::ranges::find(alike, operand) == alike.end())
      alike.push_back(operand);
  return alike;
}

}  // namespace

size_t results(const Program& program) {
  const Instruction& root = program.module.entry_computation().root_instruction();
  return root.opcode == Opcode::Tuple ? root.operands.size() : 0;
}

std::vector<Edit> keep_results(const Program& program, size_t chunk) {
  const size_t all = results(program);
  std::vector<Edit> edits;
  if (chunk == 1)
    for (size_t k = 0; k < all; ++k)
      edits.push_back({fmt::format("only result {}", k), [k](Program& edited) {
                         Computation& entry = entry_of(edited);
                         entry.root = entry.root_instruction().operands[k];
                         return true;
                       }});
  for (size_t first = 0; first < all && all > 1; first += chunk)
    edits.push_back({fmt::format("without results {} on", first), [first, chunk](Program& edited) {
                       Instruction& root = entry_of(edited).instructions[entry_of(edited).root];
                       std::vector<hlo::Shape> shapes = root.shape.elements();
                       const auto end = std::min(first + chunk, root.operands.size());
                       if (end - first == root.operands.size()) return false;
                       const auto erase = [&](auto& from) {
                         from.erase(from.begin() + static_cast<int64_t>(first),
                                    from.begin() + static_cast<int64_t>(end));
                       };
                       erase(root.operands);
                       erase(shapes);
                       root.shape = hlo::Shape::tuple(std::move(shapes));
                       return true;
                     }});
  return edits;
}

std::vector<Edit> end_earlier(const Program& program, size_t chunk) {
  const Computation& entry = program.module.entry_computation();
  std::vector<InstructionIndex> ends;
  constexpr size_t parts = 8;
  for (size_t k = 1; k < parts; ++k)
    ends.push_back(static_cast<InstructionIndex>(entry.instructions.size() * k / parts));
  for (const InstructionIndex operand : entry.root_instruction().operands) {
    ends.push_back(operand);
    const auto& further = entry.instructions[operand].operands;
    ends.insert(ends.end(), further.begin(), further.end());
  }
  std::vector<Edit> edits;
  for (const InstructionIndex end : ends) {
    const Instruction& instruction = entry.instructions[end];
    if (chunk != 1 || end == entry.root || is_leaf(instruction) || !can_be_argument(instruction.shape)) continue;
    edits.push_back({fmt::format("ends with {}", instruction.name), [end](Program& edited) {
                       entry_of(edited).root = end;
                       return true;
                     }});
  }
  return edits;
}

size_t entry_instructions(const Program& program) { return program.module.entry_computation().instructions.size(); }

std::vector<Edit> cut(const Program& program, size_t chunk) {
  const Computation& entry = program.module.entry_computation();
  const auto values = values_of(program);
  std::vector<Edit> edits;
  for (size_t first = 0; first < entry.instructions.size(); first += chunk) {
    std::set<InstructionIndex> cut_off;
    for (size_t i = first; i < std::min(first + chunk, entry.instructions.size()); ++i)
      if (i != entry.root && !is_leaf(entry.instructions[i])) cut_off.insert(static_cast<InstructionIndex>(i));
    if (cut_off.empty()) continue;
    edits.push_back({fmt::format("takes {} as arguments", entry.instructions[*cut_off.begin()].name),
                     [cut_off, values](Program& edited) { return make_arguments(edited, cut_off, *values); }});
  }
  return edits;
}

size_t all_instructions(const Program& program) { return static_cast<size_t>(program.module.instruction_count()); }

std::vector<Edit> bypass(const Program& program, size_t chunk) {
  std::vector<Edit> edits;
  for (ComputationIndex c = 0; c < program.module.computations.size(); ++c) {
    const Computation& computation = program.module.computations[c];
    for (size_t first = 0; first < computation.instructions.size(); first += chunk) {
      std::map<InstructionIndex, InstructionIndex> others;
      for (size_t i = first; i < std::min(first + chunk, computation.instructions.size()); ++i) {
        const auto index = static_cast<InstructionIndex>(i);
        for (const InstructionIndex operand : alike_operands(computation, computation.instructions[i])) {
          if (chunk == 1)
            edits.push_back({fmt::format("{} in the place of {}", computation.instructions[operand].name,
                                         computation.instructions[i].name),
                             [c, index, operand](Program& edited) {
                               replace(edited.module.computations[c], {{index, operand}});
                               return true;
                             }});
          others.try_emplace(index, operand);
        }
      }
      if (chunk > 1 && !others.empty())
        edits.push_back({fmt::format("bypasses {} instructions", others.size()), [c, others](Program& edited) {
                           replace(edited.module.computations[c], others);
                           return true;
                         }});
    }
  }
  return edits;
}

std::vector<Edit> merge(const Program& program, size_t chunk) {
  constexpr size_t most_instructions = 64;  // there are as many pairs as their square
  std::vector<Edit> edits;
  const Computation& entry = program.module.entry_computation();
  if (chunk != 1 || entry.instructions.size() > most_instructions) return edits;
  for (InstructionIndex i = 0; i < entry.instructions.size(); ++i)
    for (InstructionIndex other = 0; other < i; ++other) {
      const auto& alike = entry.instructions[other];
      if (!is_leaf(alike) || !alike.shape.same_ignoring_layout(entry.instructions[i].shape)) continue;
      if (std::ranges::find(entry.instructions[i].operands, other) != entry.instructions[i].operands.end()) continue;
      edits.push_back(
          {fmt::format("{} in the place of {}", alike.name, entry.instructions[i].name), [i, other](Program& edited) {
             replace(entry_of(edited), {{i, other}});
             return true;
           }});
    }
  return edits;
}

}  // namespace sapper::reduce
