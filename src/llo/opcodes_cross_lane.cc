// The cross-lane units: rotates, permutes, broadcasts, reductions over lanes, and the queues of their results.
#include <algorithm>
#include <unordered_map>

#include "llo/machine.h"
#include "llo/result_queue.h"

namespace sapper::llo {

namespace {

constexpr uint32_t kEveryBit = ~uint32_t{0};

void set_vector(Machine& machine, const Step& step, const Queued& result) {
  machine.write_vector(step.result) = result.value;
  if (result.undefined) machine.set_vector_undefined(step.result, *result.undefined);
}

// --- from sublane to sublane

void rotate_sublanes_by(const Vreg& from, uint32_t amount, Vreg& result) {
  for (uint32_t s = 0; s < kSublanes; ++s)
    std::copy_n(from.word + (s + amount) % kSublanes * kLanes, kLanes, result.word + s * kLanes);
}

void rotate_sublanes_down(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  rotate_sublanes_by(*operands[0], 1, result);
}

// `from` gathered by `choose(value, pattern, result)`; where `decides` of the pattern is undefined, all is.
template <class Choose>
void gather(Machine& machine, const Step& step, uint32_t decides, Choose choose) {
  const Vreg& pattern = machine.vector(step.operand[1]);
  const Vreg* pattern_undefined = machine.vector_undefined(step.operand[1]);
  Queued result = moved(machine, step.operand[0], [&](const Vreg& from, Vreg& to) { choose(from, pattern, to); });
  if (pattern_undefined != nullptr) {
    if (!result.undefined) result.undefined.emplace();
    for (int i = 0; i < kVregWords; ++i)
      if ((pattern_undefined->word[i] & decides) != 0) result.undefined->word[i] = kEveryBit;
  }
  set_vector(machine, step, result);
}

void rotate_sublanes(Machine& machine, const Step& step) {
  gather(machine, step, kSublanes - 1, [](const Vreg& from, const Vreg& amounts, Vreg& result) {
    const uint32_t first = amounts.word[0];
    uint32_t different = 0;
    for (const uint32_t amount : amounts.word) different |= amount ^ first;
    if (different == 0) {
      rotate_sublanes_by(from, first, result);
      return;
    }
    for (uint32_t i = 0; i < kVregWords; ++i)
      result.word[i] = from.word[(i / kLanes + amounts.word[i]) % kSublanes * kLanes + i % kLanes];
  });
}

void gather_words(const Vreg& from, const Vreg& pattern, Vreg& result) {
  for (uint32_t i = 0; i < kVregWords; ++i)
    result.word[i] = from.word[pattern.word[i] % kSublanes * kLanes + i % kLanes];
}
void gather_bytes(const Vreg& from, const Vreg& pattern, Vreg& result) {
  for (uint32_t i = 0; i < kVregWords; ++i) {
    uint32_t word = 0;
    for (int byte = 0; byte < 32; byte += 8) {
      const uint32_t place = pattern.word[i] >> byte & 0x1f;
      word |= (from.word[place % kSublanes * kLanes + i % kLanes] >> (place / kSublanes * 8) & 0xff) << byte;
    }
    result.word[i] = word;
  }
}

void permute_sublanes(Machine& machine, const Step& step) {
  const bool bytes = machine.options().generation.matrix_size == 256;
  gather(machine, step, bytes ? 0x1f1f1f1f : kSublanes - 1, bytes ? gather_bytes : gather_words);
}

void low_sublanes(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  std::copy_n(operands[0]->word, kVregWords / 2, result.word);
  std::copy_n(operands[1]->word, kVregWords / 2, result.word + kVregWords / 2);
}
void high_sublanes(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  std::copy_n(operands[0]->word + kVregWords / 2, kVregWords / 2, result.word);
  std::copy_n(operands[1]->word + kVregWords / 2, kVregWords / 2, result.word + kVregWords / 2);
}

// --- from lane to lane; results wait in a queue. Names end with the number of the unit, xlu#.

template <int choice>
uint32_t unit_of(const Step& step) {
  return step.choice[choice];
}

void rotate_lanes(Machine& machine, const Step& step) {
  const uint32_t amount = machine.decisive(step, step.operand[1], "the amount of a rotate") % kLanes;
  Queued result = moved(machine, step.operand[0], [&](const Vreg& from, Vreg& to) {
    for (int s = 0; s < kSublanes; ++s) {
      const uint32_t* in = from.word + s * kLanes;
      std::rotate_copy(in, in + (kLanes - amount), in + kLanes, to.word + s * kLanes);
    }
  });
  push_result(machine, step, QueueKind::Permute, unit_of<1>(step), result);
}

void broadcast_lane(Machine& machine, const Step& step) {
  const uint32_t lane = machine.decisive(step, step.operand[1], "the lane of a broadcast");
  Queued result = moved(machine, step.operand[0], [&](const Vreg& from, Vreg& to) {
    for (uint32_t s = 0; s < kSublanes; ++s)
      std::fill_n(to.word + s * kLanes, kLanes, from.word[s * kLanes + (lane + s * (lane >> 8)) % kLanes]);
  });
  push_result(machine, step, QueueKind::Permute, unit_of<1>(step), result);
}

// The patterns that a unit has been given.
struct PermutePatterns : UnitState {
  std::unordered_map<Slot, Queued> of_token;
  Queued last;
};

void set_pattern(Machine& machine, const Step& step) {
  auto& patterns = machine.unit<PermutePatterns>(unit_of<0>(step));
  patterns.last = queued_operand(machine, step.operand[0]);
  if (machine.code().program->form == Form::Ssa) patterns.of_token.insert_or_assign(step.result, patterns.last);
}

// In an SSA program the pattern is the one that the token names, else the last one that the unit was given.
template <int choice>
void permute_lanes(Machine& machine, const Step& step) {
  const auto& patterns = machine.unit<PermutePatterns>(unit_of<choice>(step));
  const auto named = patterns.of_token.find(step.operand[0]);
  const Queued& pattern = named == patterns.of_token.end() ? patterns.last : named->second;
  Queued result = moved(machine, step.operand[1], [&](const Vreg& from, Vreg& to) {
    for (uint32_t i = 0; i < kVregWords; ++i)
      to.word[i] = from.word[i / kLanes * kLanes + pattern.value.word[i] % kLanes];
  });
  if (pattern.undefined) {
    if (!result.undefined) result.undefined.emplace();
    for (int i = 0; i < kVregWords; ++i)
      if ((pattern.undefined->word[i] & (kLanes - 1)) != 0) result.undefined->word[i] = kEveryBit;
  }
  push_result(machine, step, QueueKind::Permute, unit_of<choice>(step), result);
}

float bits_to_float(uint32_t bits) { return std::bit_cast<float>(bits); }

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return std::bit_cast<uint32_t>(bits_to_float(a) + bits_to_float(b));
  }
};
// As vmax.f32 and vmin.f32.
struct Largest {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return bits_to_float(a) > bits_to_float(b) || bits_to_float(a) != bits_to_float(a) ? a : b;
  }
};
struct Smallest {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return bits_to_float(a) < bits_to_float(b) || bits_to_float(a) != bits_to_float(a) ? a : b;
  }
};

