// f64 as pairs of f32 (XLA:TPU): random programs by such arithmetic, written here as the compiler's rewriter does it,
// stay within the bounds under that contract; arithmetic that forgets a term does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "bounds/bounded.h"
#include "hlo/text.h"

namespace sapper::bounds {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

struct Pair {
  float leading = 0, rest = 0;
};

enum class Defect { None, FlushesSubnormals, ForgetsACrossTerm, DividesInF32, AddsLeadingHalves };

// One implementation of pairs.
class Pairs {
 public:
  explicit Pairs(Defect defect) : defect_(defect) {}

  Pair split(double x) const {
    const float leading = f(x);
    return {leading, std::isfinite(leading) ? f(x - leading) : 0};
  }
  static double combined(Pair a) { return static_cast<double>(a.leading) + a.rest; }

  Pair add(Pair a, Pair b) const {
    if (defect_ == Defect::AddsLeadingHalves) return {f(a.leading + b.leading), 0};
    const Pair high = two_sum(a.leading, b.leading), low = two_sum(a.rest, b.rest);
    const Pair sum = normalized(high.leading, f(high.rest + low.leading));
    return normalized(sum.leading, f(sum.rest + low.rest));
  }
  Pair multiply(Pair a, Pair b) const {
    const float product = f(a.leading * b.leading);
    float rest = error_of_product(a.leading, b.leading, product);
    rest = f(rest + f(a.leading * b.rest));
    if (defect_ != Defect::ForgetsACrossTerm) rest = f(rest + f(a.rest * b.leading));
    return normalized(product, rest);
  }
  Pair divide(Pair a, Pair b) const {
    const float quotient = f(a.leading / b.leading);
    if (defect_ == Defect::DividesInF32) return {quotient, 0};
    const float product = f(quotient * b.leading);
    float rest = f(f(a.leading - product) - error_of_product(quotient, b.leading, product));
    rest = f(f(rest + a.rest) - f(quotient * b.rest));
    return normalized(quotient, f(rest / b.leading));
  }

 private:
  float f(double x) const {
    const auto rounded = static_cast<float>(x);
    return defect_ == Defect::FlushesSubnormals && std::fabs(rounded) < 0x1p-126F ? 0 : rounded;
  }
  Pair normalized(float a, float b) const {
    const float sum = f(a + b);
    return {sum, f(b - f(sum - a))};
  }
  Pair two_sum(float a, float b) const {
    const float sum = f(a + b), of_b = f(sum - a);
    return {sum, f(f(a - f(sum - of_b)) + f(b - of_b))};
  }
  // To 12 bits.
  static float high_half(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>((bits + 2047 + ((bits >> 12) & 1)) & 4294963200U);
  }
  float error_of_product(float a, float b, float product) const {
    const float a1 = high_half(a), b1 = high_half(b), a2 = f(a - a1), b2 = f(b - b1);
    return f(f(f(f(a1 * b1) - product) + f(f(a1 * b2) + f(a2 * b1))) + f(a2 * b2));
  }

