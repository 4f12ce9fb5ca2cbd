// How fast a matrix unit multiplies: one vmatmul after the other by the same gains.
#include <benchmark/benchmark.h>

#include <bit>

#include "llo/matrix_unit.h"

namespace sapper::llo {
namespace {

MatrixOperand ones(MatrixFormat format) {
  uint32_t word = 0x01010101;
  if (bits_of(format) == 16) word = 0x3f803f80;
  if (bits_of(format) == 32) word = std::bit_cast<uint32_t>(1.0F);
  MatrixOperand operand{};
  for (uint32_t& bits : operand.value.word) bits = word;
  return operand;
}

void BM_Multiply(benchmark::State& state, MatrixFormat format, bool wide, MatrixSum how) {
  MatrixUnit unit;
  const int size = wide ? 2 * kLanes : kLanes;
  for (int row = 0; row < size; row += rows_of(format)) {
    if (wide) unit.prepare_columns(ones(format));
    if (!unit.push(0, {.format = format, .wide = wide, .left = ones(format)})) state.SkipWithError("no room");
  }
  unit.latch(0, PushOrder::Upwards);
  unit.prepare_lanes(ones(format));
  const MatrixOperand left = ones(format);
  for (auto _ : state) benchmark::DoNotOptimize(unit.multiply(left, format, wide, how));
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * rows_of(format) * size * size, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(BM_Multiply, bf16, MatrixFormat::Bf16, false, MatrixSum::Double);
BENCHMARK_CAPTURE(BM_Multiply, bf16_wide, MatrixFormat::Bf16, true, MatrixSum::Double);
BENCHMARK_CAPTURE(BM_Multiply, f32, MatrixFormat::F32, false, MatrixSum::Double);
BENCHMARK_CAPTURE(BM_Multiply, s8, MatrixFormat::S8, false, MatrixSum::Double);
BENCHMARK_CAPTURE(BM_Multiply, bf16_single, MatrixFormat::Bf16, false, MatrixSum::Single);

// A full set of weights, pushed and latched.
void BM_Weights(benchmark::State& state, MatrixFormat format, bool transposed) {
  MatrixUnit unit;
  for (auto _ : state) {
    for (int row = 0; row < kLanes; row += rows_of(format))
      if (!unit.push(0, {.format = format, .transposed = transposed, .left = ones(format)}))
        state.SkipWithError("no room");
    unit.latch(0, PushOrder::Upwards);
  }
}
BENCHMARK_CAPTURE(BM_Weights, bf16, MatrixFormat::Bf16, false);
BENCHMARK_CAPTURE(BM_Weights, bf16_transposed, MatrixFormat::Bf16, true);

}  // namespace
}  // namespace sapper::llo
