// What a campaign has found so far, as its store knows it: for people and for programs (docs/json.md). And a finding as
// a folder that stands for itself.
#pragma once

#include <string>

#include "base/error.h"
#include "store/store.h"

namespace sapper::isolate {

// Counts, why pieces are undetermined, and the findings in the order in which to read them.
[[nodiscard]] Result<std::string> report_text(store::Store& store, const std::string& campaign);
// One JSON object.
[[nodiscard]] Result<std::string> report_json(store::Store& store, const std::string& campaign);

// 1 where something was found, else 3 where a piece is undetermined or not judged yet, else 0.
[[nodiscard]] Result<int> report_exit_code(store::Store& store, const std::string& campaign);

// A finding's id as people are shown it.
[[nodiscard]] std::string short_id(const std::string& id);

// The findings, a line each.
[[nodiscard]] Result<std::string> findings_text(store::Store& store, const std::string& campaign);
// JSON Lines.
[[nodiscard]] Result<std::string> findings_json(store::Store& store, const std::string& campaign);

// The finding whose id begins with `id`: where its piece stands in the source, how it was confirmed, its module.
[[nodiscard]] Result<std::string> finding_text(store::Store& store, const std::string& campaign, const std::string& id);

// Writes the finding as a case (check/case.h) into `folder`, with its report.json. Returns the command that shows the
// failure again.
[[nodiscard]] Result<std::string> export_case(store::Store& store, const std::string& campaign, const std::string& id,
                                              const std::string& folder);

}  // namespace sapper::isolate
