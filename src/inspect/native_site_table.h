// The sites of a stepped kernel as they come about: what each instruction wrote to each register, lane by lane.
#pragma once

#include <tsl/robin_map.h>

#include <optional>
#include <utility>
#include <vector>

#include "inspect/native_sites.h"
#include "inspect/native_state.h"

namespace sapper::inspect {

class SiteTable {
 public:
  // What the instruction at `offset` wrote. Lanes without a tag are left out.
  void add_general(uint32_t offset, size_t reg, uint64_t value, Tag tag);
  void add_mask(uint32_t offset, size_t reg, uint64_t bits, const MaskTags& tags);
  // The first `bytes` of it.
  void add_vector(uint32_t offset, size_t reg, size_t bytes, const target::VectorRegister& value,
                  const TaggedBytes& tags);
  // The products inside of a multiply-add of f32 or f64, which no register holds; nothing for other instructions.
  // `registers`: before it; `rm`: tags of its operand that may be memory.
  void add_products(const PendingStep& step, const TaggedRegisters& registers, const TaggedBytes& rm, TagTable& tags);

  [[nodiscard]] std::vector<Site> take() { return std::move(sites_); }

 private:
  Site& site_at(uint32_t offset, uint32_t reg, int bytes);

  std::vector<Site> sites_;
  tsl::robin_map<uint64_t, size_t, MixedHash> by_place_;
};

// Which operands a multiply-add of f32 or f64 multiplies, by their places in PendingStep::before; nullopt: it is none,
// or one of them is in memory.
[[nodiscard]] std::optional<std::pair<size_t, size_t>> product_operands(const target::X86Instruction& instruction);

}  // namespace sapper::inspect
