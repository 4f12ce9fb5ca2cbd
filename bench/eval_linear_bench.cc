// How fast the evaluator's contractions are: the shapes of ../shared/bench/ops (dot, conv) and some of real models.
#include <benchmark/benchmark.h>

#include "../tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;

// [rows, depth] times [depth, columns].
void BM_Dot(benchmark::State& state, ElementType type) {
  std::mt19937 random(0);
  const int64_t rows = state.range(0);
  const int64_t depth = state.range(1);
  const int64_t columns = state.range(2);
  const std::vector<hlo::Literal> operands = {testing::random_literal(type, {rows, depth}, random),
                                              testing::random_literal(type, {depth, columns}, random)};
  hlo::Instruction instruction = testing::instruction(hlo::Opcode::Dot, testing::shape(type, {rows, columns}));
  auto* numbers = instruction.edit_attributes().mutable_dot_dimension_numbers();
  numbers->add_lhs_contracting_dimensions(1);
  numbers->add_rhs_contracting_dimensions(0);
  for (auto _ : state) benchmark::DoNotOptimize(testing::run(dot, instruction, operands));
  state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(rows * depth * columns) * 1e-9,
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(BM_Dot, f32, ElementType::F32)
    ->Args({512, 512, 512})
    ->Args({1, 768, 50257})
    ->Args({256, 768, 3072})
    ->Args({16, 16, 16})
    ->Args({64, 64, 64})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Dot, bf16, ElementType::BF16)->Args({512, 512, 512})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Dot, f64, ElementType::F64)->Args({512, 512, 512})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Dot, s32, ElementType::S32)->Args({512, 512, 512})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Dot, c64, ElementType::C64)->Args({512, 512, 512})->UseRealTime()->Unit(benchmark::kMillisecond);

// A square image through a square kernel with stride 1 and padding that keeps the size.
void BM_Convolution(benchmark::State& state) {
  std::mt19937 random(0);
  const int64_t batch = state.range(0);
  const int64_t size = state.range(1);
  const int64_t inputs = state.range(2);
  const int64_t window = state.range(3);
  const int64_t outputs = state.range(4);
  const int64_t groups = state.range(5);
  const int64_t group_inputs = inputs / groups;
  const std::vector<hlo::Literal> operands = {
      testing::random_literal(ElementType::F32, {batch, size, size, inputs}, random),
      testing::random_literal(ElementType::F32, {window, window, group_inputs, outputs}, random)};
  hlo::Instruction instruction =
      testing::instruction(hlo::Opcode::Convolution, testing::shape(ElementType::F32, {batch, size, size, outputs}));
  hlo::Attributes& attributes = instruction.edit_attributes();
  attributes.set_feature_group_count(groups);
  attributes.set_batch_group_count(1);
  auto* numbers = attributes.mutable_convolution_dimension_numbers();
  numbers->set_input_feature_dimension(3);
  numbers->set_kernel_input_feature_dimension(2);
  numbers->set_kernel_output_feature_dimension(3);
  numbers->set_output_feature_dimension(3);
  for (int d = 0; d < 2; ++d) {
    numbers->add_input_spatial_dimensions(d + 1);
    numbers->add_kernel_spatial_dimensions(d);
    numbers->add_output_spatial_dimensions(d + 1);
    auto* dimension = attributes.mutable_window()->add_dimensions();
    dimension->set_size(window);
    dimension->set_stride(1);
    dimension->set_padding_low(window / 2);
    dimension->set_padding_high(window / 2);
    dimension->set_window_dilation(1);
    dimension->set_base_dilation(1);
  }
  for (auto _ : state) benchmark::DoNotOptimize(testing::run(convolution, instruction, operands));
  state.counters["GMAC/s"] =
      benchmark::Counter(static_cast<double>(batch * size * size * outputs * window * window * group_inputs) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Convolution)
    ->Args({2, 32, 64, 3, 64, 1})
    ->Args({2, 224, 64, 3, 64, 1})
    ->Args({4, 112, 32, 3, 32, 32})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sapper::eval
