// Hashes of what an instruction consists of: equal for what says the same of a program. Fingerprints are made of them.
#pragma once

#include "hlo/hash.h"
#include "hlo/module.h"

namespace sapper::hlo {

// Adds type, dimensions, dynamism, tuple structure and layouts.
void add_shape(const Shape& shape, Hasher& hasher);
[[nodiscard]] Hash hash_shape(const Shape& shape);

// Shape and bytes.
[[nodiscard]] Hash hash_literal(const Literal& literal);

// Of an instruction of `module`, whose payloads may hold its backend config. Zero: the attributes say nothing.
[[nodiscard]] Hash hash_attributes(const Module& module, const Attributes& attributes);

}  // namespace sapper::hlo
