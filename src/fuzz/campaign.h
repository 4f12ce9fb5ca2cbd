// Campaigns of generated programs: made, judged on one or more targets, what fails looked at alone and confirmed, all
// of it kept in a store, so that a campaign can be killed, resumed and shared out (docs/fuzzing.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/check.h"
#include "fuzz/template.h"
#include "isolate/shard.h"
#include "store/store.h"

namespace sapper::fuzz {

struct CampaignOptions {
  std::string name;
  std::string tool;                         // version of sapper: a run of another is another run
  std::vector<Template> templates;          // empty: programs of the grammar alone
  Grammar grammar;                          // within the dialects of the targets
  std::vector<check::CheckOptions> checks;  // one a target
  uint64_t seed = 0;                        // of the programs
  int64_t programs = 0;                     // most of all shards together; 0: until the budget is used up
  double budget_seconds = 0;                // no program is begun after; 0: none
  isolate::Shard shard;
  int together = 8;  // programs in one compilation
  int jobs = 1;
};

struct CampaignProgress {
  int64_t programs = 0;
  int64_t found = 0;  // mismatches and crashes, of this process
  double seconds = 0;
};

struct CampaignResult {
  int64_t programs = 0;  // made by this shard, distinct
  int64_t known = 0;     // runs (of a program on a target) that the store had
  int64_t judged = 0;    // runs, now
  int64_t modules = 0;   // that were compiled with several programs in them
  int64_t alone = 0;     // programs that were looked at alone
  size_t features = 0;   // what the programs have that is new at their time (novelty.h)
  size_t kept = 0;       // programs that brought some
  std::map<std::string, int64_t> verdicts;
  // Programs without one meaning, by why: defects of the rules, which are left out from there on.
  std::map<std::string, int64_t> generator_defects;
  std::map<std::string, int64_t> without_result;  // runs tried in vain, to be tried again, by why
  double seconds = 0;
  double compiler_seconds = 0;  // summed over jobs
};

// `on_progress` is not called from two threads at once. Errors: the store's; a template's; BadInput when a plugin or an
// option is not there.
[[nodiscard]] Result<CampaignResult> run_campaign(store::Store& store, target::CompilerPool& pool,
                                                  const CampaignOptions& options,
                                                  const std::function<void(const CampaignProgress&)>& on_progress);

}  // namespace sapper::fuzz
