// Transposes: a cross-lane unit takes registers one after the other, from `start` to `end`, and gives the transposed
// registers to a queue.
#include <algorithm>

#include "llo/machine.h"
#include "llo/result_queue.h"

namespace sapper::llo {

namespace {

// The second and third choice in the opcodes' names: start.end is both.
enum Position : uint16_t { Start, Cont, End };

// One matrix on its way through a unit, with its undefined bits; the second of a binary transpose beside it.
struct Transpose : UnitState {
  std::vector<Queued> first, second;
};

uint32_t lane_of(const Vreg& from, int width, int row, int lane) {
  const int per_word = 32 / width;
  const uint32_t word = from.word[row / per_word * kLanes + lane];
  return width == 32 ? word : word >> (row % per_word * width) & ((1U << width) - 1);
}
void add_lane(Vreg& to, int width, int row, int lane, uint32_t bits) {
  const int per_word = 32 / width;
  to.word[row / per_word * kLanes + lane] |= bits << (row % per_word * width);
}

// Rows [from_row, from_row + 256 / width) of the transpose of the rows that `part` gives of each of `registers`. Lanes
// for which there are no rows are 0: kernels mask the rows of padding that they transpose for a product, and nothing of
// what comes out.
template <class Part>
void transposed(const std::vector<Queued>& registers, int width, int from_row, Part part, Vreg& result) {
  const int rows = kVregWords * 32 / width / kLanes;  // of a register
  result = {};
  for (int row = 0; row < rows; ++row)
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto source = static_cast<size_t>(lane / rows);
      const Vreg* from = source < registers.size() ? part(registers[source]) : nullptr;
      if (from != nullptr) add_lane(result, width, row, lane, lane_of(*from, width, lane % rows, from_row + row));
    }
}

Queued transposed(const std::vector<Queued>& registers, int width, int from_row) {
  Queued result;
  transposed(
      registers, width, from_row, [](const Queued& from) { return &from.value; }, result.value);
  transposed(
      registers, width, from_row, [](const Queued& from) { return from.undefined ? &*from.undefined : nullptr; },
      result.undefined.emplace());
  const auto& bits = result.undefined->word;
  if (std::all_of(std::begin(bits), std::end(bits), [](uint32_t word) { return word == 0; })) result.undefined.reset();
  return result;
}

// `width` is how many of its lanes the registers give: the rows of the result.
void push_transposed(Machine& machine, const Step& step, uint32_t unit, Transpose& matrix, int bits, uint32_t width) {
  const int rows = kVregWords * 32 / bits / kLanes;
  for (uint32_t row = 0; row < std::min<uint32_t>(width, kLanes); row += rows) {
    if (!matrix.second.empty())
      push_result(machine, step, QueueKind::Transpose, unit, transposed(matrix.second, bits, static_cast<int>(row)));
    push_result(machine, step, QueueKind::Transpose, unit, transposed(matrix.first, bits, static_cast<int>(row)));
  }
  matrix.first.clear();
  matrix.second.clear();
}

bool full(const Transpose& matrix, int bits) {
  return matrix.first.size() * static_cast<size_t>(kVregWords * 32 / bits / kLanes) > kLanes;
}

void step_transpose(Machine& machine, const Step& step, int bits, bool binary) {
  const uint32_t unit = step.choice[0];
  const uint16_t position = step.choice[1];
  auto& matrix = machine.unit<Transpose>(unit);
  if (position == Start) {
    matrix.first.clear();
    matrix.second.clear();
  }
  matrix.first.push_back(queued_operand(machine, step.operand[0]));
  if (binary) matrix.second.push_back(queued_operand(machine, step.operand[1]));
  if (full(matrix, bits)) {
    machine.fail_with({ErrorKind::Unsupported, "a transpose of more than 128 rows"});
    return;
  }
  if (position != End && step.choice[2] == 0) return;
  const uint32_t width = machine.decisive(step, step.operand[binary ? 2 : 1], "the width of a transpose");
  push_transposed(machine, step, unit, matrix, bits, width);
}

void transpose_words(Machine& machine, const Step& step) { step_transpose(machine, step, 32, /*binary=*/false); }
void transpose_pairs(Machine& machine, const Step& step) { step_transpose(machine, step, 16, /*binary=*/true); }
void transpose_halves(Machine& machine, const Step& step) { step_transpose(machine, step, 16, /*binary=*/false); }

void pop_transposed(Machine& machine, const Step& step) {
  pop_result(machine, step, QueueKind::Transpose, step.choice[0]);
}

constexpr OpcodeInfo kRows[] = {
    {"vxpose.xlu#.b32.start|cont|end.(end)", "t = v s", Unit::CrossLane, Action{transpose_words},
     "Registers from start to end are n * 8 rows of 128 words. At the end their transpose, width / 8 registers, goes "
     "to "
     "the unit's transpose queue: row r, lane c of it is row c, lane r of the input; lanes from 8n on are 0."},
    {"vxpose.binary.xlu#.c.b16.start|cont|end.(end)", "t = v v s", Unit::CrossLane, Action{transpose_pairs},
     "Two transposes of packed 16-bit lanes (compact, 16 rows a register) at once, width / 16 registers each; the "
     "registers of the second operand's and the first operand's alternate in the queue."},
    {"vxpose.xlu#.c.b16.start|cont|end.(end)", "t = v s", Unit::CrossLane, Action{transpose_halves},
     "A transpose of packed 16-bit lanes (compact, 16 rows a register), width / 16 registers (assumed)."},
    {"vpop.trf.xlu#", "v = t?", Unit::CrossLane, Action{pop_transposed}, "The next register of the unit's transposes."},
};

}  // namespace

std::span<const OpcodeInfo> transpose_opcodes() { return kRows; }

}  // namespace sapper::llo
