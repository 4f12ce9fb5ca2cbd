// The edits that the reducer tries, in passes from the coarse to the fine. An edit makes a program smaller or does not
// apply; whether the program still is well-formed and still fails, others find out.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reduce/program.h"

namespace sapper::reduce {

struct Edit {
  std::string what;                     // for people
  std::function<bool(Program&)> apply;  // false: it does not apply
};

struct Pass {
  const char* name;
  // How many things of a program it may change. It tries half of them at once first, then a quarter, ..., at last one.
  size_t (*things)(const Program&);
  // The edits that change `chunk` neighbouring things each, all of them together.
  std::vector<Edit> (*edits)(const Program&, size_t chunk);
};

// In the order in which to try them: first what makes programs smaller, then, on the small one, what makes it plain.
[[nodiscard]] std::span<const Pass> passes_for_size();
[[nodiscard]] std::span<const Pass> passes_for_plainness();

// graph_edits.cc: fewer instructions.
size_t results(const Program& program);
std::vector<Edit> keep_results(const Program& program, size_t chunk);  // leaves results out
std::vector<Edit> end_earlier(const Program& program, size_t chunk);   // makes the result what led to it
size_t entry_instructions(const Program& program);
std::vector<Edit> cut(const Program& program, size_t chunk);  // computed values become arguments
size_t all_instructions(const Program& program);
std::vector<Edit> bypass(const Program& program, size_t chunk);  // operands in the place of what is made of them
std::vector<Edit> merge(const Program& program, size_t chunk);   // one value in the place of another

// region_edits.cc: what is called.
std::vector<Edit> enter(const Program& program, size_t chunk);       // bodies in the place of their calls
std::vector<Edit> drop_state(const Program& program, size_t chunk);  // elements of loops' states that do nothing

// shape_edits.cc: smaller arrays.
size_t dimensions_of(const Program& program);
std::vector<Edit> shrink(const Program& program, size_t chunk);      // dimensions, all that must be equal together
std::vector<Edit> drop_ranks(const Program& program, size_t chunk);  // dimensions of size 1

// value_edits.cc: simpler types, attributes and values.
std::vector<Edit> drop_flags(const Program& program, size_t chunk);
std::vector<Edit> drop_attributes(const Program& program, size_t chunk);
std::vector<Edit> simplify_types(const Program& program, size_t chunk);
std::vector<Edit> simplify_arrays(const Program& program, size_t chunk);  // one simple value all over
size_t all_elements(const Program& program);
std::vector<Edit> simplify_elements(const Program& program, size_t chunk);

// For passes that change one thing at a time.
inline size_t one(const Program&) { return 1; }

}  // namespace sapper::reduce
