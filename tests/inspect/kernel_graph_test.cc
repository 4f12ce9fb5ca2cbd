// The values of a kernel's instructions, within the memory that they may take.
#include "inspect/kernel_graph.h"

#include <gtest/gtest.h>

#include "hlo/text.h"

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

constexpr const char* kChain = R"(HloModule chain
body { p = f32[1024] parameter(0)  v1 = f32[1024] add(p, p)  v2 = f32[1024] multiply(v1, v1)  v3 = f32[1024] negate(v2)
  v4 = f32[1024] abs(v3)  ROOT v5 = f32[1024] subtract(v4, p) }
ENTRY main { x = f32[1024] parameter(0)  ROOT kernel = f32[1024] fusion(x), kind=kLoop, calls=body })";

TEST(ExpectedValues, TakeNoMoreThanTheyMay) {
  const Result<hlo::Module> module = hlo::parse_text(kChain);
  ASSERT_TRUE(module) << module.error().describe();
  const Result<KernelGraph> graph = graph_of(*module);
  ASSERT_TRUE(graph);
  const std::vector<Literal> operands{Literal(Shape::array(ElementType::F32, {1024}))};
  for (const int64_t beside : {0, 9}) {
    const int64_t each = 1024 * (4 + beside);
    for (int64_t fit = 0; fit <= 5; ++fit) {
      const auto values = expected_values(*module, *graph, operands, {}, fit * each + each / 2, beside);
      ASSERT_TRUE(values) << values.error().describe();
      int64_t kept = 0;
      for (NodeIndex node = 0; node < graph->nodes.size(); ++node)
        kept += (*values)[node].shape().is_valid() && node != graph->roots[0] ? 1 : 0;
      EXPECT_EQ(kept, fit);
      EXPECT_TRUE((*values)[graph->roots[0]].shape().is_valid()) << "results are always kept";
    }
  }
}

TEST(KeptElements, GoThroughWhatLeavesThemInPlace) {
  const Result<hlo::Module> module = hlo::parse_text(R"(HloModule places
body { p = f32[8,16] parameter(0)  q = f32[16] parameter(1)  r = f32[8,16] reverse(p), dimensions={0}
  s = f32[8,16] add(p, r)  b = f32[8,16] broadcast(q), dimensions={1}  t = f32[8,16] multiply(r, b)
  u = f32[128] reshape(s)  v = f32[128] negate(u)  w = f32[128] copy(v)  x = f32[128] reshape(t)
  ROOT out = (f32[128], f32[128]) tuple(w, x) }
ENTRY main { a = f32[8,16] parameter(0)  c = f32[16] parameter(1)
  ROOT kernel = (f32[128], f32[128]) fusion(a, c), kind=kLoop, calls=body })");
  ASSERT_TRUE(module) << module.error().describe();
  const Result<KernelGraph> graph = graph_of(*module);
  ASSERT_TRUE(graph);
  const KeptElements kept = kept_elements(*graph);
  std::string from, to;
  for (NodeIndex node = 0; node < graph->nodes.size(); ++node) {
    if (kept.from_parameter[node]) from += graph->nodes[node].it->name;
    if (kept.to_result[node]) to += graph->nodes[node].it->name;
  }
  EXPECT_EQ(from, "pqsuvw") << "s is made of p in its place, besides";
  EXPECT_EQ(to, "tvwx") << "u's elements are not those of v";
}

}  // namespace
}  // namespace sapper::inspect
