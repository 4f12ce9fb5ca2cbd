#include "llo/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "llo/kernel_operand.h"
#include "llo/machine.h"
#include "llo/tiling.h"

namespace sapper::llo {

namespace {

// A word of memory, as some step left it.
struct Place {
  Space space = Space::Vmem;
  uint64_t word = 0;
  uint64_t before_step = UINT64_MAX;
};

struct Writer {
  InstructionIndex instruction = 0;
  uint64_t step = 0;
  std::optional<Place> carried_from;  // a DMA wrote it
};

// The word of a tiled array that holds (the first bits of) an element.
Result<uint64_t> word_of(const hlo::Shape& shape, int64_t element) {
  SAPPER_TRY(const uint64_t bytes, tiled_bytes(shape));
  hlo::Literal marked(shape);
  if (element < 0 || element >= marked.element_count())
    return fail(ErrorKind::BadInput, "no element {} in {}", element, shape.to_text(false));
  std::vector<std::byte> memory(bytes);
  auto mark = marked.mutable_bytes();
  const size_t width = mark.size() / static_cast<size_t>(marked.element_count());
  for (size_t i = 0; i < width; ++i) mark[static_cast<size_t>(element) * width + i] = std::byte{0xff};
  SAPPER_CHECKED(write_tiled(marked, shape, memory));
  for (uint64_t i = 0; i < bytes; ++i)
    if (memory[i] != std::byte{0}) return i / 4;
  return fail(ErrorKind::Internal, "element {} of {} lies nowhere", element, shape.to_text(false));
}

// The `offset`-th word of stretches laid one after the other.
std::optional<Place> word_at(const std::vector<Machine::Stretch>& stretches, uint64_t offset) {
  for (const Machine::Stretch& stretch : stretches) {
    const uint64_t words = stretch.length * stretch.count;
    if (offset < words)
      return Place{stretch.space, stretch.first + offset / stretch.length * stretch.stride + offset % stretch.length};
    offset -= words;
  }
  return std::nullopt;
}

std::optional<uint64_t> offset_of(const std::vector<Machine::Stretch>& stretches, const Place& place) {
  uint64_t before = 0;
  for (const Machine::Stretch& stretch : stretches) {
    for (uint64_t k = 0; k < stretch.count && stretch.space == place.space; ++k) {
      const uint64_t first = stretch.first + k * stretch.stride;
      if (place.word >= first && place.word < first + stretch.length)
        return before + k * stretch.length + place.word - first;
    }
    before += stretch.length * stretch.count;
  }
  return std::nullopt;
}

bool wrote(const Machine& machine, const Place& place) {
  return std::ranges::any_of(machine.written(), [&](const Machine::Written& written) {
    return written.space == place.space && place.word >= written.word && place.word < written.word + written.count;
  });
}

// Where the DMA that the last step issued had the word from.
std::optional<Place> source_of(const Machine& machine, const Step& step, const Place& place) {
  for (const Machine::Flight& flight : machine.flights()) {
    if (flight.instruction != step.source) continue;
    if (const auto offset = offset_of(flight.destination, place))
      if (auto from = word_at(flight.source, *offset)) {
        from->before_step = machine.steps_run();
        return from;
      }
  }
  return std::nullopt;
}

// The memory space of the kernel's operand or result `index`, as the program declares it.
Result<std::optional<Space>> declared_space(const Program& program, int index) {
  for (const Instruction& instruction : program.instructions) {
    SAPPER_TRY(const std::optional<KernelOperand> operand, kernel_operand(program, instruction));
    if (operand && operand->index == index) return operand->space;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<InstructionIndex>> last_writer(const Program& program, const KernelCall& call, size_t leaf,
                                                    int64_t element) {
  const std::vector<hlo::Shape> leaves = arrays_of(call.result);
  if (leaf >= leaves.size()) return fail(ErrorKind::BadInput, "the result has no leaf {}", leaf);
  int index = static_cast<int>(leaf);
  for (const hlo::Shape& operand : call.operand_shapes) index += static_cast<int>(arrays_of(operand).size());
  SAPPER_TRY(const std::optional<Space> space, declared_space(program, index));
  if (!space) return std::nullopt;
  SAPPER_TRY(const uint64_t word, word_of(leaves[leaf], element));

  std::optional<Place> place;  // known when the kernel runs
  for (;;) {
    std::optional<Writer> writer;
    MachineOptions options = call.options;
    options.observer = [&](const Step& step, const Machine& machine) {
      if (!place)
        place = Place{*space, uint64_t{*machine.bound_operand(index)} * machine.memory(*space).unit_words() + word};
      if (machine.steps_run() >= place->before_step || !wrote(machine, *place)) return;
      writer = Writer{step.source, machine.steps_run(), source_of(machine, step, *place)};
    };
    SAPPER_TRY([[maybe_unused]] const KernelRun run,
               run_kernel(program, call.declarations, call.operands, call.operand_shapes, call.result, options));
    if (!writer) return std::nullopt;
    if (!writer->carried_from) return writer->instruction;
    place = writer->carried_from;
  }
}

}  // namespace sapper::llo
