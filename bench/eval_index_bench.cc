// Time of the operations that move, sort and reduce elements, each as a module of one operation.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "base/assert.h"
#include "eval/evaluator.h"
#include "hlo/text.h"

namespace sapper::eval {
namespace {

const std::string bodies = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
replace { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
greater { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
less_in_jax {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  zero = f32[] constant(0)
  nan = f32[] constant(nan)
  a_is_zero = pred[] compare(a, zero), direction=EQ
  b_is_zero = pred[] compare(b, zero), direction=EQ
  a_signless = f32[] select(a_is_zero, zero, a)
  b_signless = f32[] select(b_is_zero, zero, b)
  a_is_nan = pred[] compare(a, a), direction=NE
  b_is_nan = pred[] compare(b, b), direction=NE
  a_key = f32[] select(a_is_nan, nan, a_signless)
  b_key = f32[] select(b_is_nan, nan, b_signless)
  ROOT r = pred[] compare(a_key, b_key), direction=LT, type=TOTALORDER
}
two_keys {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  x = s32[] parameter(2)
  y = s32[] parameter(3)
  first = pred[] compare(a, b), direction=LT
  equal = pred[] compare(a, b), direction=EQ
  second = pred[] compare(x, y), direction=LT
  tie = pred[] and(equal, second)
  ROOT r = pred[] or(first, tie)
}
argmax {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  greater = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  pick = pred[] or(greater, nan)
  equal = pred[] compare(a, b), direction=EQ
  lower = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, lower)
  pick_index = pred[] or(pick, tie)
  best = f32[] select(pick, a, b)
  index = s32[] select(pick_index, i, j)
  ROOT r = (f32[], s32[]) tuple(best, index)
}
)";

// Whole numbers in no order; small arrays of them are indices of rows, large ones of elements.
hlo::Literal scattered_values(const hlo::Shape& shape) {
  hlo::Literal literal(shape);
  const int64_t end = literal.element_count() < 10'000 ? 19'997 : 1'000'003;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const int64_t value = i * 2654435761 % end;
    if (hlo::is_float(shape.element_type())) {
      literal.set_real(i, static_cast<double>(value));
    } else {
      literal.set_integer(i, value);
    }
  }
  return literal;
}

void run(benchmark::State& state, const std::string& entry) {
  const Result<hlo::Module> module = hlo::parse_text("HloModule bench\n" + bodies + "ENTRY main {\n" + entry + "\n}\n");
  if (!module) return state.SkipWithError(module.error().describe().c_str());
  std::vector<hlo::Literal> arguments;
  for (const hlo::InstructionIndex parameter : module->entry_computation().parameters()) {
    arguments.push_back(scattered_values(module->entry_computation().instructions[parameter].shape));
  }
  for (auto _ : state) {
    const Result<hlo::Literal> value = evaluate(*module, arguments);
    SAPPER_ASSERT(value);
    benchmark::DoNotOptimize(value->shape());
  }
}

struct Case {
  const char* name;
  const char* entry;
};

constexpr Case cases[] = {
    {"gather_rows", R"(
  x = f32[20000,512] parameter(0)
  i = s32[4096] parameter(1)
  ROOT r = f32[4096,512] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,512})"},
    {"gather_scalars_1e6", R"(
  x = f32[1000003] parameter(0)
  i = s32[1000000] parameter(1)
  ROOT r = f32[1000000] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1})"},
    {"scatter_add_scalars_1e6", R"(
  x = f32[1000003] parameter(0)
  i = s32[1000000] parameter(1)
  u = f32[1000000] parameter(2)
  ROOT r = f32[1000003] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"scatter_add_rows", R"(
  x = f32[20000,512] parameter(0)
  i = s32[4096] parameter(1)
  u = f32[4096,512] parameter(2)
  ROOT r = f32[20000,512] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"scatter_replace_rows", R"(
  x = f32[20000,512] parameter(0)
  i = s32[4096] parameter(1)
  u = f32[4096,512] parameter(2)
  ROOT r = f32[20000,512] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=replace)"},
    {"sort_1e6", R"(
  x = f32[1000000] parameter(0)
  ROOT r = f32[1000000] sort(x), dimensions={0}, to_apply=less)"},
    {"sort_1e6_as_jax_does", R"(
  x = f32[1000000] parameter(0)
  ROOT r = f32[1000000] sort(x), dimensions={0}, to_apply=less_in_jax)"},
    {"sort_short_lines", R"(
  x = f32[100000,10] parameter(0)
  ROOT r = f32[100000,10] sort(x), dimensions={1}, to_apply=less)"},
    {"sort_columns", R"(
  x = f32[1000,1000] parameter(0)
  ROOT r = f32[1000,1000] sort(x), dimensions={0}, to_apply=less)"},
    {"sort_two_keys_1e5", R"(
  x = s32[100000] parameter(0)
  y = s32[100000] parameter(1)
  ROOT r = (s32[100000], s32[100000]) sort(x, y), dimensions={0}, to_apply=two_keys)"},
    {"topk_50_of_50000", R"(
  x = f32[64,50000] parameter(0)
  ROOT r = (f32[64,50], s32[64,50]) topk(x), k=50, largest=true)"},
    {"argmax_of_rows", R"(
  x = f32[1024,1024] parameter(0)
  i = s32[1024,1024] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[1024], s32[1024]) reduce(x, i, low, zero), dimensions={1}, to_apply=argmax)"},
    {"argmax_of_all_1e6", R"(
  x = f32[1000000] parameter(0)
  i = s32[1000000] iota(), iota_dimension=0
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[], s32[]) reduce(x, i, low, zero), dimensions={0}, to_apply=argmax)"},
    {"max_pool_nhwc", R"(
  x = f32[8,112,112,64] parameter(0)
  low = f32[] constant(-inf)
  ROOT r = f32[8,56,56,64] reduce-window(x, low), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0},
    to_apply=max)"},
    {"sum_pool_nchw", R"(
  x = f32[8,64,112,112] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[8,64,110,110] reduce-window(x, zero), window={size=1x1x3x3}, to_apply=add)"},
    {"cumsum_rows", R"(
  x = f32[1024,1024] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[1024,1024] reduce-window(x, zero), window={size=1x1024 pad=0_0x1023_0}, to_apply=add)"},
    {"cumsum_1e6", R"(
  x = f32[1000000] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[1000000] reduce-window(x, zero), window={size=1000000 pad=999999_0}, to_apply=add)"},
    {"max_pool_gradient_nhwc", R"(
  x = f32[8,112,112,64] parameter(0)
  y = f32[8,56,56,64] parameter(1)
  zero = f32[] constant(0)
  ROOT r = f32[8,112,112,64] select-and-scatter(x, y, zero),
    window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, select=greater, scatter=add)"},
    {"map_1e6", R"(
  x = f32[1000000] parameter(0)
  y = f32[1000000] parameter(1)
  ROOT r = f32[1000000] map(x, y), dimensions={0}, to_apply=max)"},
};

const bool registered = [] {
  for (const Case& one : cases) {
    benchmark::RegisterBenchmark(one.name, [&one](benchmark::State& state) { run(state, one.entry); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace sapper::eval
