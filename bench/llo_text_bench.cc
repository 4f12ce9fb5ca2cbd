// Reading of LLO text: every program under the folder that SAPPER_LLO_DUMPS names, as libtpu dumps them.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "llo/dump.h"
#include "llo/text.h"

namespace sapper::llo {
namespace {

// The programs of the folder, with the names of their stages.
const std::vector<StageText>& programs() {
  static const std::vector<StageText> found = [] {
    std::vector<StageText> stages;
    const char* folder = std::getenv("SAPPER_LLO_DUMPS");
    if (folder == nullptr) return stages;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".txt") continue;
      ModuleDump dump = read_dump({{entry.path().filename().string(), read_file(entry.path().string()).value_or("")}});
      for (KernelDump& kernel : dump.kernels) {
        for (StageText& stage : kernel.stages) stages.push_back(std::move(stage));
      }
    }
    return stages;
  }();
  return found;
}

void read_llo(benchmark::State& state) {
  if (programs().empty()) return state.SkipWithError("SAPPER_LLO_DUMPS names no folder with dumps");
  int64_t bytes = 0;
  int64_t instructions = 0;
  for (auto _ : state) {
    for (const StageText& stage : programs()) {
      const auto program = parse_program(stage.text, "bench");
      if (!program) return state.SkipWithError(program.error().describe().c_str());
      bytes += static_cast<int64_t>(stage.text.size());
      instructions += static_cast<int64_t>(program->instructions.size());
    }
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(instructions);
}
BENCHMARK(read_llo)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sapper::llo
