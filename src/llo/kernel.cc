#include "llo/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include "base/assert.h"
#include "hlo/text.h"
#include "llo/decode.h"
#include "llo/kernel_operand.h"
#include "llo/tiling.h"

namespace sapper::llo {
namespace {

using hlo::Literal;
using hlo::Shape;

// One array that the kernel reads or writes: operands first, then results, tuples flattened.
struct Leaf {
  Shape shape;
  std::optional<Literal> value;     // nullopt: a result
  std::optional<Space> space;       // nullopt: the scalar's bits are passed
  bool declared = false;            // the program looks at it
  std::optional<uint32_t> address;  // of its piece
};

class KernelRunner {
 public:
  KernelRunner(const Program& program, const Program* declarations, const MachineOptions& options, const Elements& open)
      : program_(program), declarations_(declarations), open_(open) {
    for (uint32_t core = 0; core < options.generation.cores; ++core) {
      cores_.push_back(std::make_unique<Machine>(options));
      if (core > 0) cores_.front()->join(*cores_.back());
    }
  }

  Result<KernelRun> run(std::span<const Literal> operands, std::span<const Shape> operand_shapes, const Shape& result,
                        const ArraysPlaced& placed) {
    SAPPER_TRY(const Code code, decode(program_, cores_.front()->options().generation));
    for (const auto& core : cores_) SAPPER_CHECKED(core->load(code, declarations_));
    collect_leaves(operands, operand_shapes, result);
    SAPPER_CHECKED(read_declarations());
    SAPPER_CHECKED(place_leaves());
    SAPPER_CHECKED(place_operand_table());
    place_core_and_chip();
    if (placed) placed(placed_arrays());
    SAPPER_CHECKED(run_cores());
    KernelRun run;
    for (const auto& core : cores_) {
      std::vector<Finding> findings = core->findings();
      check_end(*core, findings);
      for (Finding& finding : findings) add_finding(run.findings, std::move(finding));
      run.steps += core->steps_run();
      run.vector_steps += core->vector_steps_run();
    }
    SAPPER_TRY(run.output, read_output(result, run.findings));
    return run;
  }

 private:
  void collect_leaves(std::span<const Literal> operands, std::span<const Shape> operand_shapes, const Shape& result) {
    for (const Shape& shape : operand_shapes)
      for (const Shape& array : arrays_of(shape)) leaves_.push_back({.shape = array});
    first_result_ = leaves_.size();
    size_t given = 0;
    for (const Literal& operand : operands)
      for (Literal& leaf : hlo::leaves(operand)) {
        if (!leaf.shape().is_array()) continue;
        SAPPER_ASSERT(given < first_result_);
        leaves_[given++].value = std::move(leaf);
      }
    SAPPER_ASSERT(given == first_result_);
    for (const Shape& array : arrays_of(result)) leaves_.push_back({.shape = array});
    buffer_.resize(leaves_.size());
    std::iota(buffer_.begin(), buffer_.end(), size_t{0});
  }

  // What the program says of its operands and results: index, shape, memory, shared buffers.
  Status read_declarations() {
    for (const Instruction& instruction : program_.instructions) {
      SAPPER_TRY(const std::optional<KernelOperand> operand, kernel_operand(program_, instruction));
      if (!operand) continue;
      const int index = operand->index;
      if (index == -1) {
        has_operand_table_ = true;
        continue;
      }
      if (index < 0 || static_cast<size_t>(index) >= leaves_.size()) {
        return error_in(program_, instruction,
                        fmt::format("the kernel has an operand {}, the instruction that it is run for has {} "
                                    "operands and results",
                                    index, leaves_.size()));
      }
      Leaf& leaf = leaves_[static_cast<size_t>(index)];
      SAPPER_CHECKED(check_shape(instruction, leaf.shape));
      leaf.declared = true;
      leaf.space = operand->space;
      SAPPER_CHECKED(share_buffers(instruction));
    }
    if (has_operand_table_) take_spaces_from_layouts();
    for (size_t i = first_result_; i < leaves_.size(); ++i) {
      if (leaves_[i].space) continue;
      return fail(ErrorKind::BadInput, "{}: the kernel has no place for its result {} ({})", program_.file,
                  i - first_result_, leaves_[i].shape.to_text());
    }
    return {};
  }

