// What the reducer makes smaller: a module with its arguments and the compiler's configuration.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/module.h"
#include "target/compiler.h"

namespace sapper::reduce {

struct Program {
  hlo::Module module;                   // verified; parameters of the entry are arrays
  std::vector<hlo::Literal> arguments;  // of its parameters, in their order
  target::Configuration configuration;
};

// How large a program is, the most important first. An edit is only worth trying where this becomes less, so that
// reducing ends.
struct Size {
  int64_t instructions = 0;  // of all computations
  int64_t flags = 0;         // of the configuration
  int64_t elements = 0;      // of all arrays
  int64_t complexity = 0;    // of element types, attributes and their like
  int64_t information = 0;   // of arguments and constants: elements, by how much there is to say about each
  auto operator<=>(const Size&) const = default;  // NOLINT(modernize-use-nullptr): an order's zero is no pointer
};

[[nodiscard]] Size size_of(const Program& program);

// The flags that the compiler reads when it starts, one by one.
[[nodiscard]] std::vector<std::string> init_flags_of(const target::Configuration& configuration);

// The same for programs that differ in names alone.
[[nodiscard]] std::string identity(const Program& program);

// Names unique in the module; nothing said of the boundary but by the shapes; tuple parameters of the entry taken
// apart. BadInput where the arguments are not those of the module.
[[nodiscard]] Result<Program> normalized(hlo::Module module, const std::vector<hlo::Literal>& arguments,
                                         target::Configuration configuration);

// Makes names unique again and removes what no result depends on: instructions, parameters of the entry and their
// arguments, computations; takes elements of tuples that are made in the same computation without making them. Called
// ones stay before their callers.
void clean(Program& program);

// Of an array of the same elements: the dimension's [first, first + size).
[[nodiscard]] hlo::Literal part_of(const hlo::Literal& array, size_t dimension, int64_t first, int64_t size);
// The same elements in another array shape of as many.
[[nodiscard]] hlo::Literal in_shape(const hlo::Literal& array, const hlo::Shape& shape);

}  // namespace sapper::reduce
