#include "inputs/origins.h"

namespace sapper::inputs {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// A hostile module could make every value reach every instruction.
constexpr size_t most_places = 4096;

bool is_square(const Instruction& instruction) {
  return instruction.opcode == Opcode::Multiply && instruction.operands[0] == instruction.operands[1];
}

}  // namespace

Origins::Origins(const hlo::Module& module) : module_(module), callers_(module.computations.size()) {
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (hlo::InstructionIndex i = 0; i < instructions.size(); ++i)
      for (const hlo::ComputationIndex callee : instructions[i].called) callers_[callee].push_back({c, i});
  }
}

std::set<int64_t> Origins::parameters(const Place& start, const std::set<Opcode>& through) const {
  std::set<int64_t> numbers;
  std::vector<Place> pending{start};
  std::set<Place> seen;
  while (!pending.empty() && seen.size() <= most_places) {
    const Place place = pending.back();
    pending.pop_back();
    if (!seen.insert(place).second) continue;
    const Instruction& instruction = module_.computations[place.computation].instructions[place.instruction];
    if (instruction.opcode != Opcode::Parameter) {
      follow_operands(place, through.contains(instruction.opcode), pending);
    } else if (place.computation != module_.entry) {
      follow_callers(place, pending);
    } else if (place.tuple_element < 0) {
      numbers.insert(instruction.parameter_number);
    }
  }
  return numbers;
}

void Origins::follow_operands(const Place& place, bool through, std::vector<Place>& pending) const {
  const Instruction& instruction = module_.computations[place.computation].instructions[place.instruction];
  const auto follow = [&](size_t operand, int64_t element = -1) {
    pending.push_back({place.computation, instruction.operands[operand], element});
  };
  const auto follow_from = [&](size_t first) {
    for (size_t i = first; i < instruction.operands.size(); ++i) follow(i);
  };
  switch (instruction.opcode) {
    case Opcode::Reshape:
    case Opcode::Broadcast:
    case Opcode::Bitcast:
    case Opcode::Transpose:
    case Opcode::Slice:
    case Opcode::DynamicSlice:
    case Opcode::Convert:
    case Opcode::Copy:
    case Opcode::While: return follow(0, place.tuple_element);
    case Opcode::GetTupleElement: return follow(0, instruction.tuple_index);
    case Opcode::Tuple:
      if (place.tuple_element >= 0) follow(static_cast<size_t>(place.tuple_element));
      return;
    case Opcode::Select: return follow_from(1);
    case Opcode::Concatenate: return follow_from(0);
    default:
      if (through && !is_square(instruction)) follow_from(0);
  }
}

void Origins::follow_callers(const Place& place, std::vector<Place>& pending) const {
  const Instruction& parameter = module_.computations[place.computation].instructions[place.instruction];
  for (const CallSite& site : callers_[place.computation]) {
    const Instruction& caller = module_.computations[site.computation].instructions[site.instruction];
    if (caller.opcode == Opcode::Conditional) continue;
    const auto operand = static_cast<size_t>(caller.opcode == Opcode::While ? 0 : parameter.parameter_number);
    if (operand < caller.operands.size())
      pending.push_back({site.computation, caller.operands[operand], place.tuple_element});
  }
}

}  // namespace sapper::inputs
