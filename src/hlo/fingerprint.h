// The canonical fingerprint: two modules that differ only in names, metadata, ids and the order of independent
// instructions and computations have the same one.
#pragma once

#include <cstdint>
#include <string>

#include "hlo/module.h"

namespace sapper::hlo {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Fingerprint&) const = default;
  [[nodiscard]] std::string to_hex() const;  // 32 digits
};

// Linear in the module's size, constants included. Layouts, attributes, backend configs and frontend attributes count,
// as do dead instructions and computations, and the order of instructions once the module is scheduled. The operands of
// commutative operations count in their order: add(a, b) and add(b, a) are different programs, which a compiler may
// treat differently. Channel ids and thread names count; source metadata, provenance (original_value), profiles,
// statistics for visualization and the assignment of devices do not. Of the configuration, replica_count,
// num_partitions and use_spmd_partitioning count.
[[nodiscard]] Fingerprint fingerprint(const Module& module);

}  // namespace sapper::hlo
