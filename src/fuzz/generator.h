// The generator: a program of the grammar from a choice sequence. Root shapes are sampled, then values for them are
// made backwards (rule.h), from the root to the parameters.
#pragma once

#include "fuzz/choices.h"
#include "fuzz/grammar.h"
#include "hlo/module.h"

namespace sapper::fuzz {

struct Program {
  hlo::Module module;  // verified by construction
  ChoiceSequence choices;
};

[[nodiscard]] Program generate(const Grammar& grammar, Choices choices);
// With a result of this shape.
[[nodiscard]] Program generate_for(const Grammar& grammar, Choices choices, const hlo::Shape& root);

}  // namespace sapper::fuzz
