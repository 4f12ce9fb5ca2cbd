// reduce with one add, multiply, maximum, minimum, and, or, xor, over any dimensions of one array: the reductions worth
// SIMD. Anything else is reduce.cc's. The array may be in memory, or be the result of a lane program, which then is
// never in memory as a whole: runs of its elements are computed as they are folded. Other results of the program are
// written on the way.
//
// Sums and products of floats up to f32 run in f64 and are rounded once; those of f64 run in f64. The order of the
// additions is fixed by the shape alone: rows in pieces of 2^14 elements, a piece in interleaved partial sums
// (lane_reduce.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "eval/index_space.h"
#include "eval/lane_function.h"
#include "eval/lane_program.h"
#include "eval/lane_reduce.h"
#include "hlo/module.h"

namespace sapper::eval {

class FastReduce {
 public:
  // nullopt: not one of these reductions.
  [[nodiscard]] static std::optional<FastReduce> make(const hlo::Module& module, const hlo::Instruction& instruction,
                                                      const hlo::Shape& operand);

  // What is reduced: an array in memory, or the first result of `program` on `operands`. Its results go to `kept`; the
  // first is left out where it is not kept.
  struct Elements {
    const std::byte* array = nullptr;
    const LaneProgram* program = nullptr;
    std::span<const std::byte* const> operands;
    std::span<std::byte* const> kept;
  };

  void run(const Elements& elements, const std::byte* init, std::byte* result) const;

  // How many neighbouring elements are folded at once: long runs are worth computing one by one.
  [[nodiscard]] int64_t run_length() const;

 private:
  class Reader;

  void run_rows(const Elements& elements, const std::byte* init, std::byte* result) const;
  void run_columns(const Elements& elements, const std::byte* init, std::byte* result) const;
  void fold_values(std::byte* values, size_t n, size_t count, size_t stride) const;
  void finish(const std::byte* init, const std::byte* running, int64_t first, size_t n, std::byte* result) const;
  void fill_running(std::byte* running, int64_t n) const;
  [[nodiscard]] static int64_t cost(const Elements& elements, int64_t n);

  hlo::ElementType type_ = hlo::ElementType::Invalid;
  hlo::ElementType running_type_ = hlo::ElementType::Invalid;
  LaneFold fold_;
  LaneFold fold_running_;  // of running values into each other
  LaneFunction widen_ = nullptr;
  LaneOperation to_running_;
  LaneOperation to_result_;
  LaneFunction store_ = nullptr;
  std::byte identity_[8] = {};  // as a running value
  int64_t result_count_ = 0;
  // The operand's dimensions by kind, outermost first; the innermost dimension apart.
  bool inner_is_reduced_ = false;
  int64_t inner_ = 1;
  std::vector<Axis<1>> kept_;
  std::vector<Axis<1>> reduced_;
};

}  // namespace sapper::eval