  Defect defect_;
};

struct Program {
  std::string text;
  struct Step {
    char operation;
    size_t a, b;
  };
  std::vector<Step> steps;
};

Program random_program(std::mt19937& random) {
  Program program{"HloModule m\nENTRY e {\n v0 = f64[64] parameter(0)\n v1 = f64[64] parameter(1)\n", {}};
  const size_t count = 1 + random() % 5;
  for (size_t i = 0; i < count; ++i) {
    const Program::Step step{"+-*/"[random() % 4], random() % (i + 2), random() % (i + 2)};
    const char* const name = step.operation == '+'   ? "add"
                             : step.operation == '-' ? "subtract"
                             : step.operation == '*' ? "multiply"
                                                     : "divide";
    program.text +=
        fmt::format(" {}v{} = f64[64] {}(v{}, v{})\n", i + 1 == count ? "ROOT " : "", i + 2, name, step.a, step.b);
    program.steps.push_back(step);
  }
  program.text += "}\n";
  return program;
}

double result(const Program& program, const Pairs& pairs, double x, double y) {
  std::vector<Pair> values = {pairs.split(x), pairs.split(y)};
  for (const auto& [operation, a, b] : program.steps) {
    const Pair left = values[a], right = values[b];
    switch (operation) {
      case '+': values.push_back(pairs.add(left, right)); break;
      case '-': values.push_back(pairs.add(left, {-right.leading, -right.rest})); break;
      case '*': values.push_back(pairs.multiply(left, right)); break;
      default: values.push_back(pairs.divide(left, right)); break;
    }
  }
  return Pairs::combined(values.back());
}

struct Counts {
  int64_t elements = 0, decided = 0, outside = 0;
};

// `exponents`: of the arguments, at most.
Counts counts_of(Defect defect, int exponents, int programs) {
  std::mt19937 random(7);
  Counts counts;
  for (int k = 0; k < programs; ++k) {
    const Program program = random_program(random);
    const auto module = hlo::parse_text(program.text);
    EXPECT_TRUE(module);
    std::vector<Literal> arguments(2, Literal(Shape::array(ElementType::F64, {64})));
    for (Literal& argument : arguments)
      for (int64_t i = 0; i < 64; ++i) {
        const double mantissa = 1 + static_cast<double>(random()) * 0x1p-32 + static_cast<double>(random()) * 0x1p-64;
        const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * exponents)) - exponents;
        argument.set_real(i, std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, exponent));
      }
    const auto bounded = with_bounds(*module, {.float64_pairs = true});
    EXPECT_TRUE(bounded);
    const auto value = evaluate(*bounded, arguments);
    EXPECT_TRUE(value) << value.error().describe();
    const Pairs pairs(defect);
    for (int64_t i = 0; i < 64; ++i) {
      const double bound = value->deviations[0].real_at(i), expected = value->value.real_at(i);
      const double got = result(program, pairs, arguments[0].real_at(i), arguments[1].real_at(i));
      ++counts.elements;
      if (!(bound <= std::fabs(expected)) || !std::isfinite(bound)) continue;
      ++counts.decided;
      if (std::fabs(got - expected) <= bound) continue;
      ++counts.outside;
      if (defect <= Defect::FlushesSubnormals) {
        ADD_FAILURE() << program.text << arguments[0].real_at(i) << ", " << arguments[1].real_at(i) << ": " << got
                      << " for " << expected << ", off by " << std::fabs(got - expected) / bound << " bounds";
        return counts;
      }
    }
  }
  return counts;
}

TEST(Pairs, StayWithinTheirBounds) {
  for (const Defect defect : {Defect::None, Defect::FlushesSubnormals})
    for (const int exponents : {2, 30, 120}) {
      const Counts counts = counts_of(defect, exponents, 300);
      EXPECT_EQ(counts.outside, 0);
      if (exponents < 100) {
        EXPECT_GT(counts.decided, counts.elements / 2);
      }
    }
}

TEST(Pairs, WrongOnesDoNot) {
  for (const Defect defect : {Defect::ForgetsACrossTerm, Defect::DividesInF32, Defect::AddsLeadingHalves}) {
    const Counts counts = counts_of(defect, 2, 100);
    EXPECT_GT(counts.outside, counts.decided / 20) << static_cast<int>(defect);
  }
}

// Numbers that come in are what a pair can hold, nothing else.
TEST(Pairs, HoldTheirArgumentsExactly) {
  const auto module =
      hlo::parse_text("HloModule m\nENTRY e {\n x = f64[2] parameter(0)\n ROOT r = f64[2] negate(x)\n}\n");
  const auto bounded = with_bounds(*module, {.float64_pairs = true});
  ASSERT_TRUE(bounded);
  Literal argument(Shape::array(ElementType::F64, {2}));
  argument.set_real(0, 1 + 0x1p-52);
  argument.set_real(1, 1e39);
  const auto value = evaluate(*bounded, std::vector<Literal>{argument});
  ASSERT_TRUE(value);
  EXPECT_EQ(value->deviations[0].real_at(0), 0);
  EXPECT_EQ(value->value.real_at(0), -1 - 0x1p-52) << "the rest has 24 bits of its own";
  EXPECT_TRUE(std::isinf(value->value.real_at(1)));
}

}  // namespace
}  // namespace sapper::bounds
