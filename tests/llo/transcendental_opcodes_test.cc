// The transcendental unit: correctly rounded results (the double functions of the C library are the judge), and
// results moved within their error bound.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/llo/random_vreg.h"
#include "tests/llo/single_instruction.h"

namespace sapper::llo::testing {
namespace {

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

Vreg spread(float low, float high) {
  Vreg result;
  for (int i = 0; i < kVregWords; ++i)
    result.word[i] = std::bit_cast<uint32_t>(low + (high - low) * static_cast<float>(i) / (kVregWords - 1));
  return result;
}

struct Function {
  const char* opcode;
  double (*exact)(double);
  float low, high;
};
const Function kFunctions[] = {
    {"vexp2.f32.pop", [](double x) { return std::exp2(x); }, -120, 120},
    {"vlog2.f32.pop", [](double x) { return std::log2(x); }, 1e-6F, 50},
    {"vrcp.f32.pop", [](double x) { return 1 / x; }, -9, 8},
    {"vrsqrt.f32.pop", [](double x) { return 1 / std::sqrt(x); }, 1e-3F, 100},
    {"vtanh.f32.pop", [](double x) { return std::tanh(x); }, -10, 10},
    {"verf.f32.pop", [](double x) { return std::erf(x); }, -5, 5},
    {"vsinq.f32.pop", [](double x) { return std::sin(x); }, -1, 1},
    {"vcosq.f32.pop", [](double x) { return std::cos(x); }, -1, 1},
};

TEST(TranscendentalOpcodes, AreCorrectlyRounded) {
  for (const Function& function : kFunctions) {
    const Vreg operand = spread(function.low, function.high);
    const Vreg result = result_of(function.opcode, {operand});
    int different = 0;
    for (int i = 0; i < kVregWords; ++i) {
      const double exact = function.exact(as_float(operand.word[i]));
      const float got = as_float(result.word[i]);
      if (got != static_cast<float>(exact)) ++different;
      EXPECT_NEAR(got, exact, std::abs(exact) * 0x1.001p-24) << function.opcode << " of " << as_float(operand.word[i]);
    }
    EXPECT_LE(different, 1) << function.opcode;
  }
}

TEST(TranscendentalOpcodes, AtTheEdges) {
  const auto of = [](std::string_view opcode, float x) {
    return as_float(result_of(opcode, {splat(std::bit_cast<uint32_t>(x))}).word[0]);
  };
  const float infinity = INFINITY;
  EXPECT_EQ(of("vexp2.f32.pop", 128), infinity);
  EXPECT_EQ(of("vexp2.f32.pop", -infinity), 0);
  EXPECT_EQ(of("vexp2.f32.pop", 3), 8);
  EXPECT_EQ(of("vlog2.f32.pop", 0), -infinity);
  EXPECT_EQ(of("vlog2.f32.pop", 1024), 10);
  EXPECT_TRUE(std::isnan(of("vlog2.f32.pop", -1)));
  EXPECT_EQ(of("vrcp.f32.pop", 0), infinity);
  EXPECT_EQ(of("vrcp.pop", -infinity), 0);
  EXPECT_EQ(of("vrsqrt.f32.pop", 0), infinity);
  EXPECT_EQ(of("vtanh.f32.pop", infinity), 1);
  EXPECT_TRUE(std::isnan(of("vexp2.f32.pop", std::nanf(""))));
  EXPECT_EQ(as_float(result_of("vpow.f32", {splat(0x40000000), splat(0x41200000)}).word[0]), 1024);
  EXPECT_EQ(of("vpow2.f32", 4), 16);
}

TEST(TranscendentalOpcodes, PackedBfloat16) {
  const Vreg result = result_of("vexp2.bf16.pop", {splat(0x40003f80)});  // 2, 1
  EXPECT_EQ(result, splat(0x40804000));                                  // 4, 2
}

TEST(TranscendentalOpcodes, PushesAndPopsAreTheSame) {
  const Vreg operand = spread(0.5F, 3);
  for (const Function& function : kFunctions) {
    const std::string popping = function.opcode;
    const std::string pushing = popping.substr(0, popping.rfind('.'));
    EXPECT_EQ(result_of(pushing, {operand}), result_of(popping, {operand}));
  }
}

TEST(TranscendentalOpcodes, MoveWithinTheirErrorFromASeed) {
  const Vreg operand = spread(1.5F, 3);
  const Vreg exact = result_of("vexp2.f32.pop", {operand});
  const auto moved = [&](uint64_t seed) {
    Surroundings with;
    with.options.perturb_transcendentals = seed;
    return result_of("vexp2.f32.pop", {operand}, with);
  };
  int changed = 0;
  const Vreg once = moved(1);
  for (int i = 0; i < kVregWords; ++i) {
    const auto distance = static_cast<int64_t>(once.word[i]) - static_cast<int64_t>(exact.word[i]);
    EXPECT_LE(std::abs(distance), 4);
    if (distance != 0) ++changed;
  }
  EXPECT_GT(changed, kVregWords / 2);
  EXPECT_EQ(moved(1), once);
  EXPECT_NE(moved(2), once);
}

}  // namespace
}  // namespace sapper::llo::testing
