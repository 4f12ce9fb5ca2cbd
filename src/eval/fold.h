// Fold: the running values of a reduction, and how the next elements go into them: what reduce and reduce-window share.
//
// A fold starts from the init values and takes elements in the order in which it is given them. The reducer works in
// its own types, but for plain sums and products (a single add or multiply) of floats up to f32, which run in f64, and
// of c64, which run in c128, and are rounded once at the end.
#pragma once

#include <vector>

#include "eval/lane_memory.h"
#include "eval/scalar_function.h"

namespace sapper::eval {

class Fold {
 public:
  // Most running values that one fold has.
  static constexpr size_t block = ScalarFunction::block;

  // For a reduce-like instruction: `operands` are N arrays of the same dimensions, then their N init values.
  [[nodiscard]] static Result<Fold> make(const OpContext& context, std::span<const hlo::Literal> operands);

  // Starts n running values.
  void begin(size_t n);
  // Takes element offset + i * stride of each operand into running value first + i, for i < n.
  [[nodiscard]] Status add(size_t first, size_t n, int64_t offset, int64_t stride);
  // Writes the first n running values to elements offset + i * stride of each result. They go on running.
  void write(size_t n, std::span<std::byte* const> results, int64_t offset, int64_t stride);

  // Whether copies of the fold may run on several threads at once.
  [[nodiscard]] bool is_parallel() const { return function_.program() != nullptr; }
  // Whether the order of elements does not matter: exact operations, and sums and products that are carried wider than
  // their type.
  [[nodiscard]] bool is_order_free() const;
  // About the nanoseconds that one element takes.
  [[nodiscard]] int64_t cost() const;

 private:
  using WideFunction = void (*)(size_t n, const void* lanes, void* running);

  struct Part {  // of one operand and its result
    const std::byte* elements;
    LaneReader reader;
    LaneBuffer init;
    LaneBuffer running;
    LaneOperation to_result;
    LaneBuffer result_lanes;
    LaneWriter writer;
    int result_bytes;
    int operand_bytes;
  };

  explicit Fold(ScalarFunction function) : function_(std::move(function)) {}

  ScalarFunction function_;
  WideFunction wide_ = nullptr;
  std::vector<Part> parts_;
  std::vector<const void*> inputs_;  // of function_, kept to avoid allocation
  std::vector<void*> outputs_;
};

// The literals of a reduce-like result of `shape` (an array, or a tuple of one array a part), to be filled, and where.
struct FoldResults {
  explicit FoldResults(const hlo::Shape& shape);
  // `sizes` are the result's actual sizes.
  [[nodiscard]] hlo::Literal finish(const std::vector<int64_t>& sizes);

  std::vector<hlo::Literal> arrays;
  std::vector<std::byte*> bytes;
  bool is_tuple;
};

}  // namespace sapper::eval