  // What the program does not declare it finds through its table.
  void take_spaces_from_layouts() {
    constexpr int64_t vmem = 1;
    constexpr int64_t smem = 6;
    for (Leaf& leaf : leaves_) {
      if (leaf.declared) continue;
      const hlo::Layout* const layout = leaf.shape.layout();
      const int64_t space = layout == nullptr ? 0 : layout->memory_space;
      leaf.space = space == vmem ? Space::Vmem : space == smem ? Space::Smem : Space::Hbm;
    }
  }

  Status check_shape(const Instruction& instruction, const Shape& shape) const {
    const std::optional<std::string_view> text = instruction.attribute("shape");
    if (!text) return {};
    const Result<Shape> declared = hlo::parse_shape(*text);
    if (declared && declared->same_ignoring_layout(shape)) return {};
    return error_in(program_, instruction,
                    fmt::format("the kernel takes {} where the instruction that it is run for has {}", *text,
                                shape.to_text(/*with_layout=*/false)));
  }

  // may-alias: {0,3}: leaves 0 and 3 have one buffer.
  Status share_buffers(const Instruction& instruction) {
    std::string_view text = instruction.attribute("may-alias").value_or("");
    std::optional<size_t> first;
    while (!text.empty()) {
      const size_t digit = text.find_first_of("0123456789");
      if (digit == std::string_view::npos) break;
      text.remove_prefix(digit);
      size_t index = 0;
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), index);
      if (failed != std::errc() || index >= leaves_.size()) {
        return error_in(program_, instruction, "shares its buffer with an operand that there is not");
      }
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      if (!first) first = index;
      const size_t old = buffer_[index];
      std::replace(buffer_.begin(), buffer_.end(), old, buffer_[*first]);
    }
    return {};
  }

  // Every leaf that the program looks at gets its piece of memory, the operands' values in it.
  Status place_leaves() {
    std::map<std::pair<size_t, Space>, uint32_t> places;  // of buffers
    for (size_t i = 0; i < leaves_.size(); ++i) {
      Leaf& leaf = leaves_[i];
      if (!leaf.declared && !leaf.space) continue;
      if (leaf.declared && !leaf.space) {
        SAPPER_TRY(const uint32_t bits, scalar_bits(leaf));
        leaf.address = bits;
        bind(i, bits);
        continue;
      }
      SAPPER_TRY(const uint64_t bytes, tiled_bytes(leaf.shape));
      constexpr uint64_t limit = uint64_t{1} << 34;
      if (bytes > limit) return fail(ErrorKind::Resource, "{} takes {} bytes", leaf.shape.to_text(), bytes);
      const auto [place, fresh] = places.try_emplace({buffer_[i], *leaf.space});
      if (fresh) place->second = allocate(i, bytes);
      leaf.address = place->second;
      bind(i, place->second);
      if (leaf.value) SAPPER_CHECKED(write_value(leaf, bytes));
    }
    return {};
  }

  // In the memory of every core, at the same address in each; HBM is one for all. Arrays in VMEM and CMEM begin at
  // multiples of a vector register (the top-level program's allocations say so): kernels store whole registers to
  // smaller arrays, and their DMA reads more than those have.
  uint32_t allocate(size_t index, uint64_t bytes) {
    const bool is_operand = index < first_result_;
    const std::string name =
        fmt::format("{} {}", is_operand ? "operand" : "result", is_operand ? index : index - first_result_);
    const Space space = *leaves_[index].space;
    constexpr uint64_t register_bytes = sizeof(Vreg);
    if (space == Space::Vmem || space == Space::Cmem)
      bytes = (bytes + register_bytes - 1) / register_bytes * register_bytes;
    std::optional<uint32_t> address;
    for (const auto& core : cores_) {
      if (address && space == Space::Hbm) break;
      const uint32_t place = core->memory(space).allocate(bytes, name);
      SAPPER_ASSERT(!address || *address == place);
      address = place;
    }
    return *address;
  }

  void bind(size_t index, uint32_t value) {
    for (const auto& core : cores_) core->bind_operand(static_cast<int>(index), value);
  }

  // A scalar (or an array of one element) without memory space: its bits, zero-extended.
  [[nodiscard]] Result<uint32_t> scalar_bits(const Leaf& leaf) const {
    const auto bytes = leaf.value->bytes();
    if (leaf.shape.element_count() != 1 || bytes.size() > sizeof(uint32_t)) {
      return fail(ErrorKind::Unsupported, "{}: {} is passed by value", program_.file, leaf.shape.to_text());
    }
    uint32_t bits = 0;
    std::memcpy(&bits, bytes.data(), bytes.size());
    return bits;
  }

