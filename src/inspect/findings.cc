#include "inspect/findings.h"

#include <fmt/format.h>

#include <filesystem>

#include "check/case.h"
#include "inspect/report.h"
#include "isolate/campaign_report.h"

namespace sapper::inspect {
namespace {

namespace fs = std::filesystem;

Result<std::string> inspect_case(target::CompilerPool& pool, const std::string& folder, InspectOptions options) {
  SAPPER_TRY(check::Case one, check::read_case(folder));
  options.check = one.options;
  SAPPER_TRY(const Inspection inspection, inspect_kernel(pool, std::move(one.module), folder, options));
  SAPPER_CHECKED(write_folder(inspection, folder));
  return headline(inspection);
}

}  // namespace

Result<std::vector<InspectedFinding>> inspect_findings(store::Store& store, target::CompilerPool& pool,
                                                       const std::string& campaign, const std::string& folder,
                                                       const InspectOptions& options) {
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  std::vector<InspectedFinding> inspected;
  for (const store::RankedFinding& finding : findings) {
    if (finding.verdict != "mismatch") continue;
    InspectedFinding& one = inspected.emplace_back();
    one.id = isolate::short_id(finding.id);
    one.folder = fs::path(folder) / one.id;
    std::error_code error;
    if (fs::exists(fs::path(one.folder) / "report.html", error)) {
      one.outcome = "inspected before";
      continue;
    }
    SAPPER_TRY(const std::string command, isolate::export_case(store, campaign, finding.id, one.folder));
    const Result<std::string> outcome = inspect_case(pool, one.folder, options);
    one.outcome = outcome ? *outcome : "not inspected: " + outcome.error().describe();
  }
  return inspected;
}

}  // namespace sapper::inspect
