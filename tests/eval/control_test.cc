// Control flow, and the limits and errors of an evaluation.
#include <chrono>

#include "base/deadline.h"
#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

class Control : public testing::TestWithParam<HloCase> {};
TEST_P(Control, Flows) { check(GetParam()); }

const char* const count_to_five = R"(
below { p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT }
step { p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2] add(x, x)
  ROOT r = (s32[], f32[2]) tuple(j, y) }
swap { p = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2] get-tuple-element(p), index=1
  u = f32[1] slice(x), slice={[0:1]}
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[2] dynamic-update-slice(x, u, one)
  ROOT r = (s32[], f32[2]) tuple(j, y) }
double { x = f32[2] parameter(0)
  ROOT r = f32[2] add(x, x) }
negative { x = f32[2] parameter(0)
  ROOT r = f32[2] negate(x) }
)";

const HloCase cases[] = {
    {"while",
     "i = s32[] constant(0)\n x = f32[2] constant({1, 3})\n t = (s32[], f32[2]) tuple(i, x)\n"
     "w = (s32[], f32[2]) while(t), condition=below, body=step\n ROOT r = f32[2] get-tuple-element(w), index=1",
     "f32[2] {32, 96}", count_to_five},
    {"while_leaves_its_operand_alone",
     "i = s32[] constant(0)\n c = f32[2] constant({1, 3})\n x = f32[2] add(c, c)\n t = (s32[], f32[2]) tuple(i, x)\n"
     "w = (s32[], f32[2]) while(t), condition=below, body=swap\n y = f32[2] get-tuple-element(w), index=1\n"
     "ROOT r = f32[2] subtract(y, x)",
     "f32[2] {0, -4}", count_to_five},
    {"while_that_never_runs",
     "i = s32[] constant(9)\n x = f32[2] constant({1, 3})\n t = (s32[], f32[2]) tuple(i, x)\n"
     "w = (s32[], f32[2]) while(t), condition=below, body=step\n ROOT r = f32[2] get-tuple-element(w), index=1",
     "f32[2] {1, 3}", count_to_five},
    {"conditional_pred",
     "p = pred[] constant(true)\n x = f32[2] constant({1, 3})\n"
     "ROOT r = f32[2] conditional(p, x, x), true_computation=double, false_computation=negative",
     "f32[2] {2, 6}", count_to_five},
    {"conditional_index",
     "p = s32[] constant(1)\n x = f32[2] constant({1, 3})\n"
     "ROOT r = f32[2] conditional(p, x, x), branch_computations={double, negative}",
     "f32[2] {-1, -3}", count_to_five},
    {"conditional_out_of_range_takes_the_last",
     "p = s32[] constant(-7)\n x = f32[2] constant({1, 3})\n"
     "ROOT r = f32[2] conditional(p, x, x), branch_computations={double, negative}",
     "f32[2] {-1, -3}", count_to_five},
    {"call", "x = f32[2] constant({1, 3})\n c = f32[2] call(x), to_apply=double\n ROOT r = f32[2] add(c, x)",
     "f32[2] {3, 9}", count_to_five},
    {"fusion", "x = f32[2] constant({1, 3})\n ROOT r = f32[2] fusion(x), kind=kLoop, calls=negative", "f32[2] {-1, -3}",
     count_to_five},
    {"async",
     "x = f32[2] constant({1, 3})\n s = ((f32[2]), f32[2], s32[]) async-start(x), calls=double\n"
     "u = ((f32[2]), f32[2], s32[]) async-update(s)\n ROOT r = f32[2] async-done(u)",
     "f32[2] {2, 6}", count_to_five},
    {"async_late_operands",
     "x = f32[2] constant({1, 3})\n s = ((), (), s32[]) async-start(), calls=double\n"
     "u = ((f32[2]), f32[2]) async-update(s, x)\n ROOT r = f32[2] async-done(u)",
     "f32[2] {2, 6}", count_to_five},
    {"offload",
     "x = f32[2] constant({1, 3})\n s = ((f32[2]), f32[2], s32[]) async-start(x), "
     "async_execution_thread=\"sparsecore\", calls=offloaded\n ROOT r = f32[2] async-done(s)",
     "f32[2] {2, 6}",
     "double { p = f32[2] parameter(0)\n ROOT r = f32[2] add(p, p) }, execution_thread=\"sparsecore\"\n"
     "offloaded { p = f32[2] parameter(0)\n ROOT r = f32[2] custom-call(p), custom_call_target=\"anything\", "
     "called_computations={double} }, execution_thread=\"sparsecore\""},
    {"copy_start",
     "x = f32[2] constant({1, 3})\n s = (f32[2], f32[2], u32[]) copy-start(x)\n ROOT r = f32[2] copy-done(s)",
     "f32[2] {1, 3}", ""},
    {"barrier_and_token",
     "x = f32[2] constant({1, 3})\n k = token[] after-all()\n d = f32[2] add-dependency(x, k)\n ROOT r = f32[2] "
     "opt-barrier(d)",
     "f32[2] {1, 3}", ""},
    {"one_replica", "p = u32[] partition-id()\n q = u32[] replica-id()\n ROOT r = u32[] add(p, q)", "u32[] 0", ""},
};

