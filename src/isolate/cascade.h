// The cascade: a piece against one reference after the other, the cheapest first, until one is convincing; what is
// found wrong is confirmed. Each step is recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "hlo/module.h"

namespace sapper::isolate {

// The evaluator comes first: it is faster than any compiler. One that agrees by bits or inside of the bounds is
// convincing. Where it cannot decide and there is a device, the same compiler without optimizations and its other
// releases are: when their bits are the same.
struct Step {
  std::string reference;  // "evaluator", "evaluator's bounds", "again", "seed 4", "without optimizations", "cpu@0.81"
  check::Verdict verdict = check::Verdict::Undetermined;
  std::string reason;
  double seconds = 0;
};

// How sure a failure is.
enum class Confidence {
  Unconfirmed,  // nothing failed, or there was no second run
  Confirmed,    // the same again on the same inputs
  Flaky,        // not the same again: a race, uninitialised memory, or a machine at its limits
};

struct Judged {
  check::Report report;  // of the decisive step
  std::vector<Step> steps;
  Confidence confidence = Confidence::Unconfirmed;
  // Why there is no result, when there is none: the compiler was killed from outside, its plugin cannot be loaded, ...
  // All of it may be otherwise another time.
  std::optional<Error> no_result;
  double compiler_seconds = 0;  // of all steps
};

// `sets`: the inputs; empty: sampled as the options say.
[[nodiscard]] Judged judge(target::CompilerPool& pool, const hlo::Module& piece, const std::string& name,
                           const check::CheckOptions& options, const std::vector<check::InputSet>& sets);

}  // namespace sapper::isolate
