// How: each instruction of a computation gets a hash of what it computes (bottom up) in which parameters of the entry
// have no numbers, then one of what it is used for (top down), then again one of what it computes in which parameters
// count with their uses. By the last, operands that may change places are sorted; a walk from the root along them gives
// the order of instructions and parameters. Operands that are still equal then are so by symmetry, or are left in the
// order of the source.
#include "isolate/canonical.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "hlo/fingerprint.h"
#include "hlo/hash.h"
#include "hlo/instruction_hash.h"
#include "isolate/piece.h"
#include "isolate/roles.h"
#include "isolate/sanitize.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::Hash;
using hlo::Hasher;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

enum Domain : uint64_t { ValueDomain = 35, UseDomain, ComputationDomain };

class Orderer {
 public:
  Orderer(const Module& module, const std::vector<Hash>& called, const Computation& computation, bool is_entry)
      : module_(module), called_(called), computation_(computation), is_entry_(is_entry) {
    const auto& instructions = computation.instructions;
    for (InstructionIndex i = 0; i < instructions.size(); ++i) {
      own_.push_back(own(instructions[i], is_result_tuple(i)));
      may_swap_.push_back(is_commutative(computation, instructions[i]) || is_result_tuple(i));
    }
    hash_values();
    if (is_entry_) {
      hash_uses();
      hash_values();
    }
    sort_operands();
  }

  // Operands in canonical order, by instruction.
  [[nodiscard]] const std::vector<std::vector<InstructionIndex>>& operands() const { return operands_; }
  [[nodiscard]] Hash hash() const { return Hasher(ComputationDomain).add(values_[computation_.root]).get(); }
  [[nodiscard]] bool is_result_tuple(InstructionIndex i) const {
    return is_entry_ && i == computation_.root && computation_.instructions[i].opcode == Opcode::Tuple;
  }

  // Position k of the sorted operands of `i` was this of the stated ones.
  [[nodiscard]] std::vector<uint32_t> sorted_positions(InstructionIndex i) const {
    const auto& stated = computation_.instructions[i].operands;
    std::vector<uint32_t> positions(stated.size());
    std::iota(positions.begin(), positions.end(), 0);
    std::ranges::stable_sort(positions, {}, [&](uint32_t k) { return values_[stated[k]]; });
    return positions;
  }

  // What the root needs, operands first. Parameters of computations other than the entry all stay.
  [[nodiscard]] std::vector<InstructionIndex> order() const {
    std::vector<InstructionIndex> order;
    std::vector<bool> is_placed(computation_.instructions.size());
    std::vector<std::pair<InstructionIndex, size_t>> path;  // an instruction and how many operands are done
    const auto visit = [&](InstructionIndex from) {
      if (is_placed[from]) return;
      path.emplace_back(from, 0);
      is_placed[from] = true;
      while (!path.empty()) {
        auto& [at, done] = path.back();
        if (done == operands_[at].size()) {
          order.push_back(at);
          path.pop_back();
          continue;
        }
        const InstructionIndex operand = operands_[at][done++];
        if (is_placed[operand]) continue;
        is_placed[operand] = true;
        path.emplace_back(operand, 0);
      }
    };
    if (!is_entry_)
      for (const InstructionIndex parameter : computation_.parameters()) visit(parameter);
    visit(computation_.root);
    return order;
  }

 private:
  // Not the shape of a result that is a tuple, whose elements may change places.
  [[nodiscard]] Hash own(const Instruction& instruction, bool is_result_tuple) const {
    Hasher hasher(ValueDomain);
    hasher.add(static_cast<uint64_t>(instruction.opcode));
    if (!is_result_tuple) hasher.add(hlo::hash_shape(instruction.shape));
    hasher.add_all(instruction.dimensions).add(static_cast<uint64_t>(instruction.tuple_index));
    if (!is_entry_) hasher.add(static_cast<uint64_t>(instruction.parameter_number));
    for (const hlo::ComputationIndex called : instruction.called) hasher.add(called_[called]);
    if (instruction.literal != nullptr) hasher.add(hlo::hash_literal(*instruction.literal));
    if (instruction.shared_attributes != nullptr)
      hasher.add(hlo::hash_attributes(module_, *instruction.shared_attributes));
    return hasher.get();
  }

  void hash_values() {
    const auto& instructions = computation_.instructions;
    values_.resize(instructions.size());
    for (InstructionIndex i = 0; i < instructions.size(); ++i) {
      Hasher hasher(ValueDomain);
      hasher.add(own_[i]);
      if (may_swap_[i]) {
        Hash sum;
        for (const InstructionIndex operand : instructions[i].operands) sum += values_[operand];
        hasher.add(sum);
      } else {
        for (const InstructionIndex operand : instructions[i].operands) hasher.add(values_[operand]);
      }
      if (instructions[i].opcode == Opcode::Parameter && !uses_.empty()) hasher.add(uses_[i]);
      values_[i] = hasher.get();
    }
  }

