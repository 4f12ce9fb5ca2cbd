// ScalarFunction: a called computation as a function of scalars: a ScalarProgram where it can be compiled, else
// interpreted through OpContext::call, one element at a time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "eval/op.h"
#include "eval/scalar_program.h"

namespace sapper::eval {

class ScalarFunction {
 public:
  static constexpr size_t block = ScalarProgram::block;

  // Called computation `which` of the instruction. It will get elements of the types `arguments` and give values of the
  // types `results` (none: of its own). With mixed precision arguments may be narrower floats than the parameters, and
  // results narrower than the root, to which they are then rounded. Unsupported where even the lanes differ.
  [[nodiscard]] static Result<ScalarFunction> make(const OpContext& context, size_t which,
                                                   std::span<const hlo::ElementType> arguments,
                                                   std::span<const hlo::ElementType> results = {});

  // As ScalarProgram::run; errors come from interpretation only.
  [[nodiscard]] Status run(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs);

  // Null when the computation is interpreted: then only one thread may run it.
  [[nodiscard]] const ScalarProgram* program() const { return program_ ? &*program_ : nullptr; }

  // The type of output k, before it is rounded to a result's.
  [[nodiscard]] hlo::ElementType output_type(size_t k) const { return output_types_[k]; }

 private:
  ScalarFunction(const OpContext& context, hlo::ComputationIndex computation);
  [[nodiscard]] Status interpret(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs) const;

  const OpContext* context_;
  hlo::ComputationIndex computation_;
  std::vector<hlo::ElementType> parameter_types_;
  std::vector<hlo::ElementType> output_types_;
  std::vector<LaneFunction> narrow_;  // of each result; null: nothing to round
  std::optional<ScalarProgram> program_;
};

}  // namespace sapper::eval
