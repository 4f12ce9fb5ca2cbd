// A lane program: elementwise operations as a list of steps on registers, run block by block so that intermediate
// values stay in the first-level cache. Its sources are read as they lie in memory, as views, as counters or as one
// element for all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "eval/lane_function.h"
#include "eval/view.h"
#include "hlo/literal.h"

namespace sapper::eval {

class LaneProgram {
 public:
  using Register = uint16_t;
  static constexpr size_t most_registers = 512;

  struct Source {
    enum class Kind : uint8_t {
      Linear,    // element i of operand `operand`
      Strided,   // element i of `view` of the operand
      Splat,     // element 0 of the operand, everywhere
      Constant,  // `constant`, everywhere
      Counter,   // the offset that `view` gives element i: iota
    };
    Kind kind = Kind::Linear;
    hlo::ElementType type = hlo::ElementType::Invalid;
    uint32_t operand = 0;
    View view;                    // collapsed
    std::byte constant[16] = {};  // an element of the type as a Literal holds it
  };

  // Building: sources first, then steps; each returns the register it fills.
  [[nodiscard]] bool has_room() const { return types_.size() < most_registers; }
  Register add_source(Source source);
  Register add_step(const LaneOperation& operation, hlo::ElementType result, std::span<const Register> operands);
  // Ends building: the values of `results` are what the program computes.
  void finish(std::span<const Register> results);

  [[nodiscard]] size_t result_count() const { return results_.size(); }
  [[nodiscard]] hlo::ElementType result_type(size_t k) const { return types_[results_[k]]; }
  [[nodiscard]] std::span<const Source> sources() const { return sources_; }

  // Fills each of `results` with `count` elements; `operands` are the arrays that sources name. Parallel when large.
  // The result of the last step may be an operand that is read linearly only and has elements of the same size.
  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results, int64_t count) const;

  class Reader;

  // About how many nanoseconds an element takes.
  [[nodiscard]] int64_t cost() const { return std::ssize(steps_); }

 private:
  struct Step {
    LaneOperation operation;
    Register result = 0;
    Register operands[3] = {};
  };
  // Where a register's lanes are: in scratch memory at `offset` lanes-bytes, or directly in an operand or a result.
  struct Place {
    enum class Kind : uint8_t { Scratch, Operand, Result } kind = Kind::Scratch;
    uint32_t index = 0;  // scratch slot, operand or result
  };

  void assign_places();
  void load(const Source& source, const std::byte* array, int64_t begin, int64_t n, std::byte* lanes,
            std::byte* scratch) const;

  std::vector<Source> sources_;  // source i fills register i
  std::vector<Step> steps_;
  std::vector<hlo::ElementType> types_;  // of each register's value
  std::vector<Place> places_;
  std::vector<uint8_t> slot_lane_bytes_;  // of each scratch slot
  std::vector<size_t> slot_offsets_;      // in scratch memory
  size_t scratch_bytes_ = 0;              // for one block
  int64_t block_ = 0;                     // lanes in a block
  std::vector<Register> results_;
};

// Computes runs of a program's elements, on one thread: for who takes them piece by piece. Program and operands must
// outlive it.
class LaneProgram::Reader {
 public:
  // Reads of up to `longest` elements.
  Reader(const LaneProgram& program, std::span<const std::byte* const> operands, int64_t longest);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  // Writes elements [begin, begin + n) of result k at `to[k]`.
  void read(int64_t begin, int64_t n, std::span<std::byte* const> to);

 private:
  // What the lanes of a source are good for: any up to `lanes` of elements [begin, end), which are all the same.
  struct Kept {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t lanes = 0;
    [[nodiscard]] bool has(int64_t first, int64_t n) const { return first >= begin && first + n <= end && n <= lanes; }
  };
  static Kept row_around(int64_t row, int64_t begin, int64_t n);

  const LaneProgram& program_;
  std::span<const std::byte* const> operands_;
  std::unique_ptr<hlo::AlignedBytes> scratch_;
  std::byte* spare_ = nullptr;                     // for values on their way into lanes
  std::array<std::byte*, most_registers + 1> at_;  // the lanes of each register
  std::vector<Kept> kept_;                         // of each source
};

}  // namespace sapper::eval
