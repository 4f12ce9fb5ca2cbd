// Plan: what a piece consists of, before it is built. Making and hashing one is cheap, so that of the thousands of
// places where a piece stands only the first is built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isolate/constants.h"
#include "isolate/facts.h"

namespace sapper::isolate {

struct PlanNode {
  enum class What : uint8_t {
    Parameter,  // an array from outside: `instruction`, leaf `index`
    Copy,       // an instruction of the source, its operands those of append_operands
    Splat,      // a constant of one value, as the broadcast of a scalar
    Tuple,      // of the operands
    Element,    // number `index` of the operand, a tuple
    Token,
  };
  What what = What::Parameter;
  hlo::InstructionIndex instruction = 0;
  uint32_t index = 0;
  uint32_t first_operand = 0;  // in Plan::operands, which are numbers of nodes
  uint32_t operand_count = 0;
  hlo::Shape shape;  // of Parameter, Tuple and Element; memory spaces as in the source
};

struct Plan {
  std::vector<PlanNode> nodes;  // operands come first
  std::vector<uint32_t> operands;
  uint32_t root = 0;
  std::vector<ValueRef> inputs;     // of the Parameter nodes, in their order
  std::vector<ValueRef> outputs;    // the leaves of the root
  std::vector<uint32_t> constants;  // of inputs: those that are constants of the source
  std::string_view problem;         // why there can be no such piece; empty: there can
};

// Makes plans for one computation after the other.
class Planner {
 public:
  Planner(const hlo::Module& module, const std::vector<ComputationFacts>& facts, ConstantFates& fates)
      : module_(module), facts_(facts), fates_(fates) {}

  void enter(hlo::ComputationIndex computation);

  // The piece that computes `outputs`, some of `members`, which ascend, from what members use. The plan is valid until
  // the next call.
  const Plan& plan(std::span<const hlo::InstructionIndex> members, std::span<const hlo::InstructionIndex> outputs);

  // The entered computation itself, with its parameters, as one that pieces call.
  const Plan& plan_called();

  // Equal hashes: equal pieces.
  [[nodiscard]] hlo::Hash hash(const Plan& plan) const;

  // Whether pieces hold a copy of `instruction` rather than take its value from outside: constants, their
  // broadcasts, iotas.
  [[nodiscard]] bool is_copied(const hlo::Instruction& instruction);

 private:
  void reset();
  void add_member(hlo::InstructionIndex member);
  uint32_t resolve(hlo::InstructionIndex value);
  uint32_t resolve_new(hlo::InstructionIndex value);
  uint32_t resolve_element(hlo::InstructionIndex element);
  uint32_t outside(hlo::InstructionIndex value, const hlo::Shape& shape, uint32_t& leaf);
  uint32_t copy(hlo::InstructionIndex index);
  uint32_t add(PlanNode node, std::span<const uint32_t> operands = {});
  uint32_t constant(hlo::InstructionIndex value);
  void append_leaves(uint32_t node, const hlo::Shape& shape, std::vector<uint32_t>& leaves,
                     std::vector<hlo::Shape>& shapes);
  void set_root(std::span<const hlo::InstructionIndex> outputs);

  [[nodiscard]] const hlo::Instruction& at(hlo::InstructionIndex i) const { return computation_->instructions[i]; }

  const hlo::Module& module_;
  const std::vector<ComputationFacts>& facts_;
  ConstantFates& fates_;
  const hlo::Computation* computation_ = nullptr;
  hlo::ComputationIndex index_ = 0;
  bool is_called_ = false;  // plan_called: parameters and constants stay as they are
  Plan plan_;
  // The node of each value, where its stamp is that of the current plan.
  std::vector<uint32_t> node_of_;
  std::vector<uint32_t> stamp_of_;
  uint32_t stamp_ = 0;
};

}  // namespace sapper::isolate
