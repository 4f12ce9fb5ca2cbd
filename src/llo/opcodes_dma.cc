// DMA: moves of whole stretches of memory, counted in granules by sync flags. The bytes move when the DMA starts; until
// its wait, both ends are in flight and touching them is a race.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "llo/isa.h"
#include "llo/machine.h"

namespace sapper::llo {
namespace {

// How many words one step of an address that a DMA takes is.
uint64_t address_words(const Machine& machine, Space space) {
  const uint32_t granule = machine.options().generation.granule_bytes;
  switch (space) {
    case Space::Hbm: return granule / 4;
    case Space::Vmem: return std::min<uint64_t>(granule / 4, kRowWords);
    case Space::Cmem: return kRowWords;
    default: return 1;
  }
}

// In words, as all here.
struct End {
  Space space = Space::Hbm;
  uint64_t first = 0;
};

// A loop over chunks, or over the next inner loop.
struct Level {
  uint64_t source_stride = 0;
  uint64_t destination_stride = 0;
  uint64_t count = UINT64_MAX;  // of the outermost: as many as the size makes
};

struct Transfer {
  End source;
  bool source_known = true;  // where it is does not depend on undefined data
  End destination;
  uint64_t words = 0;         // in all
  uint64_t chunk_words = 0;   // moved in one piece
  std::vector<Level> levels;  // the innermost first; none: there is one chunk
  uint32_t flag = 0;
  uint32_t other_flag = 0;   // of the other core, where the same goes; 0: it does not
  uint32_t source_flag = 0;  // of the core that it starts from, counts too what has been read; 0: none does
  uint64_t granules = 0;
};

// Definedness goes along with the words, as far as possible by whole rows.
void copy_words(Memory& to, uint64_t to_word, const Memory& from, uint64_t from_word, uint64_t count) {
  std::memmove(to.words(to_word), from.words(from_word), count * sizeof(uint32_t));
  while (count != 0) {
    const uint64_t part = std::min(count, kRowWords - from_word % kRowWords);
    if (from.defined(from_word, part)) {
      to.write_undefined(to_word, part, nullptr);
    } else {
      uint32_t undefined[kRowWords];
      from.read_undefined(from_word, part, undefined);
      to.write_undefined(to_word, part, undefined);
    }
    from_word += part;
    to_word += part;
    count -= part;
  }
}

// What is moved from an unknown address is undefined: kernels move the elements that padding of an index names, and
// never use them.
void spoil_words(Memory& to, uint64_t to_word, uint64_t count) {
  static constexpr auto undefined = [] {
    std::array<uint32_t, kRowWords> bits;
    bits.fill(~uint32_t{0});
    return bits;
  }();
  std::fill_n(to.words(to_word), count, 0);
  for (uint64_t part; count != 0; to_word += part, count -= part) {
    part = std::min<uint64_t>(count, kRowWords);
    to.write_undefined(to_word, part, undefined.data());
  }
}

// Where chunk `chunk` is: the sum of the strides of its coordinates.
uint64_t place_of(const End& end, uint64_t Level::*stride, const Transfer& transfer, uint64_t chunk) {
  uint64_t place = end.first;
  for (const Level& level : transfer.levels) {
    place += chunk % level.count * (level.*stride);
    chunk /= level.count;
  }
  return place;
}

// Chunks that follow each other at one stride are one stretch.
std::vector<Machine::Stretch> stretches(const End& end, uint64_t Level::*stride, const Transfer& transfer) {
  const uint64_t chunks = (transfer.words + transfer.chunk_words - 1) / transfer.chunk_words;
  const Level inner = transfer.levels.empty() ? Level{} : transfer.levels.front();
  std::vector<Machine::Stretch> result;
  for (uint64_t chunk = 0; chunk < chunks;) {
    const uint64_t count = std::min(inner.count, chunks - chunk);
    result.push_back({.space = end.space,
                      .first = place_of(end, stride, transfer, chunk),
                      .length = transfer.chunk_words,
                      .stride = inner.*stride,
                      .count = count});
    chunk += count;
  }
  return result;
}

// From the memories of `machine` to those of `receiver`, whose `flag` counts it.
void move_to(Machine& receiver, uint32_t flag, Machine& machine, const Step& step, const Transfer& transfer) {
  Memory& to = receiver.memory(transfer.destination.space);
  const Memory& from = machine.memory(transfer.source.space);
  for (uint64_t done = 0, chunk = 0; done < transfer.words; ++chunk) {
    const uint64_t count = std::min(transfer.chunk_words, transfer.words - done);
    const uint64_t from_word = place_of(transfer.source, &Level::source_stride, transfer, chunk);
    const uint64_t to_word = place_of(transfer.destination, &Level::destination_stride, transfer, chunk);
    if (transfer.source_known) {
      if (!machine.may_read(step, transfer.source.space, from_word, count)) return;
    } else {
      machine.check_reach(step, transfer.source.space, from_word, count);
    }
    if (!receiver.may_write(step, transfer.destination.space, to_word, count)) return;
    if (transfer.source_known) {
      copy_words(to, to_word, from, from_word, count);
    } else {
      spoil_words(to, to_word, count);
    }
    done += count;
  }
  receiver.sync_flag(flag) += static_cast<int64_t>(transfer.granules);
  if (transfer.words == 0) return;
  Machine::Flight flight{.destination = stretches(transfer.destination, &Level::destination_stride, transfer),
                         .flag = flag,
                         .granules = transfer.granules,
                         .instruction = step.source};
  if (&receiver == &machine && transfer.source_known)
    flight.source = stretches(transfer.source, &Level::source_stride, transfer);
  receiver.flights().push_back(std::move(flight));
}

// Loads and stores see these memories in rows. DMA addresses of some generations count parts of one, but compilers make
// them from rows.
void check_alignment(Machine& machine, const Step& step, const End& end, uint64_t Level::*stride,
                     const Transfer& transfer, const char* verb) {
  if (end.space != Space::Vmem && end.space != Space::Cmem) return;
  const auto is_aligned = [&](const Level& level) { return level.*stride % kRowWords == 0; };
  if (end.first % kRowWords == 0 && std::ranges::all_of(transfer.levels, is_aligned)) return;
  machine.report(step, FindingKind::Misaligned,
                 fmt::format("a DMA {} {} from the inside of a row on", verb, to_string(end.space)));
}

// What has been read is over when the flag of the source says so.
void count_at_source(Machine& machine, const Step& step, const Transfer& transfer) {
  if (transfer.source_flag == 0 || transfer.words == 0) return;
  machine.sync_flag(transfer.source_flag) += static_cast<int64_t>(transfer.granules);
  Machine::Flight flight{.flag = transfer.source_flag, .granules = transfer.granules, .instruction = step.source};
  if (transfer.source_known) flight.source = stretches(transfer.source, &Level::source_stride, transfer);
  machine.flights().push_back(std::move(flight));
}

void run(Machine& machine, const Step& step, const Transfer& transfer) {
  if (transfer.source_known) {
    check_alignment(machine, step, transfer.source, &Level::source_stride, transfer, "reads");
  }
  check_alignment(machine, step, transfer.destination, &Level::destination_stride, transfer, "writes");
  move_to(machine, transfer.flag, machine, step, transfer);
  if (transfer.other_flag == 0) return;
  if (machine.other_core() == nullptr) {
    return machine.fail_with({ErrorKind::Unsupported, "a DMA to both cores, on a chip with one", {}});
  }
  move_to(*machine.other_core(), transfer.other_flag, machine, step, transfer);
}

// Operands that all forms begin with: source, size, destination, flag.
Transfer transfer_of(Machine& machine, const Step& step, Space from, Space to) {
  const uint64_t granule_words = machine.options().generation.granule_bytes / 4;
  Transfer transfer;
  transfer.source.space = from;
  transfer.source.first = machine.scalar(step.operand[0]) * address_words(machine, from);
  transfer.source_known = machine.scalar_undefined(step.operand[0]) == 0;
  transfer.granules = machine.decisive(step, step.operand[1], "the size of a DMA");
  transfer.destination.space = to;
  transfer.destination.first =
      machine.decisive(step, step.operand[2], "where a DMA writes") * address_words(machine, to);
  const uint32_t flags = machine.decisive(step, step.operand[3], "the sync flag of a DMA");
  transfer.flag = flags & 0xffff;
  transfer.other_flag = flags >> 16 & 0x1fff;
  transfer.words = transfer.granules * granule_words;
  transfer.chunk_words = std::max<uint64_t>(transfer.words, 1);
  return transfer;
}

// The chunk that `steps` steps of at least a row are; false: reported.
bool set_chunk(Machine& machine, Transfer& transfer, uint32_t steps) {
  const uint64_t step_words = std::max<uint64_t>(machine.options().generation.granule_bytes / 4, kRowWords);
  if (steps == 0) {
    machine.fail_with({ErrorKind::Unsupported, "a DMA with strides and no steps between them", {}});
    return false;
  }
  transfer.chunk_words = steps * step_words;
  return true;
}

// By choice 0 of the row: from, to.
constexpr std::pair<Space, Space> kEnds[] = {
    {Space::Hbm, Space::Vmem},  {Space::Vmem, Space::Hbm},  {Space::Hbm, Space::Smem},  {Space::Smem, Space::Hbm},
    {Space::Vmem, Space::Smem}, {Space::Smem, Space::Vmem}, {Space::Cmem, Space::Vmem}, {Space::Vmem, Space::Cmem},
    {Space::Cmem, Space::Smem}, {Space::Hbm, Space::Cmem},  {Space::Cmem, Space::Hbm},  {Space::Hbm, Space::Hbm},
    {Space::Vmem, Space::Vmem},
};

void move(Machine& machine, const Step& step) {
  Transfer transfer = transfer_of(machine, step, kEnds[step.choice[0]].first, kEnds[step.choice[0]].second);
  if (step.operand_count > 4) {
    if (step.operand_count != 7) {
      return machine.fail_with({ErrorKind::Unsupported, "a DMA with strides but without steps", {}});
    }
    const uint64_t granule_words = machine.options().generation.granule_bytes / 4;
    transfer.levels.push_back({machine.decisive(step, step.operand[4], "a stride of a DMA") * granule_words,
                               machine.decisive(step, step.operand[5], "a stride of a DMA") * granule_words});
    if (!set_chunk(machine, transfer, machine.decisive(step, step.operand[6], "the steps of a DMA"))) return;
  }
  run(machine, step, transfer);
}

// Words in SMEM that say what a DMA does; `source` of them, where it reads, may be undefined. Null: out of bounds, the
// run ends.
const uint32_t* read_descriptor(Machine& machine, const Step& step, uint64_t word, uint64_t count,
                                std::optional<uint64_t> source = std::nullopt) {
  if (!machine.may_read(step, Space::Smem, word, count)) return nullptr;
  const Memory& smem = machine.memory(Space::Smem);
  uint32_t undefined = 0;
  for (uint64_t i = 0; i < count; ++i)
    if (i != source) undefined |= smem.undefined(word + i);
  if (undefined != 0) {
    machine.report(step, FindingKind::UndefinedControl, "the descriptor of a DMA holds undefined data");
  }
  return smem.words(word);
}

// --- dma.general: the spaces show only in what made the addresses

const Instruction* definition(const Program& program, const Register& name) {
  for (const Instruction& instruction : program.instructions) {
    if (instruction.result.bank == name.bank && instruction.result.number == name.number) return &instruction;
  }
  return nullptr;
}

// The space that `operand` is an address of: by the opcodes that address it, through moves.
std::optional<Space> space_of(const Machine& machine, const Operand& operand, int depth = 0) {
  if (const auto* allocation = std::get_if<AllocationName>(&operand.value)) {
    const Machine::Place* place = machine.place_of(*allocation);
    return place == nullptr ? std::nullopt : std::optional<Space>(place->space);
  }
  const auto* name = std::get_if<Register>(&operand.value);
  if (name == nullptr || depth == 8) return std::nullopt;
  const Instruction* made = definition(*machine.code().program, *name);
  if (made == nullptr) return std::nullopt;
  for (const std::string_view prefix : {"int_to_ptr.", "scalar_lea.", "inlined_call_operand."}) {
    if (made->opcode.starts_with(prefix)) return data_space_named(made->opcode.substr(prefix.size()));
  }
  for (const Operand& source : made->operands) {
    if (const std::optional<Space> space = space_of(machine, source, depth + 1)) return space;
  }
  return std::nullopt;
}

// Loops by the descriptor at `place` in SMEM; at 0 there is none: one chunk. False: reported.
bool set_loops(Machine& machine, const Step& step, uint64_t place, Transfer& transfer) {
  if (place == 0) return true;
  const Memory::Piece* piece = machine.memory(Space::Smem).piece_at(place, 1);
  // How many loops there are shows in the size of the descriptor only.
  const uint64_t words = piece == nullptr ? 3 : piece->first_word + piece->words - place;
  if (words % 3 != 0) {
    machine.fail_with(
        {ErrorKind::Unsupported, fmt::format("the descriptor of a DMA has {} words, not three a loop", words), {}});
    return false;
  }
  const uint32_t* word = read_descriptor(machine, step, place, words);
  if (word == nullptr) return false;
  const uint64_t granule_words = machine.options().generation.granule_bytes / 4;
  for (uint64_t end = words; end != 0; end -= 3) {
    transfer.levels.push_back({word[end - 3] * granule_words, word[end - 2] * granule_words});
    if (end > 3) transfer.levels.back().count = std::max<uint64_t>(word[end - 4], 1);
  }
  return set_chunk(machine, transfer, word[words - 1]);
}

// The core whose memory and flag `transfer` goes to: bits 13 to 15 of the flag name it, and bits 26 to 28 of the
// overrides, the low 14 of which are the chip. Only moves to its SMEM have been seen. Null: reported.
Machine* receiver_of(Machine& machine, const Step& step, Transfer& transfer) {
  const uint32_t core = transfer.flag >> 13;
  transfer.flag &= 0x1fff;
  if (core == 0) return &machine;
  const uint32_t overrides = machine.decisive(step, step.operand[6], "the memory that a DMA goes to");
  Machine* const receiver = machine.core_named(core);
  if (receiver != nullptr && transfer.destination.space == Space::Smem && transfer.other_flag == 0 &&
      overrides == (core << 26 | 1U << 14)) {
    return receiver;
  }
  machine.fail_with({ErrorKind::Unsupported, fmt::format("a DMA to the memory {:#x}", overrides), {}});
  return nullptr;
}

// source, size, destination, flag, source flag, descriptor in SMEM, overrides, second flag. Overrides without a core
// name our own.
void move_general(Machine& machine, const Step& step) {
  const Instruction& instruction = machine.instruction(step);
  const std::optional<Space> from = space_of(machine, instruction.operands[0]);
  const std::optional<Space> to = space_of(machine, instruction.operands[2]);
  if (!from || !to) {
    return machine.fail_with({ErrorKind::Unsupported, "which memories a dma.general moves between is not clear", {}});
  }
  Transfer transfer = transfer_of(machine, step, *from, *to);
  transfer.source_flag = machine.decisive(step, step.operand[4], "the sync flag of a DMA") & 0x1fff;
  if (!set_loops(machine, step, machine.decisive(step, step.operand[5], "the descriptor of a DMA"), transfer)) return;
  Machine* const receiver = receiver_of(machine, step, transfer);
  if (receiver == nullptr) return;
  if (receiver == &machine) return run(machine, step, transfer);
  move_to(*receiver, transfer.flag, machine, step, transfer);
  count_at_source(machine, step, transfer);
}

// --- dma: late passes of v2 and v3 write all that a strided move is into SMEM

// The memory that word 1 or 4 of a descriptor names, besides the chip and the core.
std::optional<Space> space_numbered(uint32_t word) {
  switch (word & 0xffff) {
    case 0x200: return Space::Hbm;
    case 0x400: return Space::Vmem;
    default: return std::nullopt;
  }
}

// The words of a descriptor: address, memory, stride << 16 | steps of the destination; the same of the source; size;
// flag. The high bits of the last two say how to count.
void move_described(Machine& machine, const Step& step) {
  constexpr uint64_t descriptor_words = 8;
  const uint64_t descriptor = machine.decisive(step, step.operand[0], "the descriptor of a DMA");
  const uint32_t* word = read_descriptor(machine, step, descriptor, descriptor_words, /*source=*/3);
  if (word == nullptr) return;
  const std::optional<Space> to = space_numbered(word[1]);
  const std::optional<Space> from = space_numbered(word[4]);
  if (!to || !from) {
    return machine.fail_with(
        {ErrorKind::Unsupported, fmt::format("a DMA between memories {:#x} and {:#x}", word[4], word[1]), {}});
  }
  const uint64_t granule_words = machine.options().generation.granule_bytes / 4;
  Transfer transfer;
  transfer.destination = {*to, word[0] * address_words(machine, *to)};
  transfer.source = {*from, word[3] * address_words(machine, *from)};
  transfer.source_known = machine.memory(Space::Smem).undefined(descriptor + 3) == 0;
  transfer.levels.push_back({(word[5] >> 16) * granule_words, (word[2] >> 16) * granule_words});
  transfer.granules = word[6] & 0xfffff;
  transfer.words = transfer.granules * granule_words;
  transfer.flag = word[7] & 0x3ff;
  if (!set_chunk(machine, transfer, word[2] & 0xffff)) return;
  run(machine, step, transfer);
}

constexpr OpcodeInfo kOpcodes[] = {
    {"dma.hbm_to_vmem|vmem_to_hbm|hbm_to_smem|smem_to_hbm|vmem_to_smem|smem_to_vmem|cmem_to_vmem|vmem_to_cmem|"
     "cmem_to_smem|hbm_to_cmem|cmem_to_hbm|hbm_to_hbm|vmem_to_vmem",
     "- = s s s s s? s? s?", Unit::Dma, Action{move},
     "Moves b granules from a to c and adds b to the flag d; to the other core's memory too, where the high half of d "
     "names a flag of it. With strides e of the source and f of the destination, in "
     "granules, chunk k, of g rows (granules where they are larger), is k strides away; else all is one chunk."},
    {"dma.general", "- = s s s s s s s s?", Unit::Dma, Action{move_general},
     "Moves b granules from a to c and adds b to the flag d. Three words a loop at f in SMEM, the outermost first: "
     "strides of the source and of the destination, how often the next loop runs; of the last: rows in a chunk; one "
     "chunk where f is 0. Where the three bits of d above its low 13 are 2 + a core, to the SMEM and the flag of that "
     "core; then b is added to the flag e of this one too (its low 13 bits; v5p's scatters)."},
    {"dma", "- = s", Unit::Dma, Action{move_described},
     "Moves as eight words at a in SMEM say: destination, its memory (0x200 HBM, 0x400 VMEM), its stride << 16 | "
     "steps; "
     "the same of the source; the size in its low 20 bits; the flag in its low 10 bits."},
};

}  // namespace

std::span<const OpcodeInfo> dma_opcodes() { return kOpcodes; }

}  // namespace sapper::llo
