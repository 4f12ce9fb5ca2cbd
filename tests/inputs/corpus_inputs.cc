// Development: how modules fare on sampled inputs: which instructions produce a NaN or an infinity that nobody meant.
//   inputs_corpus FILE... [--seed N] [--seconds S]
// One line a module: clean, selected-away, produced (with the first such instruction), or why it was not evaluated.
#include <CLI/CLI.hpp>

#include "eval/inline_calls.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"
#include "tests/inputs/unintended.h"

namespace sapper::inputs {
namespace {

Result<UnintendedWatch> watch(const std::string& path, uint64_t seed, double seconds) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(path));
  SAPPER_CHECKED(hlo::verify(module));
  SAPPER_TRY(const std::vector<hlo::Literal> arguments, sample(module, hlo::fingerprint(module), seed));
  const hlo::Module inlined = eval::with_calls_inlined(module);
  UnintendedWatch result;
  eval::Options options;
  options.time_limit_seconds = seconds;
  options.memory_limit_bytes = int64_t{4} << 30;
  options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                      const hlo::Literal& value) { result.see(computation, instruction, value); };
  if (const auto value = eval::evaluate(inlined, arguments, options); !value)
    return tl::unexpected<Error>(value.error());
  return result;
}

int run(const std::vector<std::string>& paths, uint64_t seed, double seconds) {
  int clean = 0, selected_away = 0, produced = 0, skipped = 0;
  for (const std::string& path : paths) {
    const auto result = watch(path, seed, seconds);
    if (!result) {
      ++skipped;
      fmt::print("skipped        {}  {}\n", path, result.error().describe());
      continue;
    }
    const Unintended* const first = result->first_used();
    ++(first != nullptr ? produced : result->produced().empty() ? clean : selected_away);
    fmt::print("{:<14} {}",
               first != nullptr             ? "produced"
               : result->produced().empty() ? "clean"
                                            : "selected-away",
               path);
    int shown = 0;
    for (const Unintended& one : result->produced())
      if (first == nullptr || !one.is_selected_away)
        if (++shown <= 4)
          fmt::print("  {} {} {} in {}: {};", one.opcode, one.instruction, one.shape, one.computation,
                     one.is_nan ? "NaN" : "infinity");
    fmt::print("{}\n", shown > 4 ? fmt::format(" ... {} in all", shown) : "");
    std::fflush(stdout);
  }
  fmt::print("{} clean, {} selected away, {} produced, {} skipped\n", clean, selected_away, produced, skipped);
  return 0;
}

}  // namespace
}  // namespace sapper::inputs

int main(int argc, char** argv) {
  CLI::App app("Values that are not finite and that nobody meant, on sampled inputs");
  std::vector<std::string> paths;
  uint64_t seed = 0;
  double seconds = 20;
  app.add_option("modules", paths)->required();
  app.add_option("--seed", seed);
  app.add_option("--seconds", seconds, "Time limit for one evaluation");
  CLI11_PARSE(app, argc, argv);
  return sapper::inputs::run(paths, seed, seconds);
}
