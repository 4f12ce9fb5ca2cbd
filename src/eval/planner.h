// How a plan is made, in three passes over a computation's instructions: what each is and which slots hold it
// (planner.cc), which elementwise operations go together and which views stay views (plan_groups.cc), the steps
// (plan_steps.cc, plan_lanes.cc).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "eval/plan.h"

namespace sapper::eval {

class Planner {
 public:
  Planner(const hlo::Module& module, const hlo::Computation& computation, const Options& options)
      : module_(module),
        computation_(computation),
        options_(options),
        traced_(options.trace),
        nodes_(computation.instructions.size()) {}

  Plan make();

 private:
  using InstructionIndex = hlo::InstructionIndex;
  static constexpr uint32_t none = ~uint32_t{0};

  // How the value of an instruction comes about.
  enum class Role : uint8_t {
    Unneeded,
    Rename,  // other slots under this name
    Lane,    // an elementwise operation
    Reduce,  // a FastReduce, of what a lane program computes where nobody else needs that
    View,    // strides over another slot (or over a counter: iota), read in place by lane steps where that is fast
    Constant,
    Step,        // anything else: a step of its own
    Substitute,  // Options::substitute runs it
  };

  struct Node {
    Role role = Role::Unneeded;
    uint32_t first_leaf = 0;  // in leaves_
    uint32_t leaves = 0;
    uint32_t group = none;
    bool in_place = false;  // views and constants: no step; lane steps read it where it is
    std::optional<LaneOperation> operation;
    // View: what it is of. A counter when `base` is none.
    Slot base = none;
    hlo::ElementType base_type = hlo::ElementType::Invalid;
    View view;
  };

  // Elementwise operations that become one step: a lane step, or that of the reduction which takes their result.
  struct Group {
    InstructionIndex root = 0;  // the last of them, or the reduction: where the step is
    int64_t element_count = 0;
    std::vector<InstructionIndex> members;  // last first
    std::vector<InstructionIndex> results;  // members that others need too, beside the root
  };

  // Who uses a slot, as far as its users have been seen.
  struct Users {
    std::vector<uint32_t> groups;   // whose members read its lanes one for one
    InstructionIndex first = none;  // the first step that reads it otherwise
    bool elsewhere = false;         // there is one
    bool needs_memory = false;      // and it cannot read views in place
    [[nodiscard]] bool any() const { return elsewhere || !groups.empty(); }
  };

  [[nodiscard]] const hlo::Instruction& instruction(InstructionIndex i) const { return computation_.instructions[i]; }
  [[nodiscard]] std::span<const Slot> slots_of(InstructionIndex i) const {
    return std::span(leaves_).subspan(nodes_[i].first_leaf, nodes_[i].leaves);
  }
  [[nodiscard]] Slot slot_of(InstructionIndex i) const { return leaves_[nodes_[i].first_leaf]; }
  [[nodiscard]] const hlo::Shape& operand_shape(const hlo::Instruction& user, size_t k) const {
    return instruction(user.operands[k]).shape;
  }
  // Does a dynamic dimension of result or operands need looking after?
  [[nodiscard]] bool is_dynamic(const hlo::Instruction& user) const;
  // Is a lane of one type, bit for bit, a lane of the other?
  [[nodiscard]] static bool lanes_are_bits(hlo::ElementType from, hlo::ElementType to);

  // planner.cc: slots and roles, operands first.
  void find_needed();
  Slot new_slot(InstructionIndex i, const hlo::Shape& leaf);
  void define(InstructionIndex i, Role role);
  void rename(InstructionIndex i, InstructionIndex of, uint32_t first, uint32_t count);
  void rename(InstructionIndex i, InstructionIndex of) { rename(i, of, 0, nodes_[of].leaves); }
  void rename_leaves(InstructionIndex i, const std::vector<Slot>& slots);
  void rename_element(InstructionIndex i, size_t element);
  void assign(InstructionIndex i);
  void assign_start(InstructionIndex i);
  void assign_bitcast(InstructionIndex i);
  void assign_bitcast_convert(InstructionIndex i);
  void assign_view(InstructionIndex i);
  void assign_reduce(InstructionIndex i);
  void assign_operation(InstructionIndex i);

