// The walk along the stages of one compilation: each stage's program is evaluated on the same inputs and judged against
// what the stages before it mean. The first one that means something else names the guilty pass.
#pragma once

#include <string>
#include <vector>

#include "check/judge.h"
#include "target/compiler.h"

namespace sapper::check {

struct StageReport {
  int index = 0;
  std::string level;   // "hlo", "llo"; "native" for what the device computed
  std::string kernel;  // whose stage it is, at level "llo" where it is one kernel's
  std::string pipeline;
  std::string pass;  // that made this stage
  Verdict verdict = Verdict::Agree;
  std::string reason;
  int64_t instructions = 0;
  bool changed = true;  // differs from the stage before in more than names
};

struct Guilty {
  std::string level;
  std::string pass;
  std::string after;  // the last stage known to be right, when stages between could not be judged
  // At level "llo": the kernel, and the first instruction of its dump that does something else than before, with the
  // HLO instruction that it was made for; where they are known.
  std::string kernel;
  std::string instruction;
  std::string hlo_instruction;
  uint32_t line = 0;
};

struct Walk {
  std::vector<StageReport> stages;
  std::vector<Judgement> judgements;  // of the stages, in the same order
  Verdict verdict = Verdict::Agree;   // worst over the stages
  std::string reason;
  std::optional<Guilty> guilty;        // of the first mismatch
  std::optional<hlo::Module> program;  // of the last stage that is right
};

// Evaluates and judges every stage in order. A stage whose difference from its predecessor policy allows becomes the
// new reference of `judge`, so that a later defect is not hidden by it. Stages equal up to names are judged once.
// With `to_the_end` the stages after the first mismatch are judged too.
[[nodiscard]] Walk walk_stages(Judge& judge, const std::vector<target::HloStage>& stages, bool strict, bool to_the_end);

}  // namespace sapper::check
