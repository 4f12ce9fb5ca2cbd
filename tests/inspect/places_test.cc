// Registers are placed by addresses: also where values repeat and say nothing of their places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "inspect/llo_inspection.h"
#include "inspect/probe.h"
#include "target/target.h"
#include "tests/inspect/kernel_cases.h"

namespace sapper::inspect {
namespace {

using hlo::Literal;

struct PlacesCase {
  const char* name;
  const char* hlo;
  const char* target;
  int nodes;  // that must be seen in full besides parameters
};

// Elementwise code of every form that elements have in registers.
constexpr PlacesCase kCases[] = {
    {"F32", R"(ENTRY main { a = f32[100,300] parameter(0)  b = f32[100,300] parameter(1)
  s = f32[100,300] add(a, b)  ROOT r = f32[100,300] multiply(s, a) })",
     "tpu:v5e", 2},
    {"Vector", R"(ENTRY main { a = f32[5000] parameter(0)  b = f32[5000] parameter(1)
  s = f32[5000] add(a, b)  ROOT r = f32[5000] subtract(s, a) })",
     "tpu:v5e", 2},
    {"Bf16", R"(ENTRY main { a = bf16[72,300] parameter(0)  b = bf16[72,300] parameter(1)
  m = bf16[72,300] maximum(a, b)  ROOT r = bf16[72,300] negate(m) })",
     "tpu:v5e", 2},
    {"Bf16InV6e", R"(ENTRY main { a = bf16[72,300] parameter(0)  b = bf16[72,300] parameter(1)
  m = bf16[72,300] maximum(a, b)  ROOT r = bf16[72,300] negate(m) })",
     "tpu:v6e", 2},
    {"Bf16InV4", R"(ENTRY main { a = bf16[72,300] parameter(0)  b = bf16[72,300] parameter(1)
  m = bf16[72,300] maximum(a, b)  ROOT r = bf16[72,300] negate(m) })",
     "tpu:v4", 2},
    {"S8", R"(ENTRY main { a = s8[40,200] parameter(0)  b = s8[40,200] parameter(1)
  m = s8[40,200] maximum(a, b)  ROOT r = s8[40,200] xor(m, b) })",
     "tpu:v5e", 1},
    {"Broadcast", R"(ENTRY main { a = f32[4,64,256] parameter(0)  b = f32[256] parameter(1)
  c = f32[4,64,256] broadcast(b), dimensions={2}  s = f32[4,64,256] add(a, c)  ROOT r = f32[4,64,256] multiply(s, a) })",
     "tpu:v5e", 2},
};

class Places : public testing::TestWithParam<PlacesCase> {
 protected:
  static target::CompilerPool& pool() {
    static auto* const pool = new target::CompilerPool({.workers = 1, .worker_program = SAPPER_BINARY});
    return *pool;
  }
  // The one kernel of the program, on operands that are all ones.
  static Result<KernelCase> kernel_of(const PlacesCase& test) {
    const std::string path = fmt::format("{}/places_{}.hlo", testing::TempDir(), test.name);
    SAPPER_CHECKED(write_file(path, fmt::format("HloModule places\n{}\n", test.hlo)));
    SAPPER_TRY(std::vector<KernelCase> cases, kernel_cases(pool(), path, *target::parse_target(test.target)));
    if (cases.size() != 1) return fail(ErrorKind::BadInput, "{} kernels", cases.size());
    for (Literal& operand : cases.front().operands) fill(operand, [](int64_t) { return 1; });
    return std::move(cases.front());
  }

  template <class Value>
  static void fill(Literal& array, Value value) {
    for (int64_t i = 0; i < array.element_count(); ++i)
      hlo::is_float(array.shape().element_type()) ? array.set_real(i, static_cast<double>(value(i)))
                                                  : array.set_integer(i, value(i));
  }
};

