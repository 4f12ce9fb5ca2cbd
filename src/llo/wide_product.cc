#include "llo/wide_product.h"

#include <unordered_map>

namespace sapper::llo {

namespace {

struct HighWords : UnitState {
  std::unordered_map<Slot, Queued> of;  // by the slot of the product
};

}  // namespace

void compose_product(Machine& machine, const Step& step) {
  const Vreg& a = machine.vector(step.operand[0]);
  const Vreg& b = machine.vector(step.operand[1]);
  const Vreg* undefined[] = {machine.vector_undefined(step.operand[0]), machine.vector_undefined(step.operand[1])};
  Queued high;
  Vreg low;
  for (int i = 0; i < kVregWords; ++i) {
    low.word[i] = a.word[i] * b.word[i];
    high.value.word[i] = high_product(a.word[i], b.word[i]);
  }
  if (undefined[0] != nullptr || undefined[1] != nullptr) {
    high.undefined.emplace();
    for (int i = 0; i < kVregWords; ++i) {
      const uint32_t bits =
          (undefined[0] == nullptr ? 0 : undefined[0]->word[i]) | (undefined[1] == nullptr ? 0 : undefined[1]->word[i]);
      high.undefined->word[i] = bits == 0 ? 0 : ~uint32_t{0};
    }
  }
  machine.write_vector(step.result) = low;
  if (high.undefined) machine.set_vector_undefined(step.result, *high.undefined);
  machine.unit<HighWords>(0).of.insert_or_assign(step.result, high);
}

void extract_high(Machine& machine, const Step& step) {
  const auto& known = machine.unit<HighWords>(0).of;
  const auto high = known.find(step.operand[0]);
  if (high == known.end()) {
    machine.fail_with({ErrorKind::Unsupported, "vextract.high.u32 of what no vmul.u32.u64.compose made"});
    return;
  }
  machine.write_vector(step.result) = high->second.value;
  if (high->second.undefined) machine.set_vector_undefined(step.result, *high->second.undefined);
}

}  // namespace sapper::llo
