#include "cli/campaign_options.h"

#include <algorithm>
#include <thread>

namespace sapper::cli {

void add_campaign_options(CLI::App& command, CampaignOptions& options, const std::string& piece) {
  auto* const shard =
      command.add_option("--shard", options.shard,
                         "I/N: this process's share; default: what the job scheduler says (docs/distributed.md)");
  command.add_option("--shards", options.shards, "How many shards there are, where the scheduler does not say")
      ->check(CLI::Range(1, 1000000))
      ->excludes(shard);
  command.add_option("--budget", options.budget, "Begin no " + piece + " after this long: 90s, 10m, 2h");
  command.add_option("--jobs", options.jobs, "How much is judged side by side (default: one a core)")
      ->check(CLI::Range(1, 1024));
}

Result<isolate::Shard> shard_of(const CampaignOptions& options) {
  if (options.shard) return isolate::parse_shard(*options.shard);
  SAPPER_TRY(const auto given,
             isolate::shard_from_environment([](const char* name) { return std::getenv(name); }, options.shards));
  return given.value_or(isolate::Shard{});
}

Result<double> budget_seconds(const CampaignOptions& options) {
  const std::string& text = options.budget;
  if (text.empty()) return 0;
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string unit = digits == std::string::npos ? "s" : text.substr(digits);
  double number = 0;
  const double scale = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (scale == 0 || !CLI::detail::lexical_cast(text.substr(0, digits), number) || !(number > 0))
    return fail(ErrorKind::BadInput, "--budget {}: expected a time such as 90s, 10m or 2h", text);
  return number * scale;
}

int jobs_of(const CampaignOptions& options) {
  return options.jobs > 0 ? options.jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace sapper::cli
