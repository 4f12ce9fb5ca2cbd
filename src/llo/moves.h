// What a movement (llo/isa.h) does to the bytes of registers' sublanes, where it keeps lanes where they are.
#pragma once

#include <array>
#include <cstdint>

#include "llo/isa.h"
#include "llo/step.h"

namespace sapper::llo {

constexpr int kSublaneBytes = 4;  // of a word; byte b of sublane s is number 4 * s + b
constexpr int kRegisterBytes = kSublanes * kSublaneBytes;

struct SublaneMoves {
  enum class From : uint8_t { Nothing, Operand, Elsewhere };  // no operand; the byte of a sublane; several, other lanes
  struct Byte {
    From from = From::Elsewhere;
    uint8_t operand = 0;  // of the vector operands
    uint8_t byte = 0;     // its number there
  };
  std::array<Byte, kRegisterBytes> bytes;
};

// Of `step`, as its scalar operands are now.
[[nodiscard]] SublaneMoves sublane_moves(const Machine& machine, const Step& step, MoveFunction move, int operands);

}  // namespace sapper::llo