template <class Combine>
void reduce_lanes(Machine& machine, const Step& step) {
  const Queued from = queued_operand(machine, step.operand[0]);
  Queued result;
  if (from.undefined) result.undefined.emplace();
  for (int s = 0; s < kSublanes; ++s) {
    uint32_t lanes[kLanes];
    std::copy_n(from.value.word + s * kLanes, kLanes, lanes);
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lanes[l] = Combine{}(lanes[l], lanes[l + half]);
    std::fill_n(result.value.word + s * kLanes, kLanes, lanes[0]);
    if (from.undefined) {
      const uint32_t* bits = from.undefined->word + s * kLanes;
      const bool any = std::any_of(bits, bits + kLanes, [](uint32_t word) { return word != 0; });
      std::fill_n(result.undefined->word + s * kLanes, kLanes, any ? kEveryBit : 0);
    }
  }
  push_result(machine, step, QueueKind::CrossLaneReduce, unit_of<0>(step), result);
}

template <QueueKind kind>
void pop(Machine& machine, const Step& step) {
  pop_result(machine, step, kind, unit_of<0>(step));
}

// --- to the scalar unit and to the other core

void push_to_scalars(Machine& machine, const Step& step) {
  push_result(machine, step, QueueKind::Scalar, 0, queued_operand(machine, step.operand[0]));
}

void pop_to_scalars(Machine& machine, const Step& step) { pop_scalar(machine, step, QueueKind::Scalar); }

// --- the other core's registers
bool has_other_core(Machine& machine) {
  if (machine.other_core() != nullptr) return true;
  machine.fail_with({ErrorKind::Unsupported, "a kernel that two cores run together, on a chip with one"});
  return false;
}

void push_to_other_core(Machine& machine, const Step& step) {
  if (!has_other_core(machine)) return;
  machine.other_core()->queue(QueueKind::OtherCore, 0).push_back(queued_operand(machine, step.operand[0]));
}

