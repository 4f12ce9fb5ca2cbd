#include "tests/llo/mutants.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace sapper::llo {

namespace {

// Changes the instruction; false: it is not of this kind.
using Change = bool (*)(Instruction&);

MemoryOperand* memory_of(Instruction& instruction) {
  for (Operand& operand : instruction.operands)
    if (auto* memory = std::get_if<MemoryOperand>(&operand.value)) return memory;
  return nullptr;
}

bool flip_sublane_mask(Instruction& instruction) {
  MemoryOperand* memory = memory_of(instruction);
  if (memory == nullptr || !memory->sublane_mask) return false;
  auto* mask = std::get_if<Immediate>(&*memory->sublane_mask);
  if (mask == nullptr) return false;
  mask->bits ^= 1;
  return true;
}

bool rename(Instruction& instruction, std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  for (const auto& [from, to] : names) {
    if (instruction.opcode != from) continue;
    instruction.opcode = to;
    return true;
  }
  return false;
}

bool change_compare(Instruction& instruction) {
  return rename(instruction, {{"vcmp.lt.s32.totalorder", "vcmp.le.s32.totalorder"},
                              {"vcmp.gt.s32.totalorder", "vcmp.ge.s32.totalorder"},
                              {"vcmp.eq.s32.totalorder", "vcmp.ne.s32.totalorder"},
                              {"vcmp.gt.f32.partialorder", "vcmp.ge.f32.partialorder"},
                              {"vcmp.lt.f32.partialorder", "vcmp.le.f32.partialorder"},
                              {"vcmp.ne.f32.partialorder", "vcmp.eq.f32.partialorder"}});
}

bool rotate_too_far(Instruction& instruction) {
  if (!instruction.opcode.starts_with("vrot.") || instruction.operands.size() != 2) return false;
  auto* amount = std::get_if<Immediate>(&instruction.operands[1].value);
  if (amount == nullptr) return false;
  amount->bits += 1;
  return true;
}

// x + y becomes x.
bool drop_accumulation(Instruction& instruction) {
  const bool sum =
      instruction.opcode == "vadd.f32" || instruction.opcode == "vadd.s32" || instruction.opcode == "vmax.f32";
  if (!sum || instruction.operands.size() != 2 || !std::holds_alternative<Register>(instruction.operands[0].value))
    return false;
  instruction.opcode = "vmov";
  instruction.operands.pop_back();
  return true;
}

bool shift_address(Instruction& instruction) {
  const bool vectors = instruction.opcode == "vld" || instruction.opcode == "vst";
  MemoryOperand* memory = memory_of(instruction);
  if (!vectors || memory == nullptr || !memory->offset || memory->subtract_offset) return false;
  auto* offset = std::get_if<Immediate>(&*memory->offset);
  if (offset == nullptr || offset->bits == 0) return false;
  offset->bits -= 1;
  return true;
}

bool swap_select(Instruction& instruction) {
  if (!instruction.opcode.starts_with("vsel") || instruction.operands.size() != 3) return false;
  std::swap(instruction.operands[1].value, instruction.operands[2].value);
  return true;
}

bool drop_wait(Instruction& instruction) {
  if (!instruction.opcode.starts_with("dma.done")) return false;
  instruction.opcode = "vnop";
  instruction.operands.clear();
  return true;
}

bool take_other_half(Instruction& instruction) {
  return rename(instruction, {{"vunpack.c.l.bf16.f32", "vunpack.c.u.bf16.f32"},
                              {"vunpack.c.u.bf16.f32", "vunpack.c.l.bf16.f32"},
                              {"vunpack.c.0.s8.s32", "vunpack.c.1.s8.s32"},
                              {"vunpack.c.1.s8.s32", "vunpack.c.0.s8.s32"},
                              {"vunpack.i.l.bf16.f32", "vunpack.i.u.bf16.f32"},
                              {"vunpack.i.u.bf16.f32", "vunpack.i.l.bf16.f32"}});
}

struct Kind {
  std::string_view name;
  Change change;
};
constexpr std::array<Kind, 8> kKinds = {{
    {"sublane mask", flip_sublane_mask},
    {"compare", change_compare},
    {"rotate", rotate_too_far},
    {"dropped accumulation", drop_accumulation},
    {"address", shift_address},
    {"swapped select", swap_select},
    {"missing wait", drop_wait},
    {"other half", take_other_half},
}};

}  // namespace

std::vector<Mutant> mutants_of(const Program& program, size_t most) {
  std::vector<Mutant> mutants;
  for (const Kind& kind : kKinds) {
    std::vector<InstructionIndex> places;
    for (InstructionIndex i = 0; i < program.instructions.size(); ++i) {
      Instruction trial = program.instructions[i];
      if (kind.change(trial)) places.push_back(i);
    }
    const size_t count = std::min(most, places.size());
    for (size_t k = 0; k < count; ++k) {
      Mutant mutant{kind.name, places[k * places.size() / count], program};
      kind.change(mutant.program.instructions[mutant.instruction]);
      mutants.push_back(std::move(mutant));
    }
  }
  return mutants;
}

}  // namespace sapper::llo