  // plan_groups.cc: which operations go together, users first.
  void form_groups();
  void join_groups(InstructionIndex i);
  [[nodiscard]] std::vector<uint32_t> groups_to_join(InstructionIndex i);
  [[nodiscard]] bool has_room_for(uint32_t group, InstructionIndex i) const;
  [[nodiscard]] bool is_cheap(InstructionIndex i) const;
  void take_operand(InstructionIndex reduce);
  void place_view(InstructionIndex i);
  uint32_t new_group(InstructionIndex root, int64_t element_count);
  void use_by_group(InstructionIndex i, size_t operand, uint32_t group);
  void use_elsewhere(Slot slot, InstructionIndex step);
  void use_in_memory(Slot slot, InstructionIndex step);
  [[nodiscard]] bool is_immediate(InstructionIndex i) const;
  [[nodiscard]] bool lanes_of_slot_are(Slot slot, const hlo::Shape& shape) const;

  // plan_lanes.cc: steps with lane programs.
  void emit_lanes(InstructionIndex i);
  void emit_counter(InstructionIndex i);
  void emit_reduce(InstructionIndex i);
  [[nodiscard]] std::unique_ptr<LaneProgram> program_of(const Group& group, InstructionIndex result, Step& step);
  LaneProgram::Source source_of(Step& step, Slot slot, hlo::ElementType type, int64_t elements, int64_t count);
  [[nodiscard]] static LaneProgram::Source counter(const Node& node);
  [[nodiscard]] static LaneProgram::Source immediate(const hlo::Instruction& constant);
  [[nodiscard]] static uint32_t operand_index(Step& step, Slot slot);

  // plan_steps.cc: all other steps, in the order of the instructions.
  void emit(InstructionIndex i);
  void emit_view(InstructionIndex i);
  void emit_step(InstructionIndex i);
  void emit_dynamic_step(InstructionIndex i);
  void emit_start(InstructionIndex i);
  size_t emit_async_call(InstructionIndex i, const std::vector<Slot>& own);
  [[nodiscard]] std::optional<hlo::ComputationIndex> wrapped_computation(InstructionIndex i) const;
  [[nodiscard]] bool is_offload(const hlo::Instruction& call) const;
  void emit_conditional(InstructionIndex i);
  Step& add_step(InstructionIndex i, decltype(Step::work) work);
  void add_operands(Step& step, const hlo::Instruction& it);
  void add_plain_step(InstructionIndex i, decltype(Step::work) work);
  void mark_last_uses();

  // plan_types.cc: does the value of `i` have the bytes that its shape says, whatever else the verifier lets pass?
  [[nodiscard]] bool types_agree(InstructionIndex i) const;
  [[nodiscard]] bool leaves_agree(std::span<const Slot> slots, const hlo::Shape& shape) const;

  const hlo::Module& module_;
  const hlo::Computation& computation_;
  const Options& options_;
  const bool traced_;
  std::vector<Node> nodes_;
  std::vector<bool> needed_;
  std::vector<Slot> leaves_;
  std::vector<InstructionIndex> definition_;  // of each slot
  std::vector<hlo::ElementType> slot_types_;  // as defined
  std::vector<Users> users_;                  // of each slot
  std::vector<Group> groups_;
  std::map<InstructionIndex, std::optional<Bitcast>> bitcasts_;
  std::map<InstructionIndex, FastReduce> reduces_;
  std::map<InstructionIndex, std::vector<Slot>> own_leaves_;  // of starts: those that are no renamed operands
  Plan plan_;
};

}  // namespace sapper::eval
