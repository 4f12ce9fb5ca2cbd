// What bounds cost: the programs of bench/ops evaluated exactly, and with the deviations beside the values. The bar:
// three times the exact time.
#include <benchmark/benchmark.h>

#include "bench/value_of.h"
#include "bounds/bounded.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "inputs/sampler.h"

namespace sapper::bounds {
namespace {

struct Program {
  hlo::Module module;
  std::vector<hlo::Literal> arguments;
};

Program program(const std::string& name) {
  hlo::Module module = value_of(hlo::read_module(SAPPER_SOURCE_DIR "/bench/ops/" + name + ".hlo"));
  auto arguments = value_of(inputs::sample(module, hlo::fingerprint(module), 0));
  return {std::move(module), std::move(arguments)};
}

void BM_Exact(benchmark::State& state, const char* name) {
  const Program one = program(name);
  for (auto _ : state) benchmark::DoNotOptimize(value_of(eval::evaluate(one.module, one.arguments)));
}

void BM_Bounded(benchmark::State& state, const char* name) {
  const Program one = program(name);
  const BoundedModule bounded = value_of(with_bounds(one.module, {}));
  for (auto _ : state) benchmark::DoNotOptimize(value_of(evaluate(bounded, one.arguments)));
}

#define SAPPER_PROGRAM(name)                                                                                       \
  BENCHMARK_CAPTURE(BM_Exact, name, #name)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(BM_Bounded, name, #name)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond)
SAPPER_PROGRAM(add);
SAPPER_PROGRAM(conv);
SAPPER_PROGRAM(dot);
SAPPER_PROGRAM(exp);
SAPPER_PROGRAM(reduce);
SAPPER_PROGRAM(softmax);
SAPPER_PROGRAM(transpose);

}  // namespace
}  // namespace sapper::bounds
