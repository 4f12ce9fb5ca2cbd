// What a compilation did, as names that a campaign can compare with what it has seen: the compiler's side of its
// feedback (novelty.h is the program's).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "target/compiler.h"

namespace sapper::fuzz {

// "pass algsimp" (it changed the program), "multiply into add in a fusion of reduce", "custom call TopK", "llo
// vadd.f32" (an opcode of the last bundles). What was not dumped, or cannot be read, has none.
using CompiledFeatures = std::set<std::string, std::less<>>;

[[nodiscard]] CompiledFeatures compiled_features(const target::CompileResult& compiled);

// A line each, as the store keeps them.
[[nodiscard]] std::string to_text(const CompiledFeatures& features);
[[nodiscard]] CompiledFeatures compiled_features_from_text(std::string_view text);

}  // namespace sapper::fuzz
