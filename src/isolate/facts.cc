#include "isolate/facts.h"

#include <algorithm>
#include <unordered_map>

#include "base/assert.h"
#include "hlo/instruction_hash.h"
#include "isolate/roles.h"
#include "isolate/single_device.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::Hash;
using hlo::Hasher;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

enum Domain : uint64_t { OwnDomain = 32, ComputationDomain };

constexpr int64_t most_instructions = INT64_MAX / 4;

constexpr std::string_view elided = "the text that was read leaves out a constant's value";
constexpr std::string_view no_array = "gives a value that is no array";
constexpr std::string_view split = "an asynchronous operation begins in another computation";
constexpr std::string_view open = "the state of an asynchronous operation goes elsewhere than to its end";

class Gatherer {
 public:
  explicit Gatherer(const Module& module) : module_(module) { all_.resize(module.computations.size()); }

  std::vector<ComputationFacts> gather() {
    for (size_t c = 0; c < all_.size(); ++c) gather(module_.computations[c], all_[c]);
    return std::move(all_);
  }

 private:
  void gather(const Computation& computation, ComputationFacts& facts) {
    const auto& instructions = computation.instructions;
    facts.own.reserve(instructions.size());
    facts.instructions = static_cast<int64_t>(instructions.size());
    Hasher hasher(ComputationDomain);
    hasher.add(uint64_t{computation.is_fusion}).add(computation.root);
    for (const Instruction& instruction : instructions) {
      facts.own.push_back(own(instruction));
      hasher.add(facts.own.back()).add_all(instruction.operands);
      if (facts.problem.empty()) facts.problem = problem(computation, instruction);
      for (const hlo::ComputationIndex called : instruction.called) {
        facts.instructions = std::min(facts.instructions + all_[called].instructions, most_instructions);
        if (facts.problem.empty()) facts.problem = all_[called].problem;
      }
    }
    if (facts.problem.empty() && is_start(computation.root_instruction().opcode)) facts.problem = open;
    facts.hash = hasher.get();
  }

  Hash own(const Instruction& instruction) {
    Hasher hasher(OwnDomain);
    hasher.add(static_cast<uint64_t>(instruction.opcode))
        .add(hlo::hash_shape(instruction.shape))
        .add_all(instruction.dimensions);
    hasher.add(static_cast<uint64_t>(instruction.parameter_number)).add(static_cast<uint64_t>(instruction.tuple_index));
    for (const hlo::ComputationIndex called : instruction.called) hasher.add(all_[called].hash);
    if (instruction.literal != nullptr) {
      const auto [at, is_new] = literals_.try_emplace(instruction.literal.get());
      if (is_new) at->second = hlo::hash_literal(*instruction.literal);
      hasher.add(at->second);
    }
    if (instruction.shared_attributes != nullptr) {
      const auto [at, is_new] = attributes_.try_emplace(instruction.shared_attributes.get());
      if (is_new) at->second = hlo::hash_attributes(module_, *instruction.shared_attributes);
      hasher.add(at->second);
    }
    return hasher.get();
  }

  std::string_view problem(const Computation& computation, const Instruction& instruction) {
    if (instruction.opcode == Opcode::Constant && instruction.literal == nullptr) return elided;
    if (instruction.shape.element_type() == hlo::ElementType::Opaque ||
        instruction.shape.element_type() == hlo::ElementType::Buffer)
      return no_array;
    const auto is_state = [&](InstructionIndex i) { return is_start(computation.instructions[i].opcode); };
    if (!is_start(instruction.opcode) && !is_done(instruction.opcode) &&
        std::any_of(instruction.operands.begin(), instruction.operands.end(), is_state))
      return open;
    const Role role = role_of(computation, instruction);
    if (role == Role::Outside) return outside_reason(instruction);
    if (is_start(instruction.opcode)) return {};  // speaks through its second half
    operands_.clear();
    if (!append_operands(computation, instruction, operands_)) return split;
    if (role != Role::Collective) return {};
    std::vector<hlo::Shape> shapes;
    for (const InstructionIndex operand : operands_) shapes.push_back(computation.instructions[operand].shape);
    return single_device_problem(instruction, shapes);
  }

  const Module& module_;
  std::vector<ComputationFacts> all_;
  std::unordered_map<const hlo::Literal*, Hash> literals_;
  std::unordered_map<const hlo::Attributes*, Hash> attributes_;
  std::vector<InstructionIndex> operands_;
};

}  // namespace

std::vector<ComputationFacts> gather_facts(const Module& module) { return Gatherer(module).gather(); }

bool append_operands(const Computation& computation, const Instruction& instruction,
                     std::vector<InstructionIndex>& operands) {
  if (!is_done(instruction.opcode)) {
    operands.insert(operands.end(), instruction.operands.begin(), instruction.operands.end());
    return true;
  }
  std::vector<const Instruction*> updates;
  const Instruction* at = &computation.instructions[instruction.operands[0]];
  for (; at->opcode == Opcode::AsyncUpdate; at = &computation.instructions[at->operands[0]]) updates.push_back(at);
  if (!is_start(at->opcode)) return false;
  operands.insert(operands.end(), at->operands.begin(), at->operands.end());
  for (; !updates.empty(); updates.pop_back())
    operands.insert(operands.end(), updates.back()->operands.begin() + 1, updates.back()->operands.end());
  return true;
}

const Instruction& start_of(const Computation& computation, const Instruction& done) {
  const Instruction* at = &computation.instructions[done.operands[0]];
  while (at->opcode == Opcode::AsyncUpdate) at = &computation.instructions[at->operands[0]];
  SAPPER_ASSERT(is_start(at->opcode));
  return *at;
}

}  // namespace sapper::isolate
