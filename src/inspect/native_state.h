// What the registers of a stepped kernel hold, as tags, and an instruction that is about to change them.
#pragma once

#include <array>
#include <cstdint>

#include "inspect/native_flow.h"
#include "inspect/native_memory.h"
#include "inspect/native_tags.h"
#include "target/trace.h"
#include "target/x86.h"

namespace sapper::inspect {

using MaskTags = std::array<Tag, 64>;  // of each bit

struct TaggedRegisters {
  std::array<TaggedBytes, 32> vectors{};
  std::array<MaskTags, 8> masks{};
  std::array<Tag, 16> general{};
  Tag flags = no_tag;
};

// An instruction of the code, and how its lanes flow.
struct StepCode {
  target::X86Instruction instruction;
  FlowForm form;
};

// An instruction that is about to run, with what it will overwrite.
struct PendingStep {
  const StepCode* code = nullptr;
  uint32_t offset = 0;
  uint64_t address = 0;                             // of its memory operand
  uint64_t mask = 0;                                // bits of its mask register
  uint64_t copied = 0, copy_from = 0, copy_to = 0;  // bytes, where it calls memcpy
  std::array<target::VectorRegister, 3> before{};   // of the third operand, rm, reg: shuffles and multiply-adds
};

}  // namespace sapper::inspect