INSTANTIATE_TEST_SUITE_P(Evaluator, Control, testing::ValuesIn(cases), name_of);

Error error_of(const hlo::Module& module, const Options& options = {}) {
  const Result<hlo::Literal> value = evaluate(module, {}, options);
  if (value) ADD_FAILURE() << "evaluated to " << hlo::to_text(*value);
  return value ? Error{} : value.error();
}

const char* const endless = R"(
always { p = s32[] parameter(0)
  ROOT r = pred[] constant(true) }
again { p = s32[] parameter(0)
  ROOT r = s32[] add(p, p) }
)";

TEST(Limits, Iterations) {
  Options options;
  options.iteration_limit = 1000;
  const hlo::Module module =
      entry_module("x = s32[] constant(1)\n ROOT w = s32[] while(x), condition=always, body=again", endless);
  const Error error = error_of(module, options);
  EXPECT_EQ(error.kind, ErrorKind::Resource);
  EXPECT_EQ(error.where.instruction, "w");
}

TEST(Limits, Time) {
  Options options;
  options.time_limit_seconds = 0.05;
  const hlo::Module module =
      entry_module("x = s32[] constant(1)\n ROOT w = s32[] while(x), condition=always, body=again", endless);
  EXPECT_EQ(error_of(module, options).kind, ErrorKind::Resource);
}

TEST(Limits, TimeEndsLongOperationsToo) {
  Options options;
  options.time_limit_seconds = 0.2;
  for (const char* const body :
       {"x = f32[] constant(1)\n a = f32[3000,3000] broadcast(x), dimensions={}\n"
        "ROOT d = f32[3000,3000] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "x = f32[] constant(1)\n a = f32[3000,3000] broadcast(x), dimensions={}\n"
        "ROOT d = f32[3000,3000] triangular-solve(a, a), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"}) {
    const auto start = std::chrono::steady_clock::now();
    const Error error = error_of(entry_module(body), options);
    EXPECT_EQ(error.kind, ErrorKind::Resource);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << body;  // else minutes
  }
}

// What they compute is kept, also when the evaluation around them ends for lack of time.
TEST(Limits, TimeDoesNotCutTracesAndSubstitutesShort) {
  Options options;
  options.time_limit_seconds = 3600;
  int calls = 0;
  const auto look = [&] {
    ++calls;
    EXPECT_EQ(current_deadline(), Deadline::max());
  };
  options.trace = [&](const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&) { look(); };
  options.substitute.covers = [](const hlo::Computation&, const hlo::Instruction& it) { return it.name == "y"; };
  options.substitute.run = [&](const hlo::Computation&, const hlo::Instruction&,
                               std::vector<hlo::Literal> operands) -> Result<hlo::Literal> {
    look();
    return std::move(operands[0]);
  };
  const hlo::Module module =
      entry_module("x = f32[2] constant({1,2})\n y = f32[2] negate(x)\n ROOT z = f32[2] add(y, y)");
  EXPECT_TRUE(evaluate(module, {}, options));
  EXPECT_GE(calls, 3);
  EXPECT_EQ(current_deadline(), Deadline::max());
}

