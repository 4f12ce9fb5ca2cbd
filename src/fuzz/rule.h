// The table of the generator: one rule an opcode. A rule works backwards: given the shape that is wanted it samples
// attributes and the shapes of operands that give exactly that, and has the operands made in turn. What it makes is
// checked forwards by the verifier's rule of the opcode (hlo/verifier.h).
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "fuzz/grammar.h"
#include "hlo/module.h"

namespace sapper::fuzz {

class Builder;

struct Rule {
  hlo::Opcode opcode = hlo::Opcode::Copy;
  double weight = 1;
  // Whether a value of this shape (an array) can come out.
  bool (*makes)(const Rule&, const Grammar&, const hlo::Shape&) = nullptr;
  // Makes one; may assume makes().
  hlo::InstructionIndex (*build)(const Rule&, Builder&, const hlo::Shape&) = nullptr;
  // Where the first operand has to be for the result to mean something; what is computed is clamped to it.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::string_view sampled;       // what is sampled, in a line
  std::string_view precondition;  // what the program must keep for its result to be defined, and how; empty: nothing
};

[[nodiscard]] std::span<const Rule> rules();

}  // namespace sapper::fuzz
