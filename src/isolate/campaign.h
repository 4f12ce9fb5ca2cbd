// Campaigns: some modules cut into pieces, each distinct one judged on a target, what fails confirmed, everything kept
// in a store. Killed at any instant, a campaign goes on where it was; what the store knows is not run again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/check.h"
#include "isolate/cut.h"
#include "isolate/shard.h"
#include "store/store.h"

namespace sapper::isolate {

enum class InputsFrom {
  Ranges,    // sampled from what is safe for the piece (inputs/)
  Captured,  // what the piece sees when its module runs on sampled inputs
};

struct CampaignOptions {
  std::string name;
  std::string tool;  // version of sapper: a run of another is another run
  CutOptions cut;
  bool cut_by_form = true;  // fusions of modules that have some, regions of others; false: as `cut` says
  check::CheckOptions check;
  InputsFrom inputs = InputsFrom::Ranges;
  int64_t captured_bytes = int64_t{2} << 30;  // most memory of captured values
  Shard shard;
  double budget_seconds = 0;  // no piece is begun after; 0: none
  // A word matches a piece when it is part of a name that it has in the source (module file, computation, instruction,
  // the frontend's), an opcode in it, or how its fingerprint begins. `only` empty: all.
  std::vector<std::string> only;
  std::vector<std::string> skip;
  int jobs = 1;
};

struct CampaignProgress {
  std::string doing;  // "read", "cut", "capture", "judge"
  size_t done = 0;
  size_t all = 0;
  size_t found = 0;  // mismatches and crashes, of this process
  double seconds = 0;
};

struct CampaignResult {
  Coverage coverage;          // of the modules
  std::vector<Error> unread;  // modules that could not be read or are not well-formed
  int64_t occurrences = 0;    // of pieces, before duplicates are taken together
  size_t distinct = 0;        // pieces
  size_t selected = 0;        // of them, by only, skip and shard
  size_t known = 0;           // of them, that the store had
  size_t judged = 0;          // of them, now
  size_t left = 0;            // of them, when the budget was used up
  size_t not_captured = 0;    // judged on sampled inputs, as no values could be captured
  double seconds = 0;
  double compiler_seconds = 0;  // summed over jobs
  double store_seconds = 0;     // the same
  // Pieces that were tried in vain and are to be tried again, by the reason (Judged::no_result).
  std::map<std::string, size_t> without_result;
};

// `on_progress` is not called from two threads at once. Errors: the store's; BadInput when no module can be read.
[[nodiscard]] Result<CampaignResult> run_campaign(store::Store& store, target::CompilerPool& pool,
                                                  const std::vector<std::string>& files, const CampaignOptions& options,
                                                  const std::function<void(const CampaignProgress&)>& on_progress);

// Whether the target's compiler can be used as the options say: what is wrong with a plugin or an option would be said
// of every piece. BadInput says what it is.
[[nodiscard]] Status try_compiler(target::CompilerPool& pool, const check::CheckOptions& options);

// What makes a run another run, beside piece, seed and tool: target, options, inputs, strictness; JSON.
[[nodiscard]] std::string configuration_text(const CampaignOptions& options);

}  // namespace sapper::isolate
