// Origins: of which elements of a kernel's arrays the contents of registers are made, by addresses alone, and which
// registers become which elements of its results. Followed while the machine runs.
//
// All goes by sublanes: a row of memory holds a run of elements that are neighbours (llo/tiling.h), and loads, stores,
// DMA, packing and arithmetic keep lanes where they are. What leaves its lane is of no known origin.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llo/kernel.h"
#include "llo/machine.h"
#include "llo/moves.h"

namespace sapper::llo {

using RunId = uint32_t;
constexpr RunId kNoRun = 0;       // constants: as good as any run
constexpr RunId kUnknownRun = 1;  // nobody knows

// `count` elements from `base` on, `stride` apart, of an array with so many elements, counted row-major: arrays of as
// many elements share runs. Of padding `count` is 0; of what is made of several runs, of arrays of up to so many
// elements, -1.
struct Run {
  int64_t elements = 0;
  int64_t base = 0;
  int64_t stride = 1;
  int count = 0;
  [[nodiscard]] bool is_scattered() const { return count < 0; }
};

using Runs = std::array<RunId, kRegisterBytes>;  // of each byte of each sublane

class Origins {
 public:
  // Before the first step: where the kernel's arrays lie.
  void begin(std::span<const PlacedArray> arrays);
  // After each step.
  void follow(const Step& step, Machine& machine);

  // Of the register that `step` has written.
  [[nodiscard]] const Runs& of(const Step& step, const Machine& machine);
  // Says that the register that `step` has written is of interest: what becomes of it, unchanged, is told by `marks`.
  // Numbers below kMostMarks.
  static constexpr uint32_t kMostMarks = 1U << 26;
  void mark(const Step& step, const Machine& machine, uint32_t number);

  // At the end: the bytes of marked registers that lie in the results, and as which runs.
  [[nodiscard]] std::unordered_map<uint32_t, Runs> results() const;

  [[nodiscard]] const Run& run(RunId id) const { return runs_[id]; }
  [[nodiscard]] RunId id_of(const Run& run);

 private:
  struct RegisterOrigin {
    Runs runs{};                                   // what its bytes are made of
    std::array<uint32_t, kRegisterBytes> marks{};  // which byte of a marked register they are: number * 32 + byte + 1
  };
  struct RowOrigin {  // of a row of memory
    std::array<RunId, kSublaneBytes> runs{kUnknownRun, kUnknownRun, kUnknownRun, kUnknownRun};
    std::array<uint32_t, kSublaneBytes> marks{};
    std::array<uint8_t, kSublaneBytes> lanes{};  // from the first on, of which that is so
  };
  using Rows = std::vector<RowOrigin>;
  struct Core {
    std::vector<RegisterOrigin> registers;
    Rows vmem, cmem;
    std::map<Machine::QueueName, std::deque<std::pair<Slot, RegisterOrigin>>> queues;  // as the machine's, by tokens
    std::map<Unit, int64_t> largest;  // of a unit that keeps what it is given: the largest array that came to it
  };
  struct Placed {
    Space space = Space::Hbm;
    uint64_t first_word = 0;
    std::vector<std::array<RunId, kSublaneBytes>> rows;
  };
  struct KnownMoves {
    std::array<uint32_t, kMaxOperands> scalars{};  // that they depend on
    SublaneMoves moves;
  };

  [[nodiscard]] Core& core_of(const Machine& machine);
  [[nodiscard]] Rows* rows_of(const Machine& machine, Space space);  // null: not followed there
  void forget(const Machine& machine, Space space, uint64_t word, uint64_t count);
  [[nodiscard]] Result<Placed> placed(const PlacedArray& array);
  [[nodiscard]] RunId scattered(int64_t elements) { return id_of({elements, 0, 1, -1}); }
  [[nodiscard]] RunId join(RunId a, RunId b);
  [[nodiscard]] RegisterOrigin joined(const Step& step, const Core& core, int lane_bits);
  // Of the operands of a step, the largest array that they are made of.
  [[nodiscard]] int64_t largest_operand(const Step& step, const Core& core) const;
  // What a step makes of its operands that moves them from lane to lane, or out of a unit.
  [[nodiscard]] RegisterOrigin mixed(const Step& step, Core& core);

  void follow_dma(const Step& step, Machine& machine);
  void copy_rows(const Machine& from, const Machine::Stretch& source, const Machine& to,
                 const Machine::Stretch& destination);
  void load(const Step& step, const Machine& machine, Core& core);
  void store(const Step& step, const Machine& machine, const Core& core);
  [[nodiscard]] RegisterOrigin made(const Step& step, const Machine& machine, Core& core);
  [[nodiscard]] RegisterOrigin popped(const Step& step, const Machine& machine, Core& core);
  [[nodiscard]] RegisterOrigin moved(const Step& step, const Machine& machine, const Core& core, MoveFunction move);

  std::vector<Run> runs_{{}, {.elements = INT64_MAX, .count = -1}};  // kNoRun, kUnknownRun
  std::map<std::array<int64_t, 4>, RunId> run_ids_;
  std::vector<Placed> operands_, results_;
  std::map<const Machine*, Core> cores_;
  const Machine* first_core_ = nullptr;
  Rows hbm_;
  std::unordered_map<const Step*, KnownMoves> moves_;
};

}  // namespace sapper::llo
