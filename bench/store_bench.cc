// What remembering costs: lists of pieces, runs one by one and together, and the question what is there already. The
// bars: a hundred thousand pieces in 2 s; a run in 2% of the tenth of a second that a quick one takes.
//
// SAPPER_BENCH_STORE=postgresql://... measures an (empty) database in place of an SQLite file; its tables stay.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "bench/value_of.h"
#include "store/store.h"

namespace sapper::store {
namespace {

// A new file, or the next ten million numbers of the database that is given: whatever follows from a number is new.
struct Fresh {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("sapper-bench-{}.db", getpid())).string();
  int64_t first = 0;
  Store store;

  Fresh() : store(open()) { (void)value_of(store.begin_campaign("bench", "{}")); }
  ~Fresh() { remove(); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  }
  Store open() {
    if (const char* url = std::getenv("SAPPER_BENCH_STORE")) {
      static int64_t calls = 0;
      first = (std::time(nullptr) * 100 + ++calls) * 10'000'000;
      return value_of(Store::open(url));
    }
    remove();
    return value_of(Store::open(path));
  }
};

std::string fingerprint(int64_t i) {
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15, static_cast<uint64_t>(i));
}

// Text that packs about as well as a module's does.
std::string module_text(int64_t i, size_t bytes) {
  std::string text = fmt::format("HloModule piece{}\n", i);
  for (uint64_t n = static_cast<uint64_t>(i); text.size() < bytes; n = n * 6364136223846793005 + 1442695040888963407)
    text += fmt::format("  fusion.{} = f32[{},{}] add(p.{}, p.{})\n", n >> 50, 1 << (n >> 60), n >> 52, n % 97, n % 89);
  return text;
}

std::vector<Piece> pieces(int64_t first, int64_t count, size_t module_bytes) {
  std::vector<Piece> all;
  for (int64_t i = first; i < first + count; ++i)
    all.push_back({fingerprint(i),
                   module_bytes == 0 ? "" : module_text(i, module_bytes),
                   "fusion",
                   1000.0,
                   12,
                   {{"models/transformer.hlo", "main", fmt::format("fusion.{}", i), "layer.py:12", 1}}});
  return all;
}

Record record(int64_t i) {
  return {.run = {.key = {fingerprint(i), "tpu:v5e", 1, "0.1.0"},
                  .verdict = "agree",
                  .max_excess = 0.5,
                  .max_relative = 1e-7,
                  .decided = 1.0,
                  .seconds = 0.1,
                  .compiler_seconds = 0.09,
                  .steps = R"([{"step":"exact","verdict":"agree","seconds":0.01}])"}};
}

void BM_AddPieces(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto fresh = std::make_unique<Fresh>();
    const auto all = pieces(fresh->first, state.range(0), static_cast<size_t>(state.range(1)));
    state.ResumeTiming();
    if (const Status added = fresh->store.add_pieces("bench", all); !added)
      state.SkipWithError(added.error().message.c_str());
    state.PauseTiming();
    fresh.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_AddPieces)
    ->ArgNames({"pieces", "module_bytes"})
    ->Args({100'000, 0})
    ->Args({100'000, 3000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_AddKnownPieces(benchmark::State& state) {
  Fresh fresh;
  const auto all = pieces(fresh.first, state.range(0), 300);
  (void)fresh.store.add_pieces("bench", all);
  for (auto _ : state)
    if (const Status added = fresh.store.add_pieces("bench", all); !added)
      state.SkipWithError(added.error().message.c_str());
}
BENCHMARK(BM_AddKnownPieces)->ArgName("pieces")->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Record(benchmark::State& state) {
  Fresh fresh;
  const int64_t together = state.range(0);
  constexpr int64_t most = 50'000;
  (void)fresh.store.add_pieces("bench", pieces(fresh.first, most, 0));
  int64_t next = 0;
  uint64_t seed = 0;
  for (auto _ : state) {
    std::vector<Record> records;
    for (int64_t i = 0; i < together; ++i) {
      records.push_back(record(fresh.first + next));
      records.back().run.key.seed = seed;
      next = (next + 1) % most;
      seed += next == 0 ? 1 : 0;
    }
    if (value_of(fresh.store.record("bench", records)) != records.size()) state.SkipWithError("recorded before");
  }
  state.SetItemsProcessed(state.iterations() * together);
}
BENCHMARK(BM_Record)->ArgName("together")->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

void BM_AdoptKnown(benchmark::State& state) {
  Fresh fresh;
  (void)fresh.store.add_pieces("bench", pieces(fresh.first, state.range(0), 0));
  std::vector<Record> records;
  std::vector<RunKey> keys;
  for (int64_t i = 0; i < state.range(0); ++i) {
    records.push_back(record(fresh.first + i));
    keys.push_back(records.back().run.key);
  }
  (void)value_of(fresh.store.record("bench", records));
  for (auto _ : state) benchmark::DoNotOptimize(value_of(fresh.store.adopt("bench", keys)));
}
BENCHMARK(BM_AdoptKnown)->ArgName("runs")->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sapper::store
