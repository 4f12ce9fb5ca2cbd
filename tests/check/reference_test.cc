// The evaluator against values that others computed: ../shared/cases/zoo (what each known miscompiled program means)
// and
// ../shared/corpus/ops2 (519 single-purpose programs with the results of JAX or NumPy).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "check/inputs_for.h"
#include "eval/evaluator.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "inputs/npz.h"
#include "numerics/compare.h"

namespace sapper::check {
namespace {

using hlo::Literal;
using nlohmann::json;

const std::string shared = std::string(SAPPER_SOURCE_DIR) + "/../shared";

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

// The result leaves of `module` on each input set of `npz_path` against the arrays `out0`.. or `setI_out0`.. there; an
// empty string when all agree, else what does not.
std::string disagreement(const std::string& module_path, const std::string& npz_path,
                         const std::function<double(hlo::ElementType)>& tolerance_of) {
  const auto module = hlo::read_module(module_path);
  if (!module) return module.error().describe();
  if (const Status verified = hlo::verify(*module); !verified) return verified.error().describe();
  const auto sets = inputs_for(*module, npz_path, std::nullopt, {});
  if (!sets) return sets.error().describe();
  const auto npz = inputs::read_npz(npz_path);
  for (const InputSet& set : *sets) {
    const auto value = eval::evaluate(*module, set.arguments);
    if (!value) return value.error().describe();
    const auto expected = inputs::read_literals(*npz, set.label.empty() ? "out" : set.label + "_out", {value->shape()});
    if (!expected) return expected.error().describe();
    const std::vector<Literal> got = hlo::leaves(*value);
    const std::vector<Literal> wanted = hlo::leaves((*expected)[0]);
    for (size_t leaf = 0; leaf < got.size(); ++leaf) {
      const double tolerance = tolerance_of(got[leaf].shape().element_type());
      const numerics::Difference difference =
          numerics::compare(got[leaf], wanted[leaf], {.absolute = tolerance, .relative = tolerance});
      if (difference.mismatches == 0) continue;
      return fmt::format("{} out{}: {} of {} wrong, at [{}] got {} expected {}", set.label, leaf, difference.mismatches,
                         difference.elements, fmt::join(difference.worst_index, ","), difference.got,
                         difference.expected);
    }
  }
  return "";
}

TEST(Reference, EveryKnownCaseMeansWhatItsAuthorsSay) {
  const std::string zoo = shared + "/cases/zoo/";
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  for (const json& one : read_json(zoo + "zoo.json")) {
    const std::string name = one["name"];
    const double tolerance = one["tol"];
    EXPECT_EQ(disagreement(zoo + name + ".hlo", zoo + name + ".npz", [&](hlo::ElementType) { return tolerance; }), "")
        << name;
  }
}

// The corpus's own: exact integers, 1e-5 for f32 and wider, 1e-2 for narrower floats.
double usual_tolerance(hlo::ElementType type) {
  if (!hlo::is_float(type) && !hlo::is_complex(type)) return 0;
  return hlo::bit_width(type) >= 32 ? 1e-5 : 1e-2;
}

TEST(Reference, Ops2ProgramsGiveTheirStatedResults) {
  const std::string ops2 = shared + "/corpus/ops2/";
  if (!std::filesystem::exists(ops2)) GTEST_SKIP() << "no corpus beside the checkout";
  const json cases = read_json(ops2 + "cases.json");
  EXPECT_EQ(cases.size(), 519U);
  for (const auto& [name, one] : cases.items()) {
    const json& stated = one["tol"];
    const auto tolerance_of = [&](hlo::ElementType type) {
      return stated.is_null() ? usual_tolerance(type) : stated.get<double>();
    };
    const std::string problem = disagreement(ops2 + name + ".pb", ops2 + name + ".npz", tolerance_of);
    EXPECT_EQ(problem, "") << name;
  }
}

}  // namespace
}  // namespace sapper::check
