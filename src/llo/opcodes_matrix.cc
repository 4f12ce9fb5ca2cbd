// The matrix units: weights pushed and latched, rows multiplied, results popped.
//
// What the text does not say, found by what kernels must compute:
// - The gains are empty at the start and after vdwg (or .dwg); a vmatmul that finds them so latches msra first. From
// v5e
//   on final code names the latch instead: .vlgmr.msra or .msrb.
// - Results leave a unit first in, first out; on tpu7x they wait in the numbered registers of a result buffer (mrb),
//   where a result that meets another is added to it, and a pop empties. Before the numbers are given out (every one is
//   0) they leave first in, first out.
// - f32 numbers are rounded to bf16 on their way in (MachineOptions::round_matmul_operands): passes replace pushes of
// f32
//   by pushes of bf16, and precise products are made of several of bf16 parts. How sums are taken is not known:
//   MachineOptions::matrix_sum.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "llo/isa.h"
#include "llo/machine.h"
#include "llo/matrix_unit.h"
#include "llo/result_queue.h"

namespace sapper::llo {
namespace {

constexpr size_t most_buffered = 256;  // registers of tpu7x's result buffer

// One of them.
struct BufferedResult {
  MatrixResult result;
  bool is_integer = false;
};

struct UnitOfMachine : UnitState {
  MatrixUnit unit;
  std::vector<std::optional<BufferedResult>> buffer;
  std::optional<bool> numbers_results;  // nullopt: not looked at yet
};

UnitOfMachine& unit_of(Machine& machine, uint32_t number) { return machine.unit<UnitOfMachine>(number); }

// --- operands

// The last operand, under the mask before it if there is one. What an undefined mask bit decides is undefined.
MatrixOperand operand_of(const Machine& machine, const Step& step) {
  const Slot value = step.operand[step.operand_count - 1];
  MatrixOperand operand{.value = machine.vector(value)};
  if (const Vreg* bits = machine.vector_undefined(value)) operand.undefined = *bits;
  if (step.operand_count == 1) return operand;
  operand.mask = machine.vector(step.operand[0]);
  if (const Vreg* unsure = machine.vector_undefined(step.operand[0])) {
    if (!operand.undefined) operand.undefined = Vreg{};
    for (int i = 0; i < kVregWords; ++i) {
      operand.undefined->word[i] |= unsure->word[i];
      operand.mask->word[i] |= unsure->word[i];
    }
  }
  return operand;
}

// `half` as (hi|low) chooses.
MatrixFormat f32_format(const Machine& machine, uint16_t half) {
  switch (half) {
    case 0: return machine.options().round_matmul_operands ? MatrixFormat::F32Rounded : MatrixFormat::F32;
    case 1: return MatrixFormat::F32High;
    default: return MatrixFormat::F32Low;
  }
}

// `type` as (bf16|s8|byte|u8|bf8|f8e5m2|f8e4m3) chooses.
MatrixFormat weight_format(const Machine& machine, uint16_t half, uint16_t type) {
  constexpr std::array formats = {MatrixFormat::Bf16,   MatrixFormat::S8,     MatrixFormat::S8,    MatrixFormat::U8,
                                  MatrixFormat::F8E5M2, MatrixFormat::F8E5M2, MatrixFormat::F8E4M3};
  return type == 0 ? f32_format(machine, half) : formats[type - 1];
}

// `type` as f32|bf16|s8|u8|f8e5m2|f8e4m3fn chooses.
MatrixFormat row_format(const Machine& machine, uint16_t half, uint16_t type) {
  constexpr std::array formats = {MatrixFormat::Bf16, MatrixFormat::S8, MatrixFormat::U8, MatrixFormat::F8E5M2,
                                  MatrixFormat::F8E4M3};
  return type == 0 ? f32_format(machine, half) : formats[type - 1];
}

// --- weights

void fail_full(Machine& machine, uint32_t unit) {
  machine.fail_with({ErrorKind::Unsupported,
                     fmt::format("more registers are pushed into matrix unit {} than it has rows", unit),
                     {}});
}

void push(Machine& machine, const Step& step, uint32_t unit, int staging, MatrixPush push) {
  push.left = operand_of(machine, step);
  if (!unit_of(machine, unit).unit.push(staging, push)) fail_full(machine, unit);
}

void push_narrow(Machine& machine, const Step& step) {
  const auto [half, type, sixteen, transposed, staging, unit, unused, unused2] = step.choice;
  push(machine, step, unit, staging,
       {.format = weight_format(machine, half, type), .transposed = transposed != 0, .left = {}});
}

void push_wide(Machine& machine, const Step& step) {
  const auto [place, half, type, sixteen, transposed, staging, unit, unused] = step.choice;
  push(machine, step, unit, staging,
       {.place = static_cast<PushPlace>(place),
        .format = weight_format(machine, half, type),
        .transposed = transposed != 0,
        .wide = true,
        .left = {}});
}

void prepare_columns(Machine& machine, const Step& step) {
  unit_of(machine, step.choice[2]).unit.prepare_columns(operand_of(machine, step));
}

void release(Machine& machine, const Step& step) { unit_of(machine, step.choice[0]).unit.release(); }

// --- products

void prepare_lanes(Machine& machine, const Step& step) {
  unit_of(machine, step.choice[2]).unit.prepare_lanes(operand_of(machine, step));
}

void add(BufferedResult& to, const MatrixResult& result) {
  for (int i = 0; i < kVregWords; ++i) {
    uint32_t& word = to.result.value.word[i];
    const uint32_t other = result.value.word[i];
    word = to.is_integer ? word + other
                         : std::bit_cast<uint32_t>(std::bit_cast<float>(word) + std::bit_cast<float>(other));
  }
  if (!result.undefined) return;
  if (!to.result.undefined) to.result.undefined = Vreg{};
  for (int i = 0; i < kVregWords; ++i) to.result.undefined->word[i] |= result.undefined->word[i];
}

// Whether the program's results have their numbers in the result buffer.
bool numbers_results(const Machine& machine, UnitOfMachine& unit) {
  const auto numbered = [](const Instruction& instruction) {
    const size_t at = instruction.opcode.find(".mrb[");
    return at != std::string_view::npos && !instruction.opcode.substr(at).starts_with(".mrb[0]");
  };
  if (!unit.numbers_results) {
    const auto& instructions = machine.code().program->instructions;
    unit.numbers_results = std::any_of(instructions.begin(), instructions.end(), numbered);
  }
  return *unit.numbers_results;
}

// `named`: .vlgmr with `staging` as (msra|msrb) chooses; else the gains are latched where there are none.
void latch_gains(const Machine& machine, MatrixUnit& unit, bool named, uint16_t staging) {
  const PushOrder order = machine.options().generation.push_order;
  if (named) {
    unit.latch(staging - 1, order);
  } else if (!unit.holds_gains()) {
    unit.latch(0, order);
  }
}

void queue_results(Machine& machine, const Step& step, uint16_t number, const std::vector<MatrixResult>& results) {
  for (const MatrixResult& result : results)
    push_result(machine, step, QueueKind::MatrixResult, number, {result.value, result.undefined});
}

void multiply(Machine& machine, const Step& step) {
  const auto [wide, half, type, sixteen, latch, staging, buffer, number] = step.choice;
  UnitOfMachine& target = unit_of(machine, number);
  MatrixUnit& unit = target.unit;
  constexpr int done_after = 1;  // (dwg|vlgmr)
  constexpr int latch_first = 2;
  latch_gains(machine, unit, latch == latch_first, staging);
  const MatrixFormat format = row_format(machine, half, type);
  const std::vector<MatrixResult> results =
      unit.multiply(operand_of(machine, step), format, wide != 0, machine.options().matrix_sum);
  if (latch == done_after) unit.release();

  if (buffer == 0 || !numbers_results(machine, target)) return queue_results(machine, step, number, results);
  size_t at = buffer - 1;
  if (at + results.size() > most_buffered)
    return machine.fail_with({ErrorKind::Unsupported, fmt::format("the result buffer has no register {}", at), {}});
  target.buffer.resize(most_buffered);
  for (const MatrixResult& result : results) {
    std::optional<BufferedResult>& place = target.buffer[at++];
    if (place) {
      add(*place, result);
    } else {
      place = BufferedResult{result, is_integer(format)};
    }
  }
}

// --- left operands that are transposed in the unit

void push_left(Machine& machine, const Step& step) {
  const auto [packed, staging, unit, unused, unused2, unused3, unused4, unused5] = step.choice;
  const MatrixFormat format = packed != 0 ? MatrixFormat::Bf16 : MatrixFormat::F32;
  if (!unit_of(machine, unit).unit.push_left(staging, format, operand_of(machine, step))) fail_full(machine, unit);
}

void latch_left(Machine& machine, const Step& step) {
  const uint16_t eights = step.choice[0];
  const uint16_t unit = step.choice[1];
  if (!unit_of(machine, unit).unit.latch_left(eights))
    machine.fail_with(
        {ErrorKind::Unsupported, fmt::format("matrix unit {} takes a left operand that was not pushed", unit), {}});
}

void multiply_left(Machine& machine, const Step& step) {
  const uint16_t number = step.choice[3];
  MatrixUnit& unit = unit_of(machine, number).unit;
  latch_gains(machine, unit, step.choice[0] != 0, step.choice[1]);
  queue_results(machine, step, number, unit.multiply_left(machine.options().matrix_sum));
}

// --- results

void pop(Machine& machine, const Step& step) { pop_result(machine, step, QueueKind::MatrixResult, step.choice[1]); }

void pop_buffered(Machine& machine, const Step& step) {
  const uint16_t at = step.choice[1];
  const uint16_t number = step.choice[2];
  UnitOfMachine& unit = unit_of(machine, number);
  if (!numbers_results(machine, unit)) return pop_result(machine, step, QueueKind::MatrixResult, number);
  MatrixResult result{{}, MatrixOperand::unknown().undefined};
  if (at < unit.buffer.size() && unit.buffer[at]) {
    result = std::exchange(unit.buffer[at], std::nullopt)->result;
  } else {
    machine.report(step, FindingKind::EmptyQueue, fmt::format("no result waits in register {} of the buffer", at));
  }
  machine.write_vector(step.result) = result.value;
  if (result.undefined) machine.set_vector_undefined(step.result, *result.undefined);
}

constexpr std::array rows = {
    OpcodeInfo{
        "vmatpush.(hi|low).(bf16|s8|byte|u8|bf8|f8e5m2|f8e4m3).(bf16).(xpose).msra|msrb.mxu#", "- = v", Unit::Matrix,
        Action{push_narrow},
        "Stages the rows of a register as the next rows of weights (.xpose: columns). From v4 on they stand above "
        "those before, before v4 also the last row of the register above the others, on tpu7x below. A register "
        "has 8 rows of f32 (.hi, .low: their first or second bf16 part), 16 of bf16, 32 of bytes (byte: s8; bf8, "
        "f8e5m2; f8e4m3: the finite one)."},
    OpcodeInfo{"vmatpush.(hi|low).(bf16|s8|byte|u8|bf8|f8e5m2|f8e4m3).(bf16).(xpose).msk.msra|msrb.mxu#", "- = m v",
               Unit::Matrix, Action{push_narrow}, "vmatpush with 0 for elements outside of the mask."},
    OpcodeInfo{"vmatpush1|vmatpush2|vmatpush3.(hi|low).(bf16|s8|byte|u8|bf8|f8e5m2|f8e4m3).(bf16).(xpose).msra|msrb."
               "mxu#",
               "- = v", Unit::Matrix, Action{push_wide},
               "vmatpush into a unit of 256 by 256, with the register of the last vmatprep.subr as columns 129 to 256. "
               "1: rows from the first on; 2: rows from the 129th on; 3: the register gives rows and columns 1 to 128, "
               "the prepared one rows and columns 129 to 256, and the rest is absent."},
    OpcodeInfo{"vmatpush1|vmatpush2|vmatpush3.(hi|low).(bf16|s8|byte|u8|bf8|f8e5m2|f8e4m3).(bf16).(xpose).msk.msra|"
               "msrb.mxu#",
               "- = m v", Unit::Matrix, Action{push_wide},
               "vmatpush1, 2, 3 with 0 for elements of the register outside of the mask."},
    OpcodeInfo{"vmatprep.subr.(bf16|s8|u8|bf8|f8e5m2|f8e4m3).(bf16).mxu#", "- = v", Unit::Matrix,
               Action{prepare_columns}, "The right half of the next vmatpush1, 2, 3."},
    OpcodeInfo{"vmatprep.subr.msk.(bf16|s8|u8|bf8|f8e5m2|f8e4m3).(bf16).mxu#", "- = m v", Unit::Matrix,
               Action{prepare_columns}, "vmatprep.subr with 0 for elements outside of the mask."},
    OpcodeInfo{"vmatprep.mubr.f32|bf16|s8|u8|f8e5m2|f8e4m3fn.(bf16).mxu#", "- = v", Unit::Matrix, Action{prepare_lanes},
               "Lanes 129 to 256 of the left operand of the next vmatmul.mubr."},
    OpcodeInfo{"vmatprep.mubr.msk.f32|bf16|s8|u8|f8e5m2|f8e4m3fn.(bf16).mxu#", "- = m v", Unit::Matrix,
               Action{prepare_lanes}, "vmatprep.mubr of which elements outside of the mask take no part."},
    OpcodeInfo{
        "vmatmul.(mubr).(hi|low).f32|bf16|s8|u8|f8e5m2|f8e4m3fn.(bf16).(dwg|vlgmr).(msra|msrb).gmra.(mrb[#]).mxu#",
        "- = v", Unit::Matrix, Action{multiply},
        "The rows of a register (8 of f32, 16 of bf16, 32 of bytes) times the gains: f32 sums, of s8 and u8 s32 "
        "sums; a register of results for each eight rows. mubr: of 256 lanes, the upper ones prepared, with two "
        "registers of results, columns 1 to 128 first. .vlgmr: latches the gains from a staging register first; "
        ".dwg: done with the gains, the next vmatmul latches. Results wait for vpop, or in mrb[#] and on, added "
        "to what waits there."},
    OpcodeInfo{
        "vmatmul.(mubr).(hi|low).msk.f32|bf16|s8|u8|f8e5m2|f8e4m3fn.(bf16).(dwg|vlgmr).(msra|msrb).gmra.(mrb[#])."
        "mxu#",
        "- = m v", Unit::Matrix, Action{multiply},
        "vmatmul of which elements of the register outside of the mask take no part."},
    OpcodeInfo{"vmatpush.lsf.(bf16).msra|msrb.mxu#", "- = v", Unit::Matrix, Action{push_left},
               "Stages 8 rows of f32 or 16 of bf16, above those before, of a matrix whose transpose is to be a left "
               "operand."},
    OpcodeInfo{"vmatpush.lsf.(bf16).msk.msk.msra|msrb.mxu#", "- = m v", Unit::Matrix, Action{push_left},
               "vmatpush.lsf with 0 for elements outside of the mask."},
    OpcodeInfo{
        "vllmr.#.mxu#", "- =", Unit::Matrix, Action{latch_left},
        "The rows that vmatpush.lsf staged, transposed, are the unit's left operand now, of so many times 8 rows."},
    OpcodeInfo{
        "vmatmul.lmr.bf16.(vlgmr).(msra|msrb).gmra.#.mxu#", "- =", Unit::Matrix, Action{multiply_left},
        "The next 8 rows of the unit's left operand (f32 is rounded to bf16) times the gains; after the last rows come "
        "the first. .vlgmr: latches the gains from a staging register first."},
    OpcodeInfo{"vdwg.mxu#", "- =", Unit::Matrix, Action{release},
               "Done with the gains: the next vmatmul latches msra first."},
    OpcodeInfo{"vpop.f32|s32.mrf.mxu#", "v =", Unit::Matrix, Action{pop}, "The oldest result of a matrix unit."},
    OpcodeInfo{"vpop.f32|s32.mrb[#].mxu#", "v =", Unit::Matrix, Action{pop_buffered},
               "The result that waits in a register of a matrix unit's result buffer, which is empty then."},
};

}  // namespace

std::span<const OpcodeInfo> matrix_opcodes() { return rows; }

}  // namespace sapper::llo