  void hash_uses() {
    const auto& instructions = computation_.instructions;
    uses_.resize(instructions.size());
    uses_[computation_.root] = Hasher(UseDomain).get();
    for (size_t i = instructions.size(); i-- > 0;) {
      if (uses_[i] == Hash{}) continue;  // nobody's: it will be left out
      const Hash complete = Hasher(UseDomain).add(values_[i]).add(uses_[i]).get();
      const auto& operands = instructions[i].operands;
      for (size_t k = 0; k < operands.size(); ++k)
        uses_[operands[k]] += Hasher(UseDomain).add(complete).add(may_swap_[i] ? 0 : k + 1).get();
    }
  }

  void sort_operands() {
    for (InstructionIndex i = 0; i < computation_.instructions.size(); ++i) {
      operands_.push_back(computation_.instructions[i].operands);
      if (may_swap_[i])
        std::ranges::stable_sort(operands_.back(), {}, [&](InstructionIndex operand) { return values_[operand]; });
    }
  }

  const Module& module_;
  const std::vector<Hash>& called_;
  const Computation& computation_;
  bool is_entry_;
  std::vector<Hash> own_;
  std::vector<bool> may_swap_;
  std::vector<Hash> values_;
  std::vector<Hash> uses_;
  std::vector<std::vector<InstructionIndex>> operands_;
};

Computation reordered(const Computation& from, const std::vector<InstructionIndex>& order,
                      const std::vector<std::vector<InstructionIndex>>& operands) {
  Computation to;
  to.name = from.name;
  to.is_fusion = from.is_fusion;
  std::vector<InstructionIndex> moved(from.instructions.size());
  for (const InstructionIndex i : order) {
    moved[i] = static_cast<InstructionIndex>(to.instructions.size());
    Instruction& copy = to.instructions.emplace_back(from.instructions[i]);
    copy.operands.clear();
    for (const InstructionIndex operand : operands[i]) copy.operands.push_back(moved[operand]);
    if (copy.opcode != Opcode::Tuple) continue;
    std::vector<hlo::Shape> shapes;
    for (const InstructionIndex operand : copy.operands) shapes.push_back(to.instructions[operand].shape);
    copy.shape = hlo::Shape::tuple(std::move(shapes));
  }
  to.root = moved[from.root];
  return to;
}

void number_parameters(Computation& entry, std::vector<uint32_t>& numbers) {
  for (Instruction& instruction : entry.instructions) {
    if (instruction.opcode != Opcode::Parameter) continue;
    const auto number = static_cast<int64_t>(numbers.size());
    numbers.push_back(static_cast<uint32_t>(instruction.parameter_number));
    instruction.name = fmt::format("p{}", number);
    instruction.parameter_number = number;
  }
}

void make_names_unique(Computation& computation) {
  std::unordered_set<std::string> used;
  std::unordered_map<std::string, int> next;
  for (Instruction& instruction : computation.instructions) {
    const std::string stem = instruction.name;
    while (!used.insert(instruction.name).second) instruction.name = fmt::format("{}.{}", stem, ++next[stem]);
  }
}

}  // namespace

Canonical canonicalize(Module module) {
  Canonical out;
  std::vector<Hash> hashes;
  std::vector<Computation> sorted(module.computations.size());  // where commutative operands change places
  bool any_sorted = false;
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    Computation& computation = module.computations[c];
    const bool is_entry = c == module.entry;
    const Orderer orderer(module, hashes, computation, is_entry);
    hashes.push_back(orderer.hash());
    const std::vector<InstructionIndex> order = orderer.order();
    std::vector<std::vector<InstructionIndex>> stated;
    for (const Instruction& instruction : computation.instructions) stated.push_back(instruction.operands);
    if (orderer.is_result_tuple(computation.root)) {
      out.result_elements = orderer.sorted_positions(computation.root);
      stated[computation.root] = orderer.operands()[computation.root];
    }
    if (stated != orderer.operands()) {
      sorted[c] = reordered(computation, order, orderer.operands());
      any_sorted = true;
    }
    computation = reordered(computation, order, stated);
    if (!is_entry) continue;
    number_parameters(computation, out.parameters);
    std::vector<uint32_t> same;
    number_parameters(sorted[c], same);
  }
  for (Computation& computation : module.computations) make_names_unique(computation);
  if (module.is_scheduled) state_boundary_layouts(module);
  if (!any_sorted) {
    out.fingerprint = hlo::fingerprint(module).to_hex();
    out.module = std::move(module);
    return out;
  }
  out.module = module;
  for (size_t c = 0; c < sorted.size(); ++c)
    if (!sorted[c].instructions.empty()) module.computations[c] = std::move(sorted[c]);
  out.fingerprint = hlo::fingerprint(module).to_hex();
  return out;
}

std::string piece_fingerprint(const Module& module) { return canonicalize(module).fingerprint; }

}  // namespace sapper::isolate
