// How: each instruction gets a hash of what it computes (bottom up, from its operands' hashes), then one of what it is
// used for (top down, from its users'); the second tells apart one instruction with two users from two equal
// instructions with a user each. A computation is the sum of both over its instructions, and a module the sum of its
// computations, so that no order counts; in a scheduled module the instructions are chained instead.
#include "hlo/fingerprint.h"

#include <algorithm>
#include <unordered_map>

#include "hlo/hash.h"
#include "hlo/id_table.h"
#include "hlo/instruction_hash.h"
#include "hlo/message_hash.h"

namespace sapper::hlo {
namespace {

enum Domain : uint64_t { ModuleDomain = 16, ComputationDomain, InstructionDomain, UseDomain };

// Hashes of what instructions share, by address.
template <class T>
class Memo {
 public:
  template <class Compute>
  Hash get(const T* key, Compute&& compute) {
    if (key == nullptr) return {};
    const auto [at, is_new] = known_.try_emplace(key);
    if (is_new) at->second = compute(*key);
    return at->second;
  }

 private:
  std::unordered_map<const T*, Hash> known_;
};

class ModuleFingerprint {
 public:
  explicit ModuleFingerprint(const Module& module) : module_(module) {}

  Hash compute() {
    Hash all;
    for (const Computation& computation : module_.computations) {
      computations_.push_back(hash_computation(computation));
      all += computations_.back();
    }
    Hasher hasher(ModuleDomain);
    hasher.add(computations_[module_.entry]).add(all).add(module_.computations.size());
    hasher.add(uint64_t{module_.is_scheduled}).add(hash_message(module_.attributes));
    add_entry_layout(hasher);
    // The wire's default 0 and 1 are the same.
    hasher.add(static_cast<uint64_t>(std::max<int64_t>(module_.config.replica_count(), 1)))
        .add(static_cast<uint64_t>(std::max<int64_t>(module_.config.num_partitions(), 1)))
        .add(uint64_t{module_.config.use_spmd_partitioning()});
    return hasher.get();
  }

 private:
  void add_entry_layout(Hasher& hasher) {
    const Computation& entry = module_.entry_computation();
    if (module_.has_entry_layout) {
      for (const Shape& shape : module_.entry_parameter_layouts) add_shape(shape, hasher);
      add_shape(module_.entry_result_layout, hasher);
    } else {
      for (const InstructionIndex parameter : entry.parameters())
        add_shape(entry.instructions[parameter].shape, hasher);
      add_shape(entry.root_instruction().shape, hasher);
    }
  }

  Hash hash_computation(const Computation& computation) {
    const auto& instructions = computation.instructions;
    const std::vector<std::vector<InstructionIndex>> predecessors = control_predecessors(computation);
    std::vector<Hash> values;
    values.reserve(instructions.size());
    for (size_t i = 0; i < instructions.size(); ++i)
      values.push_back(hash_value(instructions[i], values, predecessors.empty() ? none_ : predecessors[i]));

    std::vector<Hash> uses(instructions.size());
    uses[computation.root] = Hasher(UseDomain).get();
    Hash unordered;
    Hasher ordered(ComputationDomain);
    for (size_t i = instructions.size(); i-- > 0;) {
      const Hash complete = Hasher(UseDomain).add(values[i]).add(uses[i]).get();
      const auto& operands = instructions[i].operands;
      for (size_t k = 0; k < operands.size(); ++k) uses[operands[k]] += Hasher(UseDomain).add(complete).add(k).get();
      unordered += complete;
      if (module_.is_scheduled) ordered.add(complete);
    }
    Hasher hasher(ComputationDomain);
    hasher.add(values[computation.root]).add(unordered).add(ordered.get());
    hasher.add(uint64_t{computation.is_fusion}).add(hash_message(computation.attributes));
    return hasher.add(computation.execution_thread == "main" ? std::string_view() : computation.execution_thread).get();
  }

  // What the instruction computes, from what its operands do.
  Hash hash_value(const Instruction& instruction, const std::vector<Hash>& values,
                  const std::vector<InstructionIndex>& predecessors) {
    Hasher hasher(InstructionDomain);
    hasher.add(to_string(instruction.opcode));  // not its number: opcodes are added
    hasher.add(instruction.operands.size());
    for (const InstructionIndex operand : instruction.operands) hasher.add(values[operand]);
    hasher.add(instruction.called.size());
    for (const ComputationIndex called : instruction.called) hasher.add(computations_[called]);
    hasher.add_all(instruction.dimensions)
        .add(static_cast<uint64_t>(instruction.parameter_number))
        .add(static_cast<uint64_t>(instruction.tuple_index))
        .add(hash_shape(instruction.shape))
        .add(literals_.get(instruction.literal.get(), hash_literal))
        .add(attributes_.get(instruction.shared_attributes.get(),
                             [&](const Attributes& attributes) { return hash_attributes(module_, attributes); }));
    Hash before;
    for (const InstructionIndex predecessor : predecessors) before += values[predecessor];
    return hasher.add(before).get();
  }

  // By instruction; empty when the computation has none. They are stated by ids, which then must be unique.
  static std::vector<std::vector<InstructionIndex>> control_predecessors(const Computation& computation) {
    const auto& instructions = computation.instructions;
    const auto has_predecessors = [](const Instruction& i) {
      return i.attributes().control_predecessor_ids_size() > 0;
    };
    if (std::none_of(instructions.begin(), instructions.end(), has_predecessors)) return {};
    IdTable ids;
    if (ids.build(static_cast<uint32_t>(instructions.size()), [&](uint32_t i) { return instructions[i].id; }))
      return {};
    std::vector<std::vector<InstructionIndex>> found(instructions.size());
    for (InstructionIndex i = 0; i < instructions.size(); ++i) {
      for (const int64_t id : instructions[i].attributes().control_predecessor_ids()) {
        const auto predecessor = ids.find_packed_or_local(id);
        if (predecessor && *predecessor < i) found[i].push_back(*predecessor);
      }
    }
    return found;
  }

  const Module& module_;
  const std::vector<InstructionIndex> none_;
  std::vector<Hash> computations_;
  Memo<Literal> literals_;
  Memo<Attributes> attributes_;
};

}  // namespace

std::string Fingerprint::to_hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Fingerprint fingerprint(const Module& module) {
  const Hash hash = ModuleFingerprint(module).compute();
  return {hash.high, hash.low};
}

}  // namespace sapper::hlo
