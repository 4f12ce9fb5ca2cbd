// ScalarProgram: a computation on scalars (a reducer, comparator, combiner, map body) compiled once to a flat list of
// typed steps over lanes (lane.h), so that applying it to millions of elements costs nanoseconds each. Exact: each step
// works in, and rounds to, its own type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/lane_function.h"
#include "hlo/module.h"

namespace sapper::eval {

class ScalarProgram {
 public:
  using Register = uint32_t;

  struct Step {
    LaneOperation operation;
    const hlo::Instruction* instruction;
    Register result;
    Register operands[3];
    uint32_t operand_count;
  };

  // Most elements that one run takes.
  static constexpr size_t block = 128;

  // nullopt when the computation is not made of scalar elementwise operations (then OpContext::call serves). The module
  // must outlive the program.
  [[nodiscard]] static std::optional<ScalarProgram> compile(const hlo::Module& module,
                                                            hlo::ComputationIndex computation);

  // Applies the program to n <= block elements at once: inputs[i] are n lanes of parameter i, outputs[k] receives n
  // lanes of the root (of its element k when it is a tuple) and may be an input with lanes of the same size. Not
  // thread-safe: each thread copies the program.
  void run(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs);

  [[nodiscard]] size_t parameter_count() const { return parameter_types_.size(); }
  [[nodiscard]] size_t output_count() const { return outputs_.size(); }
  [[nodiscard]] hlo::ElementType parameter_type(size_t i) const { return parameter_types_[i]; }
  [[nodiscard]] hlo::ElementType output_type(size_t k) const { return register_types_[outputs_[k]]; }

  // The one binary operation on parameters 0 and 1 that the whole program is, when it is add, multiply, maximum,
  // minimum, and, or, xor, in either order of operands.
  [[nodiscard]] std::optional<hlo::Opcode> single_operation() const;
  // The parameter that output k is, unchanged.
  [[nodiscard]] std::optional<size_t> forwarded_parameter(size_t k) const;

  // For those who look for patterns. Registers below parameter_count() are the parameters; others are constants or the
  // result of one step.
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  [[nodiscard]] Register output(size_t k) const { return outputs_[k]; }
  [[nodiscard]] hlo::ElementType register_type(Register r) const { return register_types_[r]; }
  // The lane of a constant; empty for other registers.
  [[nodiscard]] std::span<const std::byte> constant(Register r) const;
  // The program with the same parameters that computes register `r` only.
  [[nodiscard]] ScalarProgram computing(Register r) const;

 private:
  friend class ScalarCompiler;
  struct Storage {  // where a register's lanes are: at `begin` of memory_
    size_t begin = 0;
    bool is_constant = false;
  };

  std::vector<Step> steps_;
  std::vector<hlo::ElementType> parameter_types_;
  std::vector<Register> outputs_;
  std::vector<hlo::ElementType> register_types_;
  std::vector<Storage> storage_;
  std::vector<std::byte> memory_;
};

}  // namespace sapper::eval