TEST(Limits, MemoryIsCheckedBeforeItIsAllocated) {
  const hlo::Module huge =
      entry_module("x = f32[] constant(1)\n ROOT big = f32[1000000,1000000] broadcast(x), dimensions={}");
  const Error error = error_of(huge);
  EXPECT_EQ(error.kind, ErrorKind::Resource);
  EXPECT_EQ(error.where.instruction, "big");
  EXPECT_NE(error.message.find("4000000000000"), std::string::npos) << error.message;

  Options options;
  options.memory_limit_bytes = 10'000;
  const hlo::Module chain = entry_module(
      "a = f32[1000] iota(), iota_dimension=0\n b = f32[1000] reverse(a), dimensions={0}\n c = f32[1000] reverse(b), "
      "dimensions={0}\n"
      "d = f32[2000] concatenate(b, c), dimensions={0}\n ROOT e = f32[2000] reverse(d), dimensions={0}");
  EXPECT_EQ(error_of(chain, options).kind, ErrorKind::Resource);
}

TEST(Limits, WhatCannotFitIsRefusedBeforeItIsReached) {
  const hlo::Module module = entry_module(
      "x = s32[] constant(1)\n w = s32[] while(x), condition=always, body=again\n"
      "ROOT big = s32[1000000,1000000] broadcast(w), dimensions={}",
      endless);
  const Error error = error_of(module);
  EXPECT_EQ(error.kind, ErrorKind::Resource);
  EXPECT_EQ(error.where.instruction, "big");
}

