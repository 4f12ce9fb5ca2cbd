// Holes of templates: `h = f32[8] hole(x, y), ops={slice, scatter}, depth=2` stands for a value of that shape that the
// rules of these opcodes make of x and y.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "fuzz/grammar.h"
#include "hlo/module.h"

namespace sapper::fuzz {

struct Hole {
  std::set<hlo::Opcode> ops;  // empty: all of the table
  int depth = 2;
};

// When `line` is a hole, the `number`-th, puts an instruction that stands for it in its place.
[[nodiscard]] Result<std::optional<Hole>> take_hole(std::string& line, size_t number);

// The module with what the rules make in the places of the holes.
[[nodiscard]] hlo::Module fill_holes(const hlo::Module& module, const std::vector<Hole>& holes, const Grammar& grammar,
                                     Choices& choices);

}  // namespace sapper::fuzz
