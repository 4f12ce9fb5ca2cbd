// Development: what modules are cut into. Prints a line a module, writes a random sample of the distinct pieces as HLO
// text, and compiles it: with the backend alone where the modules are optimized ones.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "isolate/cut.h"
#include "target/compiler.h"
#include "target/target.h"

namespace {

using namespace sapper;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<const isolate::Piece*> choose(const isolate::Cut& all, size_t count, uint64_t seed) {
  std::vector<const isolate::Piece*> pieces;
  for (const isolate::Piece& piece : all.pieces) pieces.push_back(&piece);
  std::vector<const isolate::Piece*> chosen;
  std::mt19937_64 random(seed);
  std::ranges::sample(pieces, std::back_inserter(chosen), static_cast<ptrdiff_t>(count), random);
  return chosen;
}

void write(const std::vector<const isolate::Piece*>& pieces, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const isolate::Piece* piece : pieces) {
    const Status written =
        write_file(fmt::format("{}/{}.hlo", folder, piece->fingerprint.substr(0, 12)), hlo::to_text(piece->module));
    if (!written) fmt::print(stderr, "{}\n", written.error().describe());
  }
}

void compile(const std::vector<const isolate::Piece*>& pieces, const target::Target& on, bool backend_only) {
  target::CompilerPool pool({.workers = 1, .compile_seconds = 60});
  int good = 0;
  for (const isolate::Piece* piece : pieces) {
    const auto result =
        pool.compile(on, {.module = hlo::to_compilable_proto(piece->module), .run_backend_only = backend_only});
    good += result ? 1 : 0;
    if (!result)
      fmt::print("{} {}: {}\n", piece->fingerprint.substr(0, 12), to_string(piece->kind),
                 result.error().describe().substr(0, 400));
  }
  fmt::print("{} of {} compile\n", good, pieces.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "worker") return target::run_worker(std::atoi(argv[2]));
  std::vector<std::string> files;
  std::string granularity = "fusion";
  std::string out;
  std::string on;
  bool backend_only = false;
  size_t sample = 60;
  uint64_t seed = 1;
  CLI::App app("What modules are cut into");
  app.add_option("modules", files)->required();
  app.add_option("--granularity", granularity);
  app.add_option("--out", out, "Folder for the sample");
  app.add_option("--compile", on, "Target to compile the sample for");
  app.add_flag("--backend-only", backend_only);
  app.add_option("--sample", sample);
  app.add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);

  isolate::CutOptions options;
  if (const auto parsed = isolate::parse_granularity(granularity)) options.granularity = *parsed;
  isolate::Cut all;
  fmt::print("{:44} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7} {:>6} {:>6}\n", "module", "instrs", "in pieces", "called",
             "nothing", "skipped", "pieces", "dist.", "s");
  for (uint32_t k = 0; k < files.size(); ++k) {
    const auto start = Clock::now();
    const auto module = hlo::read_module(files[k]);
    if (!module) {
      fmt::print("{}\n", module.error().describe());
      continue;
    }
    if (const Status legal = hlo::verify(*module); !legal) {
      fmt::print("{}: {}\n", files[k], legal.error().describe());
      continue;
    }
    isolate::Cut cut = isolate::cut(*module, options);
    size_t occurrences = 0;
    for (const isolate::Piece& piece : cut.pieces) occurrences += piece.occurrences.size();
    const isolate::Coverage& coverage = cut.coverage;
    fmt::print("{:44} {:9} {:9} {:9} {:9} {:8} {:7} {:6} {:6.2f}\n",
               std::filesystem::path(files[k]).stem().stem().string(), coverage.instructions, coverage.in_pieces,
               coverage.called, coverage.nothing, coverage.skipped.size(), occurrences, cut.pieces.size(),
               seconds_since(start));
    for (const auto& [reason, count] : coverage.skipped_by_reason()) fmt::print("    {} skipped: {}\n", count, reason);
    merge(all, std::move(cut), k);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::map<std::string_view, int64_t> kinds;
  for (const isolate::Piece& piece : all.pieces) ++kinds[to_string(piece.kind)];
  fmt::print("distinct {} peak {} MiB;", all.pieces.size(), usage.ru_maxrss / 1024);
  for (const auto& [kind, count] : kinds) fmt::print(" {} {}", kind, count);
  fmt::print("\n");
  const auto chosen = choose(all, sample, seed);
  if (!out.empty()) write(chosen, out);
  if (on.empty()) return 0;
  const auto parsed = target::parse_target(on);
  if (!parsed) {
    fmt::print("{}\n", parsed.error().describe());
    return 2;
  }
  compile(chosen, *parsed, backend_only);
}
