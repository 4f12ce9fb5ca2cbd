// The options of commands that run campaigns: which share of the work, how long, how much at a time.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "isolate/shard.h"

namespace sapper::cli {

struct CampaignOptions {
  std::optional<std::string> shard;
  std::optional<uint64_t> shards;
  std::string budget;
  int jobs = 0;
};

// `piece`: what the work consists of, for people.
void add_campaign_options(CLI::App& command, CampaignOptions& options, const std::string& piece);

// Errors: BadInput.
[[nodiscard]] Result<isolate::Shard> shard_of(const CampaignOptions& options);
[[nodiscard]] Result<double> budget_seconds(const CampaignOptions& options);  // 0: none
[[nodiscard]] int jobs_of(const CampaignOptions& options);

}  // namespace sapper::cli
