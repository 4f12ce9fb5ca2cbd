// One run of evaluate(): the values in memory, the plans of the computations met so far, the limits. Steps of like kind
// share a file: execution.cc (the loop, lane and view steps, operations), control_steps.cc, move_steps.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "eval/buffer_pool.h"
#include "eval/evaluator.h"
#include "eval/memory_need.h"
#include "eval/plan.h"

namespace sapper::eval {

// An array in memory. Its shape is known from the instruction; tokens have no bytes.
struct Value {
  Buffer bytes;
  std::shared_ptr<const std::vector<int64_t>> dynamic_sizes;  // null: no dynamic dimension
};

class Execution {
 public:
  Execution(const hlo::Module& module, const Options& options);

  // Runs the entry computation.
  [[nodiscard]] Result<hlo::Literal> run(std::span<const hlo::Literal> arguments);

  // The least memory that a run of the computation takes.
  [[nodiscard]] MemoryNeed need_of(hlo::ComputationIndex computation);

 private:
  [[nodiscard]] Result<hlo::Literal> call(hlo::ComputationIndex computation, std::span<const hlo::Literal> arguments);

  using Frame = std::vector<Value>;  // by slot

  // A step being run, in its place.
  struct Site {
    const Plan& plan;
    const Step& step;
    Frame& frame;
    [[nodiscard]] const hlo::Instruction& instruction() const {
      return plan.computation->instructions[step.instruction];
    }
    [[nodiscard]] const hlo::Instruction& operand(size_t k) const {
      return plan.computation->instructions[instruction().operands[k]];
    }
    [[nodiscard]] const std::byte* data(size_t operand) const {
      return frame[step.operands[operand].slot].bytes->data();
    }
  };

  [[nodiscard]] const Plan& plan_of(hlo::ComputationIndex computation);
  [[nodiscard]] Frame take_frame(const Plan& plan);
  void give_back(Frame&& frame) { spare_frames_.push_back(std::move(frame)); }

  // Runs all steps; the parameters' slots are filled, the results' are afterwards.
  [[nodiscard]] Status run(const Plan& plan, Frame& frame);
  [[nodiscard]] Status run_step(const Site& site);
  // Runs a computation on `arguments`, which it takes; gives its results.
  [[nodiscard]] Result<std::vector<Value>> run_computation(hlo::ComputationIndex computation,
                                                           std::vector<Value> arguments);
  void bind(const Plan& plan, Frame& frame, std::vector<Value>& arguments);
  void take_results(const Plan& plan, Frame& frame, std::vector<Value>& results);

  [[nodiscard]] Status run(const Site& site, const LaneStep& work);
  [[nodiscard]] Status run(const Site& site, const ViewStep& work);
  [[nodiscard]] Status run(const Site& site, const BitcastStep& work);
  [[nodiscard]] Status run(const Site& site, const PadStep& work);
  [[nodiscard]] Status run(const Site& site, const ConcatenateStep& work);
  [[nodiscard]] Status run(const Site& site, const DynamicSliceStep& work);
  [[nodiscard]] Status run(const Site& site, const DynamicUpdateSliceStep& work);
  [[nodiscard]] Status run(const Site& site, const ScatterStep& work);
  [[nodiscard]] Status run(const Site& site, const ReduceStep& work);
  [[nodiscard]] Status run(const Site& site, const OpStep& work);
  [[nodiscard]] Status run(const Site& site, const ConstantStep& work);
  [[nodiscard]] Status run(const Site& site, const ZeroStep& work);
  [[nodiscard]] Status run(const Site& site, const CallStep& work);
  [[nodiscard]] Status run(const Site& site, const WhileStep& work);
  [[nodiscard]] Status run(const Site& site, const ConditionalStep& work);
  [[nodiscard]] Status run(const Site& site, const RepackStep& work);
  [[nodiscard]] Status run(const Site& site, const RenameStep& work);
  [[nodiscard]] Status run(const Site& site, const SubstituteStep& work);
  [[nodiscard]] Status run(const Site& site, const UnsupportedStep& work);

  void point_to_operands(const Site& site);
  [[nodiscard]] Status allocate_lanes(const Site& site, size_t first);
  [[nodiscard]] int64_t start_offset(const Site& site, size_t first, const hlo::Shape& array,
                                     const hlo::Shape& part) const;

  // Memory for an output of the step.
  [[nodiscard]] Status check_room(const Site& site, int64_t bytes) const;
  [[nodiscard]] Result<Buffer> allocate(const Site& site, int64_t bytes);
  [[nodiscard]] Result<std::byte*> allocate_output(const Site& site);
  // Operand k itself when it dies here and nobody else has it, so that the result may be written over it; else null.
  [[nodiscard]] Buffer take_if_sole(const Site& site, size_t k);
  // The operands' values: moved out of the slots that die here.
  [[nodiscard]] std::vector<Value> take_operands(const Site& site, size_t first, size_t end);
  [[nodiscard]] hlo::Literal literal(const hlo::Shape& shape, std::span<const Value*> leaves, size_t& next) const;
  [[nodiscard]] std::vector<hlo::Literal> operand_literals(const Site& site) const;
  [[nodiscard]] OpContext op_context(const Site& site);
  [[nodiscard]] Status set_result(const Site& site, hlo::Literal result);  // which must have the stated shape
  void set_output(const Site& site, size_t output, Value value);
  void set_outputs(const Site& site, hlo::Literal result);
  void append_leaves(hlo::Literal result, std::vector<Value>& values);

  [[nodiscard]] Status check_time(const hlo::Instruction& instruction) const;
  [[nodiscard]] Status count_iteration(const hlo::Instruction& instruction);
  void trace(const Site& site) const;

  const hlo::Module& module_;
  const Options& options_;
  BufferPool pool_;
  std::vector<std::unique_ptr<Plan>> plans_;  // by computation; null: not needed yet
  std::vector<std::optional<MemoryNeed>> needs_;
  std::vector<Frame> spare_frames_;
  std::vector<const std::byte*> operand_pointers_;  // of the lane program that runs
  std::vector<std::byte*> result_pointers_;
  int64_t iterations_ = 0;
  int untraced_ = 0;        // how deep inside computations that a trace does not enter
  DeadlineScope deadline_;  // of the thread that executes
};

}  // namespace sapper::eval
