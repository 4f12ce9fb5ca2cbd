#include "inputs/index_roles.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace sapper::inputs {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// A value: an instruction's result, or the element of it that `tuple_element` selects (-1: all of it).
struct Place {
  ComputationIndex computation;
  InstructionIndex instruction;
  int64_t tuple_element = -1;
  auto operator<=>(const Place&) const = default;
};

struct CallSite {
  ComputationIndex computation;
  InstructionIndex instruction;
};

class Tracer {
 public:
  explicit Tracer(const Module& module) : module_(module), callers_(module.computations.size()) {
    for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
      const auto& instructions = module.computations[c].instructions;
      for (InstructionIndex i = 0; i < instructions.size(); ++i)
        for (const ComputationIndex callee : instructions[i].called) callers_[callee].push_back({c, i});
    }
  }

  // `place` is used as an index of at most `limit`.
  void trace(Place start, int64_t limit) {
    std::vector<Place> pending{start};
    std::set<Place> seen;
    while (!pending.empty()) {
      const Place place = pending.back();
      pending.pop_back();
      if (!seen.insert(place).second || seen.size() > most_places) continue;
      step(place, limit, pending);
    }
  }

  std::map<int64_t, int64_t> roles;

 private:
  // A hostile module could make every index use reach every instruction.
  static constexpr size_t most_places = 4096;

  void step(const Place& place, int64_t limit, std::vector<Place>& pending) {
    const Instruction& instruction = module_.computations[place.computation].instructions[place.instruction];
    const auto follow = [&](size_t operand, int64_t element = -1) {
      pending.push_back({place.computation, instruction.operands[operand], element});
    };
    switch (instruction.opcode) {
      case Opcode::Reshape:
      case Opcode::Broadcast:
      case Opcode::Bitcast:
      case Opcode::Transpose:
      case Opcode::Slice:
      case Opcode::Convert:
      case Opcode::Copy:
      case Opcode::Add: return follow(0, place.tuple_element);
      case Opcode::GetTupleElement: return follow(0, instruction.tuple_index);
      case Opcode::Tuple:
        if (place.tuple_element >= 0) follow(static_cast<size_t>(place.tuple_element));
        return;
      case Opcode::Select: follow(1); return follow(2);
      case Opcode::Concatenate:
        for (size_t i = 0; i < instruction.operands.size(); ++i) follow(i);
        return;
      case Opcode::While: return follow(0, place.tuple_element);
      case Opcode::Parameter: return parameter(place, instruction, limit, pending);
      default: return;
    }
  }

  void parameter(const Place& place, const Instruction& instruction, int64_t limit, std::vector<Place>& pending) {
    if (place.computation == module_.entry) {
      if (place.tuple_element >= 0 || !hlo::is_integer(instruction.shape.element_type())) return;
      const auto [entry, fresh] = roles.emplace(instruction.parameter_number, limit);
      if (!fresh) entry->second = std::min(entry->second, limit);
      return;
    }
    for (const CallSite& site : callers_[place.computation]) {
      const Instruction& caller = module_.computations[site.computation].instructions[site.instruction];
      if (caller.opcode == Opcode::Conditional) continue;
      const auto operand = static_cast<size_t>(caller.opcode == Opcode::While ? 0 : instruction.parameter_number);
      if (operand < caller.operands.size())
        pending.push_back({site.computation, caller.operands[operand], place.tuple_element});
    }
  }

  const Module& module_;
  std::vector<std::vector<CallSite>> callers_;
};

int64_t smallest(int64_t a, int64_t b) { return std::max<int64_t>(0, std::min(a, b)); }

// The largest start index of a gather's windows that fits along every indexed dimension.
int64_t gather_limit(const Computation& computation, const Instruction& gather) {
  const hlo::Shape& operand = computation.instructions[gather.operands[0]].shape;
  const auto& attributes = gather.attributes();
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (const int64_t d : attributes.gather_dimension_numbers().start_index_map())
    limit =
        smallest(limit, operand.dimension(static_cast<size_t>(d)) - attributes.gather_slice_sizes(static_cast<int>(d)));
  return limit;
}

int64_t scatter_limit(const Computation& computation, const Instruction& scatter) {
  const hlo::Shape& operand = computation.instructions[scatter.operands[0]].shape;
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (const int64_t d : scatter.attributes().scatter_dimension_numbers().scatter_dims_to_operand_dims())
    limit = smallest(limit, operand.dimension(static_cast<size_t>(d)) - 1);
  return limit;
}

}  // namespace

std::map<int64_t, int64_t> index_roles(const Module& module) {
  Tracer tracer(module);
  for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    for (const Instruction& instruction : computation.instructions) {
      const auto operand_shape = [&](size_t i) { return computation.instructions[instruction.operands[i]].shape; };
      const auto trace = [&](size_t operand, int64_t limit) {
        tracer.trace({c, instruction.operands[operand]}, limit);
      };
      switch (instruction.opcode) {
        case Opcode::DynamicSlice:
          for (size_t d = 0; d + 1 < instruction.operands.size() && d < operand_shape(0).rank(); ++d)
            trace(d + 1, operand_shape(0).dimension(d) - instruction.shape.dimension(d));
          break;
        case Opcode::DynamicUpdateSlice:
          for (size_t d = 0; d + 2 < instruction.operands.size() && d < operand_shape(0).rank(); ++d)
            trace(d + 2, operand_shape(0).dimension(d) - operand_shape(1).dimension(d));
          break;
        case Opcode::Gather: trace(1, gather_limit(computation, instruction)); break;
        case Opcode::Scatter: trace(instruction.operands.size() / 2, scatter_limit(computation, instruction)); break;
        default: break;
      }
    }
  }
  return tracer.roles;
}

}  // namespace sapper::inputs
