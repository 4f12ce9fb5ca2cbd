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

// Linear in the module's size, constants included. Layouts, attributes, backend configs and frontend attributes count.
[[nodiscard]] Fingerprint fingerprint(const Module& module);

}  // namespace sapper::hlo
