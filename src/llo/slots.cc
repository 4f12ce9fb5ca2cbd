#include "llo/slots.h"

#include <algorithm>
#include <queue>

#include "base/assert.h"

namespace sapper::llo {

namespace {

bool is_vector(Bank bank) { return bank == Bank::Vector || bank == Bank::Mask; }

// Masks follow the vectors in their file.
constexpr Slot kPhysicalVectors = 64;

Slot physical_slot(const Register& name) {
  const auto number = static_cast<Slot>(name.physical);
  return name.bank == Bank::Mask ? kPhysicalVectors + number : number;
}

}  // namespace

uint32_t& Slots::slots_in(Bank bank) {
  switch (bank) {
    case Bank::Scalar: return scalars_;
    case Bank::Vector:
    case Bank::Mask: return vectors_;
    case Bank::Predicate: return predicates_;
    case Bank::Token: return tokens_;
  }
  SAPPER_ASSERT(false);
}

void Slots::alias(const Register& name, const Operand& operand) { aliases_.emplace(key_of(name), operand); }

// The last operand of a chain of names; null: `name` has a value of its own.
const Operand* Slots::alias_of(const Register& name) const {
  const Operand* found = nullptr;
  const Register* next = &name;
  for (size_t links = 0; next != nullptr && links <= aliases_.size(); ++links) {
    if (next->physical >= 0) break;
    const auto place = aliases_.find(key_of(*next));
    if (place == aliases_.end()) break;
    found = &place->second;
    next = std::get_if<Register>(&found->value);
  }
  return found;
}

uint32_t Slots::position(InstructionIndex i) const {
  return program_.bundles.empty() ? i : program_.instructions[i].bundle;
}

void Slots::define(const Register& name, InstructionIndex at) {
  if (name.physical >= 0) {
    uint32_t& slots = slots_in(name.bank);
    slots = std::max(slots, physical_slot(name) + 1);
    return;
  }
  if (aliases_.contains(key_of(name))) return;
  Value& value = values_[key_of(name)];
  if (value.defined == UINT32_MAX) in_order_.push_back(key_of(name));
  value.defined = std::min(value.defined, at);
}

void Slots::use(const Operand& operand, InstructionIndex at) {
  const auto use_scalar = [&](const ScalarOperand& scalar) {
    if (const auto* name = std::get_if<Register>(&scalar)) use(Operand{*name, {}}, at);
  };
  if (const auto* memory = std::get_if<MemoryOperand>(&operand.value)) {
    use_scalar(memory->base);
    for (const auto* part : {&memory->offset, &memory->sublane_stride, &memory->sublanes_per_stride,
                             &memory->sublane_mask, &memory->pattern})
      if (*part) use_scalar(**part);
    return;
  }
  const auto* name = std::get_if<Register>(&operand.value);
  if (name == nullptr) return;
  if (const Operand* other = alias_of(*name)) {
    name = std::get_if<Register>(&other->value);
    if (name == nullptr) return;
  }
  if (name->physical < 0 && is_vector(name->bank)) values_[key_of(*name)].uses.push_back(at);
}

void Slots::assign(const LoopTable& loops) {
  using Ending = std::pair<uint32_t, Slot>;  // position of the last use
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> live;
  std::vector<Slot> free;
  if (program_.form == Form::PhysicalBundles) {
    scalars_ = std::max(scalars_, 32U);
    vectors_ = std::max(vectors_, kPhysicalVectors);
  }
  std::stable_sort(in_order_.begin(), in_order_.end(),
                   [&](Key a, Key b) { return values_[a].defined < values_[b].defined; });
  for (const Key key : in_order_) {
    Value& value = values_[key];
    const auto bank = static_cast<Bank>(key & 7);
    if (!is_vector(bank)) {
      value.slot = slots_in(bank)++;
      continue;
    }
    const uint32_t begin = position(value.defined);
    uint32_t end = begin;
    for (const InstructionIndex use : value.uses) {
      end = std::max(end, position(use));
      // A value from before a loop that is used in it lives as long as the loop runs.
      const Loop* loop = loops.innermost(use);
      while (loop != nullptr && value.defined < loop->first) {
        end = std::max(end, position(loop->last));
        loop = loops.around(*loop);
      }
    }
    while (!live.empty() && live.top().first < begin) {
      free.push_back(live.top().second);
      live.pop();
    }
    if (free.empty()) {
      value.slot = vectors_++;
    } else {
      value.slot = free.back();
      free.pop_back();
    }
    live.emplace(end, value.slot);
  }
}

bool Slots::is_defined(const Register& name) const {
  if (name.physical >= 0) return true;
  if (const Operand* other = alias_of(name)) {
    const auto* last = std::get_if<Register>(&other->value);
    return last == nullptr || is_defined(*last);
  }
  const auto place = values_.find(key_of(name));
  return place != values_.end() && place->second.defined != UINT32_MAX;
}

Slot Slots::of(const Register& name) const {
  if (name.physical >= 0) return physical_slot(name);
  const auto place = values_.find(key_of(name));
  return place == values_.end() ? kNoSlot : place->second.slot;
}

Slot Slots::address(const AllocationName& name, uint32_t offset, bool in_lanes) {
  auto& known = in_lanes ? vector_addresses_ : addresses_;
  const auto [place, fresh] = known.try_emplace({name.number, name.spill, offset});
  if (fresh) {
    place->second = temporary(in_lanes ? Bank::Vector : Bank::Scalar);
    (in_lanes ? code_.vector_addresses : code_.addresses).push_back({place->second, name, offset});
  }
  return place->second;
}

Slot Slots::of_operand(const Operand& operand, char letter) {
  if (const auto* name = std::get_if<Register>(&operand.value)) {
    const Operand* other = alias_of(*name);
    return other == nullptr ? of(*name) : of_operand(*other, letter);
  }
  const bool in_lanes = letter == 'v' || letter == 'm';
  if (const auto* name = std::get_if<AllocationName>(&operand.value)) return address(*name, operand.offset, in_lanes);
  const auto* immediate = std::get_if<Immediate>(&operand.value);
  SAPPER_ASSERT(immediate != nullptr);
  if (letter == 'p') return predicate_constant(immediate->bits != 0);
  const uint32_t bits = letter == 'm' && immediate->bits != 0 ? ~uint32_t{0} : immediate->bits;
  const auto [place, fresh] = (in_lanes ? vector_constants_ : scalar_constants_).try_emplace(bits);
  if (fresh) {
    place->second = temporary(in_lanes ? Bank::Vector : Bank::Scalar);
    (in_lanes ? code_.vector_constants : code_.scalar_constants).push_back({place->second, bits});
  }
  return place->second;
}

Slot Slots::temporary(Bank bank) { return slots_in(bank)++; }

Slot Slots::predicate_constant(bool value) {
  const auto [place, fresh] = predicate_constants_.try_emplace(value ? 1 : 0);
  if (fresh) {
    place->second = temporary(Bank::Predicate);
    code_.predicate_constants.push_back({place->second, value ? 1U : 0U});
  }
  return place->second;
}

void Slots::finish() {
  code_.scalar_slots = scalars_;
  code_.vector_slots = vectors_;
  code_.predicate_slots = predicates_;
  code_.token_slots = tokens_;
}

}  // namespace sapper::llo
