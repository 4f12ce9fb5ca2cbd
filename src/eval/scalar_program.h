// ScalarProgram: a computation on scalars (a reducer, comparator, combiner, map body) compiled once to a flat list of
// typed steps, so that applying it to millions of elements costs nanoseconds each. Exact: each step works in its own
// type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace sapper::eval {

// One scalar of any element type, as the bytes that a Literal would hold, low bytes first (c128 takes both words).
struct Scalar {
  uint64_t low = 0;
  uint64_t high = 0;
};

class ScalarProgram {
 public:
  // nullopt when the computation is not made of scalar elementwise operations (then OpContext::call serves).
  [[nodiscard]] static std::optional<ScalarProgram> compile(const hlo::Module& module,
                                                            hlo::ComputationIndex computation);

  // Runs on `inputs` (one a parameter); writes the root, or its tuple elements in order, to `outputs`. Not thread-safe:
  // each thread copies the program.
  void run(std::span<const Scalar> inputs, std::span<Scalar> outputs);

  // The one binary operation that the whole program is, applied to parameters 0 and 1 in that order or swapped when
  // commutative: what lets callers choose a SIMD kernel (add, multiply, maximum, minimum, and, or, xor).
  [[nodiscard]] std::optional<hlo::Opcode> single_operation() const;

 private:
  struct Step {
    hlo::Opcode opcode;
    hlo::ElementType type;          // of the result
    hlo::ElementType operand_type;  // of operand 0
    uint32_t result;                // register numbers
    uint32_t operands[3];
    uint32_t detail;  // comparison direction and order; exponent and mantissa bits of reduce-precision
  };
  std::vector<Step> steps_;
  std::vector<Scalar> registers_;
  std::vector<uint32_t> parameter_registers_;
  std::vector<uint32_t> output_registers_;
};

}  // namespace sapper::eval
