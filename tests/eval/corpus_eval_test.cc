// Whole programs with known results: the corpus of single-purpose programs and the zoo of miscompiled ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/evaluator.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "inputs/npz.h"
#include "numerics/compare.h"

namespace sapper::eval {
namespace {

const std::string shared = SAPPER_SOURCE_DIR "/../shared/";

std::vector<hlo::Shape> parameter_shapes(const hlo::Module& module) {
  std::vector<hlo::Shape> shapes;
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::InstructionIndex parameter : entry.parameters())
    shapes.push_back(entry.instructions[parameter].shape);
  return shapes;
}

// How a program's results differ from what the archive says; empty when they agree.
std::string difference(const std::string& module_path, const inputs::Npz& npz, const std::string& in,
                       const std::string& out,
                       const std::function<numerics::Tolerance(const hlo::Literal&)>& tolerance) {
  const auto module = hlo::read_module(module_path);
  if (!module) return module.error().describe();
  const auto arguments = inputs::read_literals(npz, in, parameter_shapes(*module));
  if (!arguments) return arguments.error().describe();
  const auto value = evaluate(*module, *arguments);
  if (!value) return value.error().describe();
  const auto expected = inputs::read_literals(npz, out, {value->shape()});
  if (!expected) return expected.error().describe();
  const std::vector<hlo::Literal> got_leaves = hlo::leaves(*value);
  const std::vector<hlo::Literal> expected_leaves = hlo::leaves((*expected)[0]);
  for (size_t k = 0; k < got_leaves.size(); ++k) {
    const numerics::Difference found =
        numerics::compare(got_leaves[k], expected_leaves[k], tolerance(expected_leaves[k]));
    if (found.mismatches > 0)
      return fmt::format("{}{}: {} of {} differ, worst: got {}, expected {}", out, k, found.mismatches, found.elements,
                         found.got, found.expected);
  }
  return "";
}

double largest_magnitude(const hlo::Literal& value) {
  double largest = 0;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const double magnitude = std::abs(value.complex_at(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

// Expected values that are not what HLO says, or that NumPy could not store; each with its reason.
const std::set<std::string> known_wrong = {
    // The archive holds u4 as signed bytes, which is not what the reader of archives takes.
    "i4in_uint4",
    "i4out_uint4",
    "i4sl_uint4",
    "i4tr_uint4",
    // The expected scalar is stored as an array of one element.
    "fz_0077",
};

TEST(Corpus, SinglePurposePrograms) {
  const std::string folder = shared + "corpus/ops2/";
  std::ifstream file(folder + "cases.json");
  if (!file) GTEST_SKIP() << "no corpus";
  const nlohmann::json cases = nlohmann::json::parse(file);
  for (const auto& [name, info] : cases.items()) {
    if (known_wrong.contains(name)) continue;
    const auto npz = inputs::read_npz(folder + name + ".npz");
    ASSERT_TRUE(npz) << npz.error().describe();
    const bool stated = !info["tol"].is_null();
    const double relative = stated ? info["tol"].get<double>() : 1e-5;
    for (int set = 0; set < info["sets"].get<int>(); ++set) {
      const auto tolerance = [&](const hlo::Literal& expected) {
        const hlo::ElementType type = expected.shape().element_type();
        if (!hlo::is_float(type) && !hlo::is_complex(type)) return numerics::Tolerance{};
        // Elements that are small by cancellation err as the large ones do.
        return numerics::Tolerance{relative * largest_magnitude(expected), relative, 0, 0};
      };
      EXPECT_EQ(difference(folder + name + ".pb", *npz, fmt::format("set{}_in", set), fmt::format("set{}_out", set),
                           tolerance),
                "")
          << name << ", set " << set;
    }
  }
}

TEST(Corpus, Zoo) {
  const std::string folder = shared + "cases/zoo/";
  std::ifstream file(folder + "zoo.json");
  if (!file) GTEST_SKIP() << "no cases";
  for (const nlohmann::json& info : nlohmann::json::parse(file)) {
    const std::string name = info["name"];
    const auto npz = inputs::read_npz(folder + name + ".npz");
    ASSERT_TRUE(npz) << npz.error().describe();
    numerics::Tolerance tolerance;
    tolerance.relative = info["tol"];
    EXPECT_EQ(difference(folder + name + ".hlo", *npz, "in", "out", [&](const hlo::Literal&) { return tolerance; }), "")
        << name;
  }
}

}  // namespace
}  // namespace sapper::eval
