// Edits that enter what is called: bodies of calls, fusions, branches and loops in the place of their calls; and loops
// with less state.
#include <algorithm>

#include "hlo/rewriter.h"
#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;

// Puts the body of `callee` in the place of an instruction: its parameter k is operand `arguments[k]` of it.
void put_body(Program& program, ComputationIndex caller, InstructionIndex at, ComputationIndex callee,
              const std::vector<size_t>& arguments) {
  const Computation from = program.module.computations[caller];
  const Computation& body = program.module.computations[callee];
  hlo::Rewriter rewriter(from);
  InstructionIndex index = 0;
  program.module.computations[caller] = rewriter.run([&](const Instruction& instruction) -> InstructionIndex {
    const std::vector<InstructionIndex> operands = rewriter.moved_operands(instruction);
    if (index++ != at) return rewriter.copy(instruction, operands);
    std::vector<InstructionIndex> moved;
    for (const Instruction& inner : body.instructions) {
      if (inner.opcode == Opcode::Parameter) {
        moved.push_back(operands[arguments[static_cast<size_t>(inner.parameter_number)]]);
        continue;
      }
      std::vector<InstructionIndex> inner_operands;
      for (const InstructionIndex operand : inner.operands) inner_operands.push_back(moved[operand]);
      moved.push_back(rewriter.copy(inner, std::move(inner_operands)));
    }
    return moved[body.root];
  });
}

// What may stand in the place of a call: which of the called computations, with which operands as its arguments.
struct Body {
  size_t called = 0;
  std::vector<size_t> arguments;
};

std::vector<Body> bodies_of(const Instruction& instruction) {
  std::vector<Body> bodies;
  std::vector<size_t> all;
  for (size_t k = 0; k < instruction.operands.size(); ++k) all.push_back(k);
  switch (instruction.opcode) {
    case Opcode::Call:
    case Opcode::Fusion: return {{0, all}};
    case Opcode::While: return {{0, {0}}};  // one iteration
    case Opcode::Conditional:
      for (size_t branch = 0; branch < instruction.called.size(); ++branch) bodies.push_back({branch, {branch + 1}});
      return bodies;
    default: return {};
  }
}

// Element k of a loop's state: who takes it from the parameter of a computation.
std::vector<InstructionIndex> takers(const Computation& computation, InstructionIndex state, int64_t element) {
  std::vector<InstructionIndex> found;
  for (InstructionIndex i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode == Opcode::GetTupleElement && instruction.operands[0] == state &&
        instruction.tuple_index == element)
      found.push_back(i);
  }
  return found;
}

bool only_taken_apart(const Computation& computation, InstructionIndex state) {
  if (computation.root == state) return false;
  return std::ranges::all_of(computation.instructions, [&](const Instruction& instruction) {
    return std::ranges::find(instruction.operands, state) == instruction.operands.end() ||
           instruction.opcode == Opcode::GetTupleElement;
  });
}

// Whether nobody looks at element k but for passing it on as element k.
bool is_idle(const Computation& computation, InstructionIndex state, int64_t element, bool passes_on) {
  for (const InstructionIndex taker : takers(computation, state, element)) {
    if (computation.root == taker) return false;
    for (InstructionIndex user = 0; user < computation.instructions.size(); ++user) {
      const auto& operands = computation.instructions[user].operands;
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k] == taker && !(passes_on && user == computation.root && static_cast<int64_t>(k) == element))
          return false;
    }
  }
  return true;
}

hlo::Shape without_element(const hlo::Shape& shape, int64_t element) {
  std::vector<hlo::Shape> elements = shape.elements();
  elements.erase(elements.begin() + element);
  return hlo::Shape::tuple(std::move(elements));
}

// The state without element k: the tuple's shape, and the numbers of those behind it.
void narrow_state(Computation& computation, InstructionIndex state, int64_t element) {
  computation.instructions[state].shape = without_element(computation.instructions[state].shape, element);
  for (Instruction& instruction : computation.instructions) {
    if (instruction.opcode != Opcode::GetTupleElement || instruction.operands[0] != state) continue;
    if (instruction.tuple_index == element) {  // dead: takes what is there instead, until it is cleaned away
      instruction.tuple_index = 0;
      instruction.shape = computation.instructions[state].shape.elements()[0];
    } else if (instruction.tuple_index > element) {
      --instruction.tuple_index;
    }
  }
}

void narrow_tuple(Computation& computation, InstructionIndex tuple, int64_t element) {
  Instruction& instruction = computation.instructions[tuple];
  instruction.operands.erase(instruction.operands.begin() + element);
  instruction.shape = without_element(instruction.shape, element);
}

bool drop_element(Program& program, ComputationIndex c, InstructionIndex loop, int64_t element) {
  Computation& outer = program.module.computations[c];
  const Instruction& instruction = outer.instructions[loop];
  const InstructionIndex init = instruction.operands[0];
  Computation& body = program.module.computations[instruction.called[0]];
  Computation& condition = program.module.computations[instruction.called[1]];
  const InstructionIndex in_body = body.parameters()[0];
  const InstructionIndex in_condition = condition.parameters()[0];
  const bool is_plain = outer.instructions[init].opcode == Opcode::Tuple &&
                        body.root_instruction().opcode == Opcode::Tuple && only_taken_apart(outer, loop) &&
                        only_taken_apart(body, in_body) && only_taken_apart(condition, in_condition);
  const auto users_of_init = std::ranges::count_if(outer.instructions, [&](const Instruction& user) {
    return std::ranges::find(user.operands, init) != user.operands.end();
  });
  if (!is_plain || users_of_init != 1 || outer.root == init) return false;
  if (!is_idle(outer, loop, element, false) || !is_idle(condition, in_condition, element, false) ||
      !is_idle(body, in_body, element, true))
    return false;
  narrow_tuple(outer, init, element);
  narrow_state(outer, loop, element);
  narrow_state(condition, in_condition, element);
  narrow_tuple(body, body.root, element);
  narrow_state(body, in_body, element);
  return true;
}

template <class Visit>
void for_each_place(const Program& program, Visit&& visit) {
  for (ComputationIndex c = 0; c < program.module.computations.size(); ++c)
    for (InstructionIndex i = 0; i < program.module.computations[c].instructions.size(); ++i)
      visit(c, i, program.module.computations[c].instructions[i]);
}

}  // namespace

std::vector<Edit> enter(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  for_each_place(program, [&](ComputationIndex c, InstructionIndex i, const Instruction& instruction) {
    for (const Body& body : bodies_of(instruction))
      edits.push_back({fmt::format("enters {}", instruction.name), [c, i, body](Program& edited) {
                         const ComputationIndex callee =
                             edited.module.computations[c].instructions[i].called[body.called];
                         put_body(edited, c, i, callee, body.arguments);
                         return true;
                       }});
  });
  return edits;
}

std::vector<Edit> drop_state(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  for_each_place(program, [&](ComputationIndex c, InstructionIndex i, const Instruction& instruction) {
    if (instruction.opcode != Opcode::While || instruction.shape.elements().size() < 2) return;
    for (int64_t element = 0; element < static_cast<int64_t>(instruction.shape.elements().size()); ++element)
      edits.push_back({fmt::format("{} without element {}", instruction.name, element),
                       [c, i, element](Program& edited) { return drop_element(edited, c, i, element); }});
  });
  return edits;
}

}  // namespace sapper::reduce
