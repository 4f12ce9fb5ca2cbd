// Loads and stores of the vector and scalar units, with strides, sublane masks and patterns.
#include <algorithm>
#include <cstring>

#include "llo/isa.h"
#include "llo/machine.h"

namespace sapper::llo {
namespace {

constexpr uint32_t kAllSublanes = 0xff;

// The row of memory that each sublane is at.
struct Rows : Machine::Rows {
  bool known = true;        // the address does not depend on undefined data
  bool contiguous = false;  // all sublanes, one after the other
};

const Access& access_of(const Machine& machine, const Step& step) { return machine.code().accesses[step.access]; }

uint32_t address_of(const Machine& machine, const Access& access) {
  const uint32_t base = machine.scalar(access.base);
  if (access.offset == kNoSlot) return base;
  const uint32_t offset = machine.scalar(access.offset);
  return access.subtract_offset ? base - offset : base + offset;
}

bool has_known_address(const Machine& machine, const Access& access) {
  return machine.scalar_undefined(access.base) == 0 &&
         (access.offset == kNoSlot || machine.scalar_undefined(access.offset) == 0);
}

void report_unknown_address(Machine& machine, const Step& step) {
  machine.report(step, FindingKind::UndefinedControl, "where this is stored depends on undefined data");
}

// Sublane i is at row(i) rows after the address.
template <class Row>
Rows rows_at(Machine& machine, const Step& step, const Row& row) {
  const Access& access = access_of(machine, step);
  Rows rows;
  rows.space = access.space;
  rows.sublanes = kAllSublanes;
  if (access.sublane_mask != kNoSlot) {
    rows.sublanes = machine.decisive(step, access.sublane_mask, "a sublane mask") & kAllSublanes;
  }
  rows.known = has_known_address(machine, access);
  const uint32_t address = address_of(machine, access);
  const uint64_t unit = machine.memory(access.space).unit_words();
  for (uint32_t i = 0; i < kSublanes; ++i) rows.word[i] = uint64_t{address + row(i)} * unit;
  return rows;
}

// ss: rows from one group of sublanes to the next; sps: how many are in a group.
Rows strided_rows(Machine& machine, const Step& step) {
  const Access& access = access_of(machine, step);
  const uint32_t stride =
      access.sublane_stride == kNoSlot ? 1 : machine.decisive(step, access.sublane_stride, "a stride");
  const uint32_t together = access.sublanes_per_stride == kNoSlot
                                ? 1
                                : std::max(1U, machine.decisive(step, access.sublanes_per_stride, "a stride"));
  Rows rows = rows_at(machine, step, [&](uint32_t i) { return i / together * stride + i % together; });
  rows.contiguous = stride == together && rows.sublanes == kAllSublanes;
  return rows;
}

// pattern: 4 bits (v2, v3: 3 bits) for each sublane, from the low end, are its row.
Rows shuffled_rows(Machine& machine, const Step& step) {
  const Access& access = access_of(machine, step);
  if (access.pattern == kNoSlot) return rows_at(machine, step, [](uint32_t i) { return i; });
  const uint32_t pattern = machine.decisive(step, access.pattern, "a row pattern");
  const uint32_t bits = machine.options().generation.pattern_bits;
  return rows_at(machine, step, [&](uint32_t i) { return pattern >> (bits * i) & ((1U << bits) - 1); });
}

// Pairs of sublanes share a row.
Rows paired_rows(Machine& machine, const Step& step) {
  return rows_at(machine, step, [](uint32_t i) { return i / 2; });
}

// What is read from an unknown address is undefined: kernels read the elements that padding of an index names, and
// never use them.
void load_from_anywhere(Machine& machine, const Step& step, const Rows& rows, Vreg& value, Vreg& undefined,
                        bool& clean) {
  clean = rows.sublanes == 0;
  value = undefined = Vreg{};
  for (int i = 0; i < kSublanes; ++i) {
    if ((rows.sublanes >> i & 1) == 0) continue;
    machine.check_reach(step, rows.space, rows.word[i], kLanes);
    std::fill_n(undefined.word + i * kLanes, kLanes, ~uint32_t{0});
  }
}

// Reads all rows into `value`; sublanes that take no part are 0. `undefined` is filled where it is not all clean.
// False: the run ends.
bool load_rows(Machine& machine, const Step& step, const Rows& rows, Vreg& value, Vreg& undefined, bool& clean) {
  if (!rows.known) {
    load_from_anywhere(machine, step, rows, value, undefined, clean);
    return true;
  }
  const Memory& memory = machine.memory(rows.space);
  machine.note_rows(rows);
  clean = true;
  if (rows.contiguous) {
    if (!machine.may_read(step, rows.space, rows.word[0], kVregWords)) return false;
    std::memcpy(value.word, memory.words(rows.word[0]), sizeof(value.word));
  }
  for (int i = 0; i < kSublanes; ++i) {
    if ((rows.sublanes >> i & 1) == 0) {
      std::fill_n(value.word + i * kLanes, kLanes, 0);
      continue;
    }
    if (!rows.contiguous) {
      if (!machine.may_read(step, rows.space, rows.word[i], kLanes)) return false;
      std::memcpy(value.word + i * kLanes, memory.words(rows.word[i]), kLanes * sizeof(uint32_t));
    }
    clean = clean && memory.defined(rows.word[i], kLanes);
  }
  if (clean) return true;
  for (int i = 0; i < kSublanes; ++i) {
    if ((rows.sublanes >> i & 1) == 0) {
      std::fill_n(undefined.word + i * kLanes, kLanes, 0);
    } else {
      memory.read_undefined(rows.word[i], kLanes, undefined.word + i * kLanes);
    }
  }
  return true;
}

template <Rows (*rows_of)(Machine&, const Step&)>
void load(Machine& machine, const Step& step) {
  Vreg undefined;
  bool clean = true;
  if (!load_rows(machine, step, rows_of(machine, step), machine.write_vector(step.result), undefined, clean)) return;
  if (!clean) machine.set_vector_undefined(step.result, undefined);
}

void load_to_queue(Machine& machine, const Step& step) {
  Queued queued;
  Vreg undefined;
  bool clean = true;
  if (!load_rows(machine, step, strided_rows(machine, step), queued.value, undefined, clean)) return;
  if (!clean) queued.undefined = undefined;
  queued.token = step.result;
  machine.queue(QueueKind::CmemLoad, 0).push_back(queued);
}

void pop_loaded(Machine& machine, const Step& step) {
  auto& queue = machine.queue(QueueKind::CmemLoad, 0);
  if (queue.empty()) {
    machine.report(step, FindingKind::EmptyQueue, "no load from CMEM is under way");
    return machine.stop();
  }
  machine.write_vector(step.result) = queue.front().value;
  if (queue.front().undefined) machine.set_vector_undefined(step.result, *queue.front().undefined);
  queue.pop_front();
}

template <Rows (*rows_of)(Machine&, const Step&)>
void store(Machine& machine, const Step& step) {
  const Rows rows = rows_of(machine, step);
  Memory& memory = machine.memory(rows.space);
  if (rows.known) machine.note_rows(rows);
  const Vreg& value = machine.vector(step.operand[0]);
  const Vreg* undefined = machine.vector_undefined(step.operand[0]);
  if (!rows.known && rows.sublanes != 0) report_unknown_address(machine, step);
  if (rows.contiguous) {
    if (!machine.may_write(step, rows.space, rows.word[0], kVregWords)) return;
    std::memcpy(memory.words(rows.word[0]), value.word, sizeof(value.word));
    return memory.write_undefined(rows.word[0], kVregWords, undefined != nullptr ? undefined->word : nullptr);
  }
  for (int i = 0; i < kSublanes; ++i) {
    if ((rows.sublanes >> i & 1) == 0) continue;
    if (!machine.may_write(step, rows.space, rows.word[i], kLanes)) return;
    std::memcpy(memory.words(rows.word[i]), value.word + i * kLanes, kLanes * sizeof(uint32_t));
    memory.write_undefined(rows.word[i], kLanes, undefined != nullptr ? undefined->word + i * kLanes : nullptr);
  }
}

// Bits of the words where the mask is set.
template <Rows (*rows_of)(Machine&, const Step&)>
void store_masked(Machine& machine, const Step& step) {
  const Rows rows = rows_of(machine, step);
  Memory& memory = machine.memory(rows.space);
  if (rows.known) machine.note_rows(rows);
  const Vreg& mask = machine.vector(step.operand[0]);
  const Vreg& value = machine.vector(step.operand[1]);
  const Vreg* undefined = machine.vector_undefined(step.operand[1]);
  const Vreg* unsure = machine.vector_undefined(step.operand[0]);
  const auto is_set = [](uint32_t bits) { return bits != 0; };
  for (int i = 0; i < kSublanes; ++i) {
    if ((rows.sublanes >> i & 1) == 0) continue;
    if (unsure != nullptr && std::any_of(unsure->word + i * kLanes, unsure->word + (i + 1) * kLanes, is_set)) {
      machine.report(step, FindingKind::UndefinedControl, "which lanes are stored depends on undefined data");
    }
    const uint32_t* lanes = mask.word + i * kLanes;
    const auto first = std::find_if(lanes, lanes + kLanes, is_set) - lanes;
    if (first == kLanes) continue;
    if (!rows.known) report_unknown_address(machine, step);
    auto last = kLanes - 1;
    while (lanes[last] == 0) --last;
    const uint64_t word = rows.word[i] + static_cast<uint64_t>(first);
    const auto count = static_cast<uint64_t>(last - first + 1);
    if (!machine.may_write(step, rows.space, word, count)) return;
    const uint32_t* from = value.word + i * kLanes + first;
    uint32_t* to = memory.words(word);
    uint32_t bits[kLanes];
    memory.read_undefined(word, count, bits);
    for (uint64_t k = 0; k < count; ++k) {
      const uint32_t set = lanes[static_cast<uint64_t>(first) + k];
      to[k] = (to[k] & ~set) | (from[k] & set);
      bits[k] &= ~set;
      if (undefined != nullptr) bits[k] |= undefined->word[static_cast<uint64_t>(i * kLanes + first) + k] & set;
    }
    memory.write_undefined(word, count, bits);
  }
}

// --- scalars
void load_scalar(Machine& machine, const Step& step) {
  const Access& access = access_of(machine, step);
  const uint64_t word = address_of(machine, access);
  if (!has_known_address(machine, access)) {
    machine.check_reach(step, access.space, word, 1);
    return machine.set_scalar(step.result, 0, ~uint32_t{0});
  }
  if (!machine.may_read(step, access.space, word, 1)) return;
  const Memory& memory = machine.memory(access.space);
  machine.set_scalar(step.result, *memory.words(word), memory.undefined(word));
}

void store_scalar(Machine& machine, const Step& step) {
  const Access& access = access_of(machine, step);
  const uint64_t word = address_of(machine, access);
  if (!has_known_address(machine, access)) report_unknown_address(machine, step);
  if (!machine.may_write(step, access.space, word, 1)) return;
  Memory& memory = machine.memory(access.space);
  *memory.words(word) = machine.scalar(step.operand[0]);
  const uint32_t undefined = machine.scalar_undefined(step.operand[0]);
  memory.write_undefined(word, 1, &undefined);
}

constexpr OpcodeInfo kOpcodes[] = {
    {"vld.(bf16)", "v = M", Unit::Load, Action{load<strided_rows>},
     "Sublane i from row base + i * ss (1 where not stated); 0 in sublanes that sm leaves out. A type means nothing."},
    {"vld.sshfl", "v = M", Unit::Load, Action{load<shuffled_rows>},
     "Sublane i from row base + field i of the pattern, the lowest first: of 4 bits, in v2 and v3 of 3."},
    {"vld.even.odd.slanes#", "v = M", Unit::Load, Action{load<paired_rows>},
     "Sublanes 2i and 2i + 1 both from row base + i."},
    {"vst", "- = M v", Unit::Store, Action{store<strided_rows>},
     "Sublane i to row base + i * ss (1 where not stated), those that sm names."},
    {"vst.msk", "- = M m v", Unit::Store, Action{store_masked<strided_rows>},
     "Sublane i to row base + i * ss, those that sm names, where the mask is set."},
    {"vst.sshfl", "- = M v", Unit::Store, Action{store<shuffled_rows>},
     "Sublane i to row base + field i of the pattern, the lowest first: of 4 bits, in v2 and v3 of 3."},
    {"vst.even.odd.slanes#", "- = M m v", Unit::Store, Action{store_masked<paired_rows>},
     "Sublanes 2i and 2i + 1 both to row base + i, where the mask is set."},
    {"cld.pop", "v = M", Unit::Load, Action{load<strided_rows>}, "vld from CMEM."},
    {"cld", "t = M", Unit::Load, Action{load_to_queue}, "vld from CMEM, into the queue that vpop.crf takes from."},
    {"vpop.crf", "v = t?", Unit::Load, Action{pop_loaded}, "The result of the earliest cld not yet taken."},
    {"cst.(pseudo)", "- = M v", Unit::Store, Action{store<strided_rows>}, "vst to CMEM."},
    {"sld", "s = M", Unit::Scalar, Action{load_scalar}, "The word at the address."},
    {"sst", "- = M s", Unit::Scalar, Action{store_scalar}, "The word at the address becomes a."},
};

}  // namespace

std::span<const OpcodeInfo> memory_opcodes() { return kOpcodes; }

}  // namespace sapper::llo
