// A plan: one computation compiled to a list of steps on slots, once, whatever the number of times it runs.
//
// A slot holds one array (or token) from the step that makes it to its last use; tuples exist only in the plan, as
// lists of slots. What only renames a value (tuple, get-tuple-element, reshape, copy, ...) costs no step. Elementwise
// operations that feed each other are one step, with the reduction that takes their result if there is one. Such a step
// reads broadcasts, iotas and the like without having them in memory, and gives those of its values that others need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "eval/bitcast.h"
#include "eval/evaluator.h"
#include "eval/fast_reduce.h"
#include "eval/lane_program.h"
#include "eval/op.h"
#include "eval/view.h"
#include "hlo/module.h"

namespace sapper::eval {

using Slot = uint32_t;

// An operand of a step; `dies`: this is the last use of the slot. Or an output; `dies`: nobody uses it.
struct SlotUse {
  Slot slot = 0;
  bool dies = false;
};

// The kinds of steps. Unless said otherwise a step has one output.
struct LaneStep {  // as many outputs as the program has results
  std::unique_ptr<LaneProgram> program;
  std::vector<uint8_t> reusable;  // output 0 may be written over operand i
};
struct ViewStep {
  View view;  // of the operand
};
struct BitcastStep {
  Bitcast bitcast;
};
struct PadStep {};
struct ConcatenateStep {};
struct DynamicSliceStep {};
struct DynamicUpdateSliceStep {};
struct ScatterStep {};
struct ReduceStep {  // operand 0: the init value
  FastReduce reduce;
  // Computes what is reduced from the operands, and the outputs after the first. Null: operand 1 is reduced.
  std::unique_ptr<LaneProgram> program;
};
struct OpStep {
  Op op = nullptr;
};
struct ConstantStep {};
struct ZeroStep {};  // the context of a copy-start or async-start, which says nothing
struct CallStep {
  hlo::ComputationIndex computation = 0;
};
struct WhileStep {
  hlo::ComputationIndex body = 0;
  hlo::ComputationIndex condition = 0;
};
struct ConditionalStep {
  std::vector<uint32_t> branch_operands;  // branch i takes operands [branch_operands[i], branch_operands[i + 1])
};
struct RepackStep {};      // bitcast-convert to or from types narrower than a byte, or to pred
struct RenameStep {};      // no work: traced plans have one for what needs no step
struct SubstituteStep {};  // Options::substitute runs it
struct UnsupportedStep {};

struct Step {
  std::variant<LaneStep, ViewStep, BitcastStep, PadStep, ConcatenateStep, DynamicSliceStep, DynamicUpdateSliceStep,
               ScatterStep, ReduceStep, OpStep, ConstantStep, ZeroStep, CallStep, WhileStep, ConditionalStep,
               RepackStep, RenameStep, SubstituteStep, UnsupportedStep>
      work;
  hlo::InstructionIndex instruction = 0;
  std::vector<SlotUse> operands;
  std::vector<SlotUse> outputs;
};

struct Plan {
  const hlo::Computation* computation = nullptr;
  uint32_t slot_count = 0;
  std::vector<int64_t> slot_bytes;
  std::vector<SlotUse> parameters;  // the leaves of all parameters, in order
  std::vector<Step> steps;
  std::vector<SlotUse> results;  // the leaves of the root; a slot that is there more than once `dies` at the last place
  // Traced plans: the slots of each instruction's leaves.
  std::vector<std::vector<Slot>> instruction_slots;
};

// Tracing: every instruction has a step of its own.
[[nodiscard]] Plan make_plan(const hlo::Module& module, const hlo::Computation& computation, const Options& options);

}  // namespace sapper::eval
