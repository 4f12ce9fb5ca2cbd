// Small programs to compile, and what tests of real compilers share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "hlo/proto.h"
#include "hlo/text.h"
#include "target/target.h"

namespace sapper::target {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

// HLO text as a compiler takes it.
inline std::string program(std::string_view text) {
  const auto module = hlo::parse_text(text);
  EXPECT_TRUE(module) << module.error().describe();
  return module ? hlo::to_compilable_proto(*module) : std::string();
}

// One kernel of several operations on an odd number of elements: the last ones are computed apart.
inline constexpr const char* chain = R"(HloModule chain
  ENTRY main {
    x = f32[67] parameter(0)
    y = f32[67] parameter(1)
    a = f32[67] add(x, y)
    b = f32[67] multiply(a, x)
    c = f32[67] divide(b, y)
    d = f32[67] maximum(c, a)
    e = f32[67] exponential(d)
    ROOT r = f32[67] subtract(e, x)
  })";

// x + x.
inline std::string doubling(const Shape& shape) {
  return program(fmt::format(R"(HloModule doubling
    ENTRY main {{
      x = {0} parameter(0)
      ROOT r = {0} add(x, x)
    }})",
                             shape.to_text()));
}

// x - f32(f16(x)): zero where the compiler elides the rounding.
inline std::string residual() {
  return program(R"(HloModule residual
    ENTRY main {
      x = f32[1024] parameter(0)
      narrow = f16[1024] convert(x)
      wide = f32[1024] convert(narrow)
      ROOT r = f32[1024] subtract(x, wide)
    })");
}

// No compiler's shape inference agrees with it.
inline std::string ill_formed() {
  return program(R"(HloModule ill_formed
    ENTRY main {
      x = f32[2] parameter(0)
      ROOT r = f32[3] add(x, x)
    })");
}

// Takes every compiler a minute or more: a long chain whose links are used again and again later on.
inline std::string slow_to_compile() {
  constexpr int length = 4000;
  std::string text = "HloModule slow\nENTRY main {\n  x0 = f32[1000] parameter(0)\n";
  for (int i = 1; i <= length; ++i)
    text += fmt::format("  {}x{} = f32[1000] {}(x{}, x{})\n", i == length ? "ROOT " : "", i,
                        i % 2 == 0 ? "atan2" : "power", i - 1, (i - 1) / 2);
  return program(text + "}");
}

template <class T>
testing::AssertionResult succeeded(const Result<T>& result) {
  return result ? testing::AssertionSuccess() : testing::AssertionFailure() << result.error().describe();
}

inline Literal filled(const Shape& shape, double first) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (hlo::is_integer(shape.element_type()))
      literal.set_integer(i, static_cast<int64_t>(first) + i);
    else
      literal.set_real(i, first + static_cast<double>(i));
  }
  return literal;
}

}  // namespace sapper::target

// Skips the test when the target's plugin is not in the cache; tests never fetch.
#define SKIP_WITHOUT_PLUGIN(target) \
  if (!plugin_present(target)) GTEST_SKIP() << "the plugin of " << (target).to_string() << " is not in the cache"

#define ASSERT_OK(result) ASSERT_TRUE(succeeded(result))