TEST(Limits, LeastMemoryIsWhatLivesTogether) {
  const hlo::Module module = entry_module(
      "a = f32[1000] parameter(0)\n b = f32[1000] reverse(a), dimensions={0}\n"
      "c = f32[2000] concatenate(a, b), dimensions={0}\n ROOT r = (f32[1000], f32[2000]) tuple(a, c)");
  EXPECT_EQ(least_memory_bytes(module), 12'000);
  const hlo::Module called = entry_module(
      "a = f32[1000] parameter(0)\n c = f32[1000] call(a), to_apply=inner\n ROOT r = (f32[1000], f32[1000]) tuple(a, "
      "c)",
      "inner { p = f32[1000] parameter(0)\n zero = f32[] constant(0)\n b = f32[5000] pad(p, zero), padding=0_4000\n"
      "ROOT s = f32[1000] slice(b), slice={[4000:5000]} }\n");
  EXPECT_EQ(least_memory_bytes(called), 20'000);  // the pad may reuse its operand
}

TEST(Limits, BuffersAreFreedAtTheLastUse) {
  Options options;
  options.memory_limit_bytes = 20'000;
  std::string body = "x0 = f32[1000] iota(), iota_dimension=0\n";
  for (int i = 0; i < 100; ++i)
    body += fmt::format("x{} = f32[1000] sort(x{}), dimensions={{0}}, to_apply=less\n", i + 1, i);
  const std::string less =
      "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=LT }\n";
  const hlo::Literal value = value_of(body + "ROOT r = f32[1000] negate(x100)", {}, less, options);
  EXPECT_EQ(value.real_at(999), -999);
}

TEST(Limits, DeepCallsAreAnErrorNotAStackOverflow) {
  hlo::Module module = parse_verified("HloModule deep\nENTRY main { ROOT r = f32[] constant(1) }");
  for (hlo::ComputationIndex i = 1; i < 100'000; ++i) {
    hlo::Computation computation;
    computation.name = fmt::format("c{}", i);
    hlo::Instruction call;
    call.opcode = hlo::Opcode::Call;
    call.name = fmt::format("call{}", i);
    call.shape = hlo::Shape::scalar(hlo::ElementType::F32);
    call.called = {i - 1};
    computation.instructions.push_back(std::move(call));
    module.computations.push_back(std::move(computation));
  }
  module.entry = 999;
  EXPECT_TRUE(evaluate(module, {}));
  module.entry = 99'999;
  EXPECT_EQ(error_of(module).kind, ErrorKind::Resource);
}

TEST(Errors, ElidedConstantWhoseValueIsNeeded) {
  const Error error = error_of(entry_module("c = f32[100] constant({...})\n ROOT r = f32[100] add(c, c)"));
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_EQ(error.where.instruction, "c");
}

TEST(Errors, ElidedConstantWhoseValueIsNotNeeded) {
  expect_same(value_of("c = f32[100] constant({...})\n ROOT r = f32[] constant(2)"), constant("f32[] 2"));
}

TEST(Errors, Unsupported) {
  const Error error = error_of(entry_module(
      "a = f32[] constant(0)\n b = f32[] constant(1)\n ROOT noise = f32[4] rng(a, b), distribution=rng_uniform"));
  EXPECT_EQ(error.kind, ErrorKind::Unsupported);
  EXPECT_EQ(error.message.find("not evaluated: rng (noise)"), 0U) << error.message;
}

// The verifier lets late passes mix float types; values must never be taken for others of another size.
TEST(MixedPrecision, ResultsOfGathersAreConverted) {
  expect_same(
      value_of("x = f32[3,2] constant({{1.001, 2}, {3, 4}, {5, 6}})\n i = s32[2] constant({2, 0})\n"
               "ROOT g = bf16[2,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
               "index_vector_dim=1, slice_sizes={1,2}"),
      constant("bf16[2,2] {{5, 6}, {1, 2}}"));
}

TEST(MixedPrecision, ElementwiseWorksInTheWidestType) {
  expect_same(value_of("a = f32[1] constant({1.001})\n b = bf16[1] constant({1})\n ROOT r = f32[1] add(a, b)"),
              constant("f32[1] {2.001}"));
}

TEST(Errors, UnboundedDimensionsAreUnsupported) {
  const hlo::Literal argument = constant("f32[2] {1, 2}");
  hlo::Module module = entry_module("x = f32[2] parameter(0)\n ROOT r = f32[?] negate(x)");
  const hlo::Literal arguments[] = {argument};
  const Result<hlo::Literal> value = evaluate(module, arguments);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, ErrorKind::Unsupported);
}

TEST(Errors, Arguments) {
  const hlo::Module module = entry_module("ROOT x = f32[2] parameter(0)");
  EXPECT_EQ(error_of(module).kind, ErrorKind::BadInput);
  const hlo::Literal wrong[] = {constant("f32[3] {1, 2, 3}")};
  const Result<hlo::Literal> value = evaluate(module, wrong);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, ErrorKind::BadInput);
  EXPECT_NE(value.error().message.find("f32[3]"), std::string::npos);
}

TEST(Arguments, AreNotWrittenTo) {
  const hlo::Literal argument = constant("f32[2] {1, 2}");
  const hlo::Literal update = constant("f32[1] {9}");
  const hlo::Literal value = value_of(
      "x = f32[2] parameter(0)\n u = f32[1] parameter(1)\n i = s32[] constant(0)\n y = f32[2] dynamic-update-slice(x, "
      "u, i)\n"
      "ROOT r = f32[2] add(y, y)",
      {argument, update});
  expect_same(value, constant("f32[2] {18, 4}"));
  expect_same(argument, constant("f32[2] {1, 2}"));
}

// The first scatter's operand and result are used again; the second's operand dies.
TEST(Arguments, ScatterWritesOverWhatDiesOnly) {
  const std::string rest =
      ", i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=sum\n";
  const hlo::Literal result = value_of(
      "x = s32[3] constant({1, 2, 3})\n a = s32[3] add(x, x)\n i = s32[1,1] constant({{1}})\n"
      "u = s32[1] constant({10})\n b = s32[3] scatter(a" +
          rest +
          "c = s32[3] add(a, b)\n"
          "d = s32[3] scatter(c" +
          rest + "ROOT r = (s32[3], s32[3], s32[3]) tuple(a, b, d)",
      {}, "sum {\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n ROOT r = s32[] add(p, q)\n}");
  ASSERT_EQ(result.elements().size(), 3);
  EXPECT_TRUE(result.elements()[0] == constant("s32[3] {2, 4, 6}"));
  EXPECT_TRUE(result.elements()[1] == constant("s32[3] {2, 14, 6}"));
  EXPECT_TRUE(result.elements()[2] == constant("s32[3] {4, 28, 12}"));
}

