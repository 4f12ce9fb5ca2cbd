// Development: plants defects in the compilation of some pieces of a module, runs a campaign over all of it, and says
// whether exactly those are found.
//   plant_campaign MODULE [--on TARGET] [--plants N]
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "isolate/campaign.h"
#include "tests/isolate/plants.h"

namespace sapper::isolate {
namespace {

struct Arguments {
  std::string module;
  std::string on = "cpu";
  size_t plants = 10;
};

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(arguments.module));
  SAPPER_CHECKED(hlo::verify(module));
  CampaignOptions options;
  options.name = "plants";
  options.tool = "plants";
  options.cut_by_form = false;
  options.cut.granularity = Granularity::Region;
  SAPPER_TRY(options.check.target, target::parse_target(arguments.on));
  options.check.sampling.seeds = 1;
  options.check.evaluation.time_limit_seconds = 60;
  options.jobs = static_cast<int>(std::thread::hardware_concurrency());
  const std::vector<Plant> plants = choose_plants(cut(module, options.cut).pieces, arguments.plants);
  setenv("PLANTS", plants_text(plants).c_str(), 1);

  const std::string path = std::filesystem::temp_directory_path() / fmt::format("plants_{}.db", getpid());
  SAPPER_TRY(store::Store store, store::Store::open(path));
  target::CompilerPool pool({.workers = options.jobs, .compile_seconds = 60, .worker_program = PLANTING_WORKER});
  SAPPER_TRY(const CampaignResult result, run_campaign(store, pool, {arguments.module}, options, nullptr));
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(options.name));
  std::set<std::string> found;
  for (const store::RankedFinding& finding : findings) found.insert(finding.run.piece);
  size_t seen = 0;
  for (const Plant& plant : plants) {
    const bool is_found = found.erase(plant.fingerprint) > 0;
    seen += is_found ? 1 : 0;
    fmt::print("{}  {}  {} at {}\n", is_found ? "found " : "MISSED", plant.fingerprint.substr(0, 10), plant.kind,
               plant.instruction);
  }
  for (const std::string& piece : found) fmt::print("EXTRA   {}\n", piece.substr(0, 10));
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(options.name));
  for (const auto& [verdict, count] : verdicts) fmt::print("{} {}  ", count, verdict);
  fmt::print("\n{} of {} planted defects found, {} others, in {} pieces, {:.0f} s\n", seen, plants.size(), found.size(),
             result.judged, result.seconds);
  std::filesystem::remove(path);
  return seen == plants.size() && found.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sapper::isolate

int main(int argc, char** argv) {
  sapper::isolate::Arguments arguments;
  CLI::App app("Plants defects in a compilation and looks for them");
  app.add_option("module", arguments.module)->required();
  app.add_option("--on", arguments.on);
  app.add_option("--plants", arguments.plants);
  CLI11_PARSE(app, argc, argv);
  const auto code = sapper::isolate::run(arguments);
  if (!code) fmt::print(stderr, "{}\n", code.error().describe());
  return code.value_or(2);
}
