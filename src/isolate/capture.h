// Captured inputs: the values that pieces see when the module they were cut from runs on the evaluator.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "isolate/piece.h"

namespace sapper::isolate {

// 16 bytes a tensor: of its finite elements (of a complex one's moduli); all 0 where there are none.
struct TensorSummary {
  float min = 0;
  float max = 0;
  float mean = 0;
  float stddev = 0;
};

[[nodiscard]] TensorSummary summarize(const hlo::Literal& array);

struct CaptureOptions {
  eval::Options evaluation;
  int64_t memory_bytes = int64_t{2} << 30;  // of the values that are kept
};

// For each of `occurrences`, which are of `module`: the arguments of its piece, as they were when the module came there
// first. nullopt where it never came, or where the values before had taken the memory. Errors: evaluate()'s.
[[nodiscard]] Result<std::vector<std::optional<std::vector<hlo::Literal>>>> capture(
    const hlo::Module& module, std::span<const hlo::Literal> arguments, std::span<const Occurrence* const> occurrences,
    const CaptureOptions& options);

}  // namespace sapper::isolate
