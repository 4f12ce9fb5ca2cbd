// What a test is made of: a case with its inputs at hand, what the reference says to them, and how far a legal
// implementation may be from it, element by element.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/case.h"

namespace sapper::emit {

// An array that the program gives.
struct Output {
  hlo::Literal expected;
  std::vector<double> tolerance;  // of each element; one number: of all. Infinite: anything may be there
};

struct Run {
  std::string label;  // of the inputs, where there are several
  std::vector<hlo::Literal> arguments;
  std::vector<Output> outputs;
};

struct Subject {
  std::string name;  // a word: of the folder or module file
  check::Case one;
  std::vector<Run> runs;
};

// Evaluates the case in `folder`. Errors: those of the evaluator; Unsupported where it has no bounds, or is too large
// to be written down in a test.
[[nodiscard]] Result<Subject> subject_of(const std::string& folder);

// The name of a case as an identifier.
[[nodiscard]] std::string name_of(const std::string& folder);

}  // namespace sapper::emit
