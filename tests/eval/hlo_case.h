// Tests of the evaluator as data: the body of an entry computation in HLO text, and the value that its root must have.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "eval/evaluator.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::eval {

struct HloCase {
  std::string name;
  std::string body;      // instructions of the entry computation, one a line; constants are the inputs
  std::string expected;  // a constant: "f32[2] {1, nan}"
  std::string before;    // other computations
};

inline void PrintTo(const HloCase& test, std::ostream* out) { *out << test.name; }

inline std::string name_of(const testing::TestParamInfo<HloCase>& info) { return info.param.name; }

inline hlo::Module parse_verified(const std::string& text) {
  Result<hlo::Module> module = hlo::parse_text(text);
  if (!module) {
    ADD_FAILURE() << module.error().describe() << "\n" << text;
    return {};
  }
  const Status status = hlo::verify(*module);
  if (!status) ADD_FAILURE() << status.error().describe() << "\n" << text;
  return std::move(*module);
}

inline hlo::Module entry_module(const std::string& body, const std::string& before = "") {
  return parse_verified("HloModule test\n" + before + "\nENTRY main {\n" + body + "\n}\n");
}

// The value of the entry computation; a failure of the test when there is none.
inline hlo::Literal value_of(const std::string& body, const std::vector<hlo::Literal>& arguments = {},
                             const std::string& before = "", const Options& options = {}) {
  const hlo::Module module = entry_module(body, before);
  if (module.computations.empty()) return {};
  Result<hlo::Literal> value = evaluate(module, arguments, options);
  if (!value) {
    ADD_FAILURE() << value.error().describe() << "\n" << body;
    return {};
  }
  return std::move(*value);
}

// "f32[2] {1, nan}" as a literal.
inline hlo::Literal constant(const std::string& text) {
  const size_t space = text.find("] ") + 1;
  return value_of("ROOT c = " + text.substr(0, space) + " constant(" + text.substr(space + 1) + ")");
}

// Equal bits, or NaN for NaN.
inline bool same_element(const hlo::Literal& a, const hlo::Literal& b, int64_t i) {
  const auto same = [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  };
  const hlo::ElementType type = a.shape().element_type();
  if (hlo::is_float(type)) return same(a.real_at(i), b.real_at(i));
  if (!hlo::is_complex(type)) return a.integer_at(i) == b.integer_at(i);
  return same(a.complex_at(i).real(), b.complex_at(i).real()) && same(a.complex_at(i).imag(), b.complex_at(i).imag());
}

inline bool same_value(const hlo::Literal& got, const hlo::Literal& expected) {
  if (!got.shape().same_ignoring_layout(expected.shape())) return false;
  for (size_t k = 0; k < got.elements().size(); ++k)
    if (!same_value(got.elements()[k], expected.elements()[k])) return false;
  for (int64_t i = 0; i < got.element_count(); ++i)
    if (!same_element(got, expected, i)) return false;
  return true;
}

inline void expect_same(const hlo::Literal& got, const hlo::Literal& expected) {
  EXPECT_TRUE(same_value(got, expected)) << "got      " << hlo::to_text(got) << "\nexpected " << hlo::to_text(expected);
}

// Runs fused, and traced (each instruction by itself).
inline void check(const HloCase& test) {
  const hlo::Literal expected = constant(test.expected);
  expect_same(value_of(test.body, {}, test.before), expected);
  Options traced;
  traced.trace = [](const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&) {};
  expect_same(value_of(test.body, {}, test.before, traced), expected);
}

}  // namespace sapper::eval
