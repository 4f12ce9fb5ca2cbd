// What a campaign of generated programs has found so far, as its store knows it: findings of one signature together.
#pragma once

#include <string>

#include "base/error.h"
#include "fuzz/campaign.h"

namespace sapper::fuzz {

// What this run did. For people; as one JSON object (docs/json.md).
[[nodiscard]] std::string summary_text(const CampaignResult& result);
[[nodiscard]] std::string summary_json(const CampaignResult& result);

// The whole campaign: verdicts, and each distinct finding with its smallest program. As one JSON object.
[[nodiscard]] Result<std::string> report_text(store::Store& store, const std::string& campaign);
[[nodiscard]] Result<std::string> report_json(store::Store& store, const std::string& campaign);

}  // namespace sapper::fuzz