// Places are learned where all elements are alike. Then the same code runs on others: what is read of each instruction
// must be that instruction's value, element by element.
TEST_P(Places, AreExactWhereAllElementsAreAlike) {
  const target::Target target = *target::parse_target(GetParam().target);
  if (!target::plugin_present(target)) GTEST_SKIP() << "no plugin";
  const Result<KernelCase> alike = kernel_of(GetParam());
  ASSERT_TRUE(alike) << alike.error().describe();
  const LloInspectionOptions options = *options_for(target);

  KernelCase varied = *alike;
  int64_t step = 7;  // values that tell each element from all nearby, small enough for every type
  for (Literal& operand : varied.operands) {
    fill(operand, [step](int64_t i) { return i * step % 127; });
    step += 6;
  }

  const LloKernel learned = alike->at_end();
  const auto view = view_of(learned, options.evaluation, options.memory_bytes);
  ASSERT_TRUE(view) << view.error().describe();
  Probe probe(view->graph, view->sightings, view->words, view->renamed);
  const auto surveyed = probe.survey(runner_of(learned, learned.stage, options.machine));
  ASSERT_TRUE(surveyed) << surveyed.error().describe();
  EXPECT_EQ(probe.place_counts().contradicted, 0U);

  const LloKernel other = varied.at_end();
  const auto expected = expected_values(other.module, view->graph, other.operands, options.evaluation, 1 << 30);
  ASSERT_TRUE(expected) << expected.error().describe();
  const auto read = probe.read(runner_of(other, other.stage, options.machine), /*only_matching=*/false);
  ASSERT_TRUE(read) << read.error().describe();
  int whole = 0;
  for (NodeIndex node = 0; node < view->graph.nodes.size(); ++node) {
    const Observation& observation = probe.observations()[node];
    if (view->graph.nodes[node].constant || observation.seen.empty()) continue;
    const std::string& name = view->graph.nodes[node].it->name;
    const hlo::ElementType type = view->graph.nodes[node].it->shape.element_type();
    const std::vector<uint32_t> right = lane_words((*expected)[node]);
    int64_t seen = 0;
    for (size_t i = 0; i < right.size(); ++i) {
      if (observation.seen[i] == 0) continue;
      ++seen;
      const uint32_t got = observation.got.empty() ? view->words[node][i] : observation.got[i];
      ASSERT_TRUE(same_value(type, got, right[i])) << name << " element " << i;
    }
    for (const Observation::Point& point : observation.points) EXPECT_EQ(point.by_value, 0) << name;
    EXPECT_EQ(seen, std::ssize(right)) << name;
    whole += view->graph.nodes[node].it->opcode != hlo::Opcode::Parameter ? 1 : 0;
  }
  EXPECT_GE(whole, GetParam().nodes);
}

INSTANTIATE_TEST_SUITE_P(Forms, Places, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

// The chunk that holds an element, told by its layout.
TEST_F(Places, TheLaneOfAnElementIsThatOfItsLayout) {
  if (!target::plugin_present(*target::parse_target("tpu:v5e"))) GTEST_SKIP() << "no plugin";
  const Result<KernelCase> kernel = kernel_of(kCases[0]);
  ASSERT_TRUE(kernel) << kernel.error().describe();
  const LloInspectionOptions options = *options_for(*target::parse_target("tpu:v5e"));
  const LloKernel at_end = kernel->at_end();
  const auto view = view_of(at_end, options.evaluation, options.memory_bytes);
  ASSERT_TRUE(view);
  Probe probe(view->graph, view->sightings, view->words, view->renamed);
  const RunKernel run = runner_of(at_end, at_end.stage, options.machine);
  ASSERT_TRUE(probe.survey(run) && probe.read(run, true));
  const NodeIndex sum = view->graph.nodes[view->graph.roots[0]].operands[0];
  const std::vector<int64_t>& order = view->graph.nodes[sum].it->shape.layout()->minor_to_major;
  for (const auto& [row, column] : {std::pair{0, 0}, {9, 130}, {99, 299}, {50, 127}, {47, 256}}) {
    const auto reading = probe.locate(run, sum, row * 300 + column);
    ASSERT_TRUE(reading && *reading) << row << ", " << column;
    const int in_lanes = order[0] == 1 ? column : row;
    const int in_sublanes = order[0] == 1 ? row : column;
    EXPECT_EQ((*reading)->lane, in_sublanes % 8 * 128 + in_lanes % 128) << row << ", " << column;
  }
}

}  // namespace
}  // namespace sapper::inspect