TEST(Trace, GivesEveryValueInOrder) {
  std::vector<std::string> seen;
  Options options;
  options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                      const hlo::Literal& value) {
    seen.push_back(computation.name + "." + instruction.name + "=" + hlo::to_text(value));
  };
  value_of("x = s32[] constant(1)\n y = s32[] call(x), to_apply=twice\n ROOT r = s32[] negate(y)", {},
           "twice { p = s32[] parameter(0)\n ROOT s = s32[] add(p, p) }\n", options);
  const std::vector<std::string> expected = {"main.x=1", "twice.p=1", "twice.s=2", "main.y=2", "main.r=-2"};
  EXPECT_EQ(seen, expected);
}

TEST(Trace, EntersNoComputationThatIsAppliedToElements) {
  std::vector<std::string> seen;
  Options options;
  options.trace = [&](const hlo::Computation& computation, const hlo::Instruction&, const hlo::Literal&) {
    seen.push_back(computation.name);
  };
  value_of("x = s32[2] constant({1, 2})\n ROOT r = s32[2] map(x), dimensions={0}, to_apply=outer", {},
           "inner { p = s32[] parameter(0)\n ROOT s = s32[] add(p, p) }\n"
           "outer { p = s32[] parameter(0)\n ROOT c = s32[] call(p), to_apply=inner }\n",
           options);
  EXPECT_EQ(seen, (std::vector<std::string>{"main", "main"}));
}

TEST(ExcessPrecision, KeepsWhatConvertsWouldRound) {
  const std::string body =
      "x = f32[2] constant({1.001, 3})\n n = bf16[2] convert(x)\n s = bf16[2] add(n, n)\n ROOT r = f32[2] convert(s)";
  expect_same(value_of(body), constant("f32[2] {2, 6}"));
  Options options;
  options.excess_precision = true;
  expect_same(value_of(body, {}, "", options), constant("f32[2] {2.002, 6}"));
}

TEST(ExcessPrecision, RoundsWhatIsStored) {
  Options options;
  options.excess_precision = true;
  expect_same(
      value_of("x = f32[1] constant({1.001})\n n = bf16[1] convert(x)\n ROOT r = bf16[1] negate(n)", {}, "", options),
      constant("bf16[1] {-1}"));
}

TEST(ExcessPrecision, SeesThroughCalls) {
  Options options;
  options.excess_precision = true;
  expect_same(
      value_of("x = f32[1] constant({1.001})\n n = f16[1] call(x), to_apply=to_half\n ROOT r = f32[1] convert(n)", {},
               "to_half { p = f32[1] parameter(0)\n ROOT c = f16[1] convert(p) }\n", options),
      constant("f32[1] {1.001}"));
}

TEST(ExcessPrecision, ReachesProductsWithinAFusion) {
  // As a kernel without bf16 arithmetic computes it: the operand of the dot is narrow in a fusion of its own.
  Options options;
  options.excess_precision = true;
  expect_same(value_of("x = f32[1] constant({1.001})\n ROOT f = f32[] fusion(x), kind=kOutput, calls=outer", {},
                       "inner { p = f32[1] parameter(0)\n ROOT c = bf16[1] convert(p) }\n"
                       "outer { q = f32[1] parameter(0)\n n = bf16[1] fusion(q), kind=kLoop, calls=inner\n"
                       "o = bf16[1] constant({1})\n"
                       "ROOT d = f32[] dot(n, o), lhs_contracting_dims={0}, rhs_contracting_dims={0} }\n",
                       options),
              constant("f32[] 1.001"));
}

}  // namespace
}  // namespace sapper::eval