  [[nodiscard]] uint64_t first_word(const Leaf& leaf) const {
    return uint64_t{*leaf.address} * cores_.front()->memory(*leaf.space).unit_words();
  }

  // Padding holds anything, but no small numbers: an address that a kernel makes from it leads out of bounds unless it
  // is kept in them.
  Status write_value(const Leaf& leaf, uint64_t bytes) {
    constexpr uint32_t padding = 0x5bd1e995;
    const uint64_t words = (bytes + 3) / 4;
    const uint64_t word = first_word(leaf);
    for (const auto& core : cores_) {
      std::vector<uint32_t> written(words);
      Memory& memory = core->memory(*leaf.space);
      for (uint64_t i = 0; i < words; ++i)
        if (memory.undefined(word + i) == ~uint32_t{0}) *memory.words(word + i) = padding;
      const std::span<std::byte> place(reinterpret_cast<std::byte*>(memory.words(word)), words * 4);
      SAPPER_CHECKED(write_tiled(*leaf.value, leaf.shape, place, std::as_writable_bytes(std::span(written))));
      // Operands that share a buffer are defined where any of them is.
      std::vector<uint32_t> undefined(words);
      memory.read_undefined(word, words, undefined.data());
      for (uint64_t i = 0; i < words; ++i) undefined[i] &= ~written[i];
      memory.write_undefined(word, words, undefined.data());
      if (*leaf.space == Space::Hbm) break;
    }
    return {};
  }

  [[nodiscard]] std::vector<PlacedArray> placed_arrays() const {
    std::vector<PlacedArray> arrays;
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (leaves_[i].space && leaves_[i].address)
        arrays.push_back({leaves_[i].shape, *leaves_[i].space, first_word(leaves_[i]), i >= first_result_});
    return arrays;
  }

  // An operand with index -1 is a table in SMEM of what all others are bound to.
  Status place_operand_table() {
    if (!has_operand_table_) return {};
    for (const auto& core : cores_) {
      Memory& memory = core->memory(Space::Smem);
      const uint32_t table = memory.allocate(leaves_.size() * sizeof(uint32_t), "table of operands");
      for (size_t i = 0; i < leaves_.size(); ++i) *memory.words(table + i) = leaves_[i].address.value_or(0);
      memory.write_undefined(table, leaves_.size(), nullptr);
      core->bind_operand(-1, table);
    }
    return {};
  }

  // Programs read the number of their core and of their chip, 0, from SMEM, and say so in a comment.
  void place_core_and_chip() {
    for (const Instruction& instruction : program_.instructions) {
      if (instruction.opcode != "sld" || instruction.operands.empty()) continue;
      const bool is_core = instruction.comment.ends_with("core id");
      if (!is_core && !instruction.comment.ends_with("chip id")) continue;
      const auto* access = std::get_if<MemoryOperand>(&instruction.operands[0].value);
      const auto* name = access != nullptr ? std::get_if<AllocationName>(&access->base) : nullptr;
      for (uint32_t number = 0; name != nullptr && number < cores_.size(); ++number) {
        const Machine::Place* place = cores_[number]->place_of(*name);
        if (place == nullptr || place->space != Space::Smem) continue;
        Memory& memory = cores_[number]->memory(Space::Smem);
        *memory.words(place->address) = is_core ? number : 0;
        memory.write_undefined(place->address, 1, nullptr);
      }
    }
  }

  // Each core runs until it waits for the other, in turn, until all are at their end.
  Status run_cores() {
    for (bool first = true;; first = false) {
      bool progress = false;
      bool waiting = false;
      for (const auto& core : cores_) {
        if (!first && !core->is_waiting()) continue;
        const uint64_t steps = core->steps_run();
        SAPPER_CHECKED(core->run());
        progress = progress || core->steps_run() > steps;
        waiting = waiting || core->is_waiting();
      }
      if (!waiting || !progress) return {};
    }
  }

  // Two cores mostly do the same.
  static void add_finding(std::vector<Finding>& findings, Finding finding) {
    const auto same = [&](const Finding& other) {
      return other.kind == finding.kind && other.instruction == finding.instruction;
    };
    const bool located = finding.instruction != UINT32_MAX;
    if (!located || std::ranges::none_of(findings, same)) findings.push_back(std::move(finding));
  }

