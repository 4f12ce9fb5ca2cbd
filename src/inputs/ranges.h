// Safe ranges: for each parameter of a module, values on which no operation overflows or leaves its domain, and no
// index leaves what it indexes, as far as interval arithmetic can tell. docs/inputs.md explains the rules.
//
// Three linear passes over the program (flat_program.h): forward with everyday parameters, for what to expect of each
// value (estimate.h); backward, each operation bounding its operands so that it is fine and its own result is within
// what is needed of it (demand.h); forward with the ranges found, for what they do not rule out. Bounds that exclude
// each other are conflicts: an operation's domain goes before indices, indices before overflow; of two of a kind the
// one that is nearer to the program's end stays.
#pragma once

#include <string>
#include <vector>

#include "hlo/module.h"
#include "inputs/interval.h"
#include "inputs/need.h"

namespace sapper::inputs {

// What set a bound: an instruction and why it needs it; without an instruction, the type's own limit.
struct Reason {
  std::string instruction;
  std::string computation;
  std::string opcode;
  Because because = Because::Overflow;
  bool operator==(const Reason&) const = default;
};

// Of one array of the entry's parameters.
struct ParameterRange {
  int64_t parameter = 0;  // its number
  std::string name;       // the parameter's, and the position in a tuple: x{0,1}
  hlo::Shape shape;
  Interval values;   // everything in it is safe
  Interval natural;  // everyday values (natural.h), whether safe or not
  Reason low, high, away;
  uint8_t roles = 0;          // Role
  std::vector<Field> fields;  // where indices are packed into its values, which are any otherwise
  bool indexes = false;       // its values are indices or shift amounts
  bool is_proof = true;       // false: safe for values of everyday sizes only; the program was too deep to tell
};

struct Conflict {
  std::string value;  // the instruction on whose value the bounds are
  Reason kept, dropped;
};

// An operation whose result may still be infinite or NaN, as far as intervals can tell.
struct Doubt {
  std::string instruction, computation, opcode;
  bool leaves_domain = false;  // else: overflows
};

struct Ranges {
  std::vector<ParameterRange> parameters;  // arrays in the order of the parameters, tuples' elements in theirs
  std::vector<Conflict> conflicts;
  std::vector<Doubt> doubts;
  size_t doubtful = 0;  // instructions in doubt, listed or not
};

// The module must be verified.
[[nodiscard]] Ranges safe_ranges(const hlo::Module& module);

[[nodiscard]] std::string_view to_string(Because because);

}  // namespace sapper::inputs
