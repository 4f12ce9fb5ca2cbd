// Tests of the evaluator as data: the body of an entry computation in HLO text, and the value that its root must have.
#pragma once

#include <gtest/gtest.h>

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

inline void expect_same(const hlo::Literal& got, const hlo::Literal& expected) {
  EXPECT_TRUE(got == expected) << "got      " << hlo::to_text(got) << "\nexpected " << hlo::to_text(expected);
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