  // What must be over at the end of a kernel.
  static void check_end(const Machine& core, std::vector<Finding>& findings) {
    const auto ends_run = [](const Finding& finding) {
      return finding.kind == FindingKind::OutOfBounds || finding.kind == FindingKind::Deadlock ||
             finding.kind == FindingKind::Halt || finding.kind == FindingKind::EmptyQueue;
    };
    if (std::ranges::any_of(findings, ends_run)) return;  // it never came to its end
    if (core.is_waiting()) {
      findings.push_back({FindingKind::Deadlock, "waits for what the other core never does", core.next_instruction()});
      return;
    }
    for (const Machine::Flight& flight : core.flights()) {
      findings.push_back({FindingKind::UnbalancedSync, "this DMA is never waited for", flight.instruction});
    }
    for (const auto& [flag, value] : core.sync_flags()) {
      if (value == 0) continue;
      findings.push_back({FindingKind::UnbalancedSync, fmt::format("sync flag {:#x} ends at {}, not 0", flag, value)});
    }
  }

  Result<Literal> read_output(const Shape& shape, std::vector<Finding>& findings) {
    size_t next = first_result_;
    return read_output(shape, findings, next);
  }

  Result<Literal> read_output(const Shape& shape, std::vector<Finding>& findings, size_t& next) {
    if (shape.is_tuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.elements()) {
        SAPPER_TRY(Literal value, read_output(element, findings, next));
        elements.push_back(std::move(value));
      }
      return Literal::tuple(std::move(elements));
    }
    if (!shape.is_array()) return Literal(shape);
    const Leaf& leaf = leaves_[next++];
    const Memory& memory = cores_.front()->memory(*leaf.space);
    const uint64_t word = first_word(leaf);
    SAPPER_TRY(const uint64_t bytes, tiled_bytes(shape));
    SAPPER_CHECKED(find_undefined(leaf, next - 1 - first_result_, (bytes + 3) / 4, findings));
    return read_tiled({reinterpret_cast<const std::byte*>(memory.words(word)), bytes}, shape);
  }

  // Undefined bits are read like a value: elements that are not zero have some.
  Status find_undefined(const Leaf& leaf, size_t result, uint64_t words, std::vector<Finding>& findings) const {
    const Memory& memory = cores_.front()->memory(*leaf.space);
    const uint64_t word = first_word(leaf);
    std::vector<uint32_t> bits(words);
    memory.read_undefined(word, words, bits.data());
    if (std::ranges::all_of(bits, [](uint32_t undefined) { return undefined == 0; })) return {};
    SAPPER_TRY(const Literal undefined, read_tiled(std::as_bytes(std::span(bits)), leaf.shape));
    const auto width = static_cast<size_t>(hlo::host_bytes(leaf.shape.element_type()));
    const std::span<const std::byte> bytes = undefined.bytes();
    int64_t count = 0;
    int64_t first = 0;
    for (int64_t element = undefined.element_count(); element-- > 0;) {
      const auto* begin = bytes.data() + static_cast<size_t>(element) * width;
      if (std::all_of(begin, begin + width, [](std::byte byte) { return byte == std::byte{0}; })) continue;
      if (!open_.empty() && open_[result][static_cast<size_t>(element)]) continue;
      ++count;
      first = element;
    }
    if (count == 0) return {};
    findings.push_back({FindingKind::UndefinedOutput,
                        fmt::format("result {}: {} of {} elements depend on undefined data, the first at [{}]", result,
                                    count, undefined.element_count(), fmt::join(index_of(leaf.shape, first), ","))});
    return {};
  }

  [[nodiscard]] static std::vector<int64_t> index_of(const Shape& shape, int64_t element) {
    std::vector<int64_t> index(shape.rank());
    for (size_t i = index.size(); i-- > 0; element /= shape.dimension(i)) index[i] = element % shape.dimension(i);
    return index;
  }

  const Program& program_;
  const Program* declarations_;
  const Elements& open_;
  std::vector<std::unique_ptr<Machine>> cores_;  // their private memories are laid out alike
  std::vector<Leaf> leaves_;
  size_t first_result_ = 0;
  std::vector<size_t> buffer_;  // of each leaf: leaves with the same number share one
  bool has_operand_table_ = false;
};

}  // namespace

Result<KernelRun> run_kernel(const Program& program, const Program* declarations, std::span<const Literal> operands,
                             std::span<const Shape> operand_shapes, const Shape& result, const MachineOptions& options,
                             const Elements& open, const ArraysPlaced& placed) {
  return in_file(KernelRunner(program, declarations, options, open).run(operands, operand_shapes, result, placed),
                 program.file);
}

}  // namespace sapper::llo