void pop_from_other_core(Machine& machine, const Step& step) {
  if (!has_other_core(machine)) return;
  auto& queue = machine.queue(QueueKind::OtherCore, 0);
  if (queue.empty()) return machine.wait_for_other_core();
  machine.write_vector(step.result) = queue.front().value;
  if (queue.front().undefined) machine.set_vector_undefined(step.result, *queue.front().undefined);
  queue.pop_front();
}

constexpr OpcodeInfo kRows[] = {
    {"vrot.slane", "v = v v", Unit::Vector, Action{rotate_sublanes},
     "Sublane s of the result is sublane (s + amount) mod 8 of the first operand; the amount is the second operand's, "
     "lane by lane."},
    {"vrot.slane.down", "v = v", Unit::Vector, Movement{rotate_sublanes_down},
     "Sublane s of the result is sublane (s + 1) mod 8: vrot.slane by 1 (settled by v4's rolls)."},
    {"vperm.slane", "v = v v", Unit::Vector, Action{permute_sublanes},
     "Gathers within each lane. v6e, tpu7x: byte by byte; the byte 8b + s of the second operand takes byte b of "
     "sublane s (the tables of the sines rely on it). Before: word by word, from the sublane that the second operand "
     "says, modulo 8."},
    {"vcombine.low", "v = v v", Unit::Vector, Movement{low_sublanes},
     "Sublanes 0-3 of the first operand, then 0-3 of the second."},
    {"vcombine.high", "v = v v", Unit::Vector, Movement{high_sublanes},
     "Sublanes 4-7 of the first operand, then 4-7 of the second."},

    {"vrot.lane.(b32).xlu#", "t = v s", Unit::CrossLane, Action{rotate_lanes},
     "Lane l of the result is lane (l - amount) mod 128. To the unit's permute queue."},
    {"vbcast.lane.(b32).xlu#", "t = v s", Unit::CrossLane, Action{broadcast_lane},
     "Every lane of sublane s is its lane k + s * d, modulo 128: k is the low byte of the second operand, d the bits "
     "above it (0; 1 in v6e's and tpu7x's reductions). To the unit's permute queue."},
    {"vset.pattern.permute.xlu#", "t = v", Unit::CrossLane, Action{set_pattern},
     "Gives the unit a pattern for vperm.lane."},
    {"vperm.lane.(b32).xlu#", "t = t v", Unit::CrossLane, Action{permute_lanes<1>},
     "Gathers within each sublane: lane l of the result is the lane that the pattern says there, modulo 128. To the "
     "unit's permute queue."},
    {"vperm.xlu#", "t = t v", Unit::CrossLane, Action{permute_lanes<0>}, "vperm.lane as older releases spell it."},
    {"vpop.permute.xlu#", "v = t?", Unit::CrossLane, Action{pop<QueueKind::Permute>},
     "The next result of the unit's permute queue."},

    {"vadd.xlane.f32.xlu#", "t = v", Unit::CrossLane, Action{reduce_lanes<Sum>},
     "The sum of a sublane's 128 lanes, in all its lanes, added in halves: l and l + 64, l and l + 32, ... (the order "
     "is assumed). To the unit's reduction queue."},
    {"vmax.xlane.f32.xlu#", "t = v", Unit::CrossLane, Action{reduce_lanes<Largest>},
     "The largest of a sublane's 128 lanes, in all its lanes; NaN where one is. To the unit's reduction queue."},
    {"vmin.xlane.f32.xlu#", "t = v", Unit::CrossLane, Action{reduce_lanes<Smallest>},
     "The smallest of a sublane's 128 lanes, in all its lanes; NaN where one is. To the unit's reduction queue."},
    {"vpop.xlane.xlu#", "v = t?", Unit::CrossLane, Action{pop<QueueKind::CrossLaneReduce>},
     "The next result of the unit's reduction queue."},

    {"vpush", "t = v", Unit::Vector, Action{push_to_scalars}, "Sends the word of sublane 0, lane 0 to spop."},
    {"spop", "s = t?", Unit::Scalar, Action{pop_to_scalars}, "The next word that vpush sent."},
    {"vpush.ccrf.(asym)", "t = v", Unit::Vector, Action{push_to_other_core}, "Sends a register to the other core."},
    {"vpop.ccrf.(asym)", "v = t?", Unit::Vector, Action{pop_from_other_core},
     "The next register that the other core sent; waits for it."},
};

}  // namespace

std::span<const OpcodeInfo> cross_lane_opcodes() { return kRows; }

}  // namespace sapper::llo
