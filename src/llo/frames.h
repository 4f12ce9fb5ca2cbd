// What the emitter says of its own work: around the code of an elementwise HLO instruction it writes the values of the
// operands and of the result as xla_tuple, which computes nothing. Passes drop them, but values keep their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llo/program.h"

namespace sapper::llo {

// A value by its number; a scalar that is known as it stands, by its bits.
struct FrameValue {
  std::optional<uint32_t> number;
  uint32_t bits = 0;
  bool operator==(const FrameValue&) const = default;
};

// What the code of a frame does, where it is one instruction of a kind that can be told.
enum class FrameOperation : uint8_t { Unknown, Add, Subtract, Multiply, Maximum, Minimum, Select };

struct Frame {
  std::vector<FrameValue> operands;
  FrameValue result;
  FrameOperation operation = FrameOperation::Unknown;
  std::optional<uint32_t> mask;  // the result is this mask, as ones and zeros
  InstructionIndex first = 0;    // its code is [first, end)
  InstructionIndex end = 0;
};

// In the order of the program. None, where `program` is not the stage that the emitter wrote (`original`).
[[nodiscard]] std::vector<Frame> frames_of(const Program& program);

// The instruction as its dump writes it, on one line, without the facts that follow a DMA.
[[nodiscard]] std::string text_of(const Program& program, const Instruction& instruction);

}  // namespace sapper::llo
