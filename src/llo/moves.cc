// The movement is run on registers whose bytes say where they are: once their sublane and byte, once their lane, once
// both again in another form, which bytes that were taken apart do not have.
#include "llo/moves.h"

#include <algorithm>
#include <functional>

namespace sapper::llo {
namespace {

constexpr int kMostOperands = 3;

// 0: nothing.
uint8_t place_number(int operand, int byte) { return static_cast<uint8_t>(1 + operand * kRegisterBytes + byte); }
uint8_t check_number(uint8_t place, uint8_t lane) { return static_cast<uint8_t>((place * 37 + lane * 11) & 0x7f); }

using Pattern = std::function<uint8_t(int operand, int byte, int lane)>;

Vreg moved(const Machine& machine, const Step& step, MoveFunction move, int operands, const Pattern& pattern) {
  std::array<Vreg, kMostOperands> filled;
  std::array<const Vreg*, kMostOperands> values{};
  for (int k = 0; k < operands; ++k) {
    values[static_cast<size_t>(k)] = &filled[static_cast<size_t>(k)];
    for (int i = 0; i < kVregWords; ++i) {
      uint32_t& word = filled[static_cast<size_t>(k)].word[i] = 0;
      for (int b = 0; b < kSublaneBytes; ++b)
        word |= uint32_t{pattern(k, i / kLanes * kSublaneBytes + b, i % kLanes)} << 8 * b;
    }
  }
  Vreg result;
  move(machine, step, values.data(), result);
  return result;
}

}  // namespace

SublaneMoves sublane_moves(const Machine& machine, const Step& step, MoveFunction move, int operands) {
  SublaneMoves moves;
  if (operands == 0 || operands > kMostOperands) return moves;
  const Vreg places = moved(machine, step, move, operands, [](int k, int byte, int) { return place_number(k, byte); });
  const Vreg lanes =
      moved(machine, step, move, operands, [](int, int, int lane) { return static_cast<uint8_t>(lane); });
  const Vreg checks = moved(machine, step, move, operands, [](int k, int byte, int lane) {
    return check_number(place_number(k, byte), static_cast<uint8_t>(lane));
  });
  for (int at = 0; at < kRegisterBytes; ++at) {
    const auto byte_of = [at](const Vreg& of, int lane) {
      return static_cast<uint8_t>(of.word[at / kSublaneBytes * kLanes + lane] >> 8 * (at % kSublaneBytes));
    };
    const uint8_t place = byte_of(places, 0);
    bool nothing = true;
    bool kept = place != 0 && place <= operands * kRegisterBytes;
    for (int lane = 0; lane < kLanes; ++lane) {
      nothing = nothing && byte_of(places, lane) == 0 && byte_of(lanes, lane) == 0;
      kept = kept && byte_of(places, lane) == place && byte_of(lanes, lane) == lane &&
             byte_of(checks, lane) == check_number(place, static_cast<uint8_t>(lane));
    }
    if (nothing) moves.bytes[static_cast<size_t>(at)].from = SublaneMoves::From::Nothing;
    if (kept)
      moves.bytes[static_cast<size_t>(at)] = {SublaneMoves::From::Operand,
                                              static_cast<uint8_t>((place - 1) / kRegisterBytes),
                                              static_cast<uint8_t>((place - 1) % kRegisterBytes)};
  }
  return moves;
}

}  // namespace sapper::llo
