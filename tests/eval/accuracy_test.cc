// Transcendental functions against MPFR: f32 within one unit in the last place of the exact value (in fact nearly
// always correctly rounded), f64 within two; narrow types rounded once.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "eval/lane_function.h"
#include "hlo/element_type.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Opcode;

constexpr mpfr_prec_t precision = 160;

class Real {
 public:
  Real() { mpfr_init2(value, precision); }
  explicit Real(double x) : Real() { mpfr_set_d(value, x, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value); }
  mpfr_t value;
};

struct Function {
  const char* name;
  Opcode opcode;
  void (*exact)(mpfr_t result, const mpfr_t x);
};

template <int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t)>
void call(mpfr_t result, const mpfr_t x) {
  function(result, x, MPFR_RNDN);
}

void logistic(mpfr_t result, const mpfr_t x) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

// Not mpfr_rec_sqrt, which gives +inf for -0.
void rsqrt(mpfr_t result, const mpfr_t x) {
  mpfr_sqrt(result, x, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

const Function functions[] = {
    {"acos", Opcode::Acos, call<mpfr_acos>},
    {"acosh", Opcode::Acosh, call<mpfr_acosh>},
    {"asin", Opcode::Asin, call<mpfr_asin>},
    {"asinh", Opcode::Asinh, call<mpfr_asinh>},
    {"atanh", Opcode::Atanh, call<mpfr_atanh>},
    {"cbrt", Opcode::Cbrt, call<mpfr_cbrt>},
    {"cosh", Opcode::Cosh, call<mpfr_cosh>},
    {"cosine", Opcode::Cosine, call<mpfr_cos>},
    {"erf", Opcode::Erf, call<mpfr_erf>},
    {"exponential", Opcode::Exponential, call<mpfr_exp>},
    {"exponential_minus_one", Opcode::ExponentialMinusOne, call<mpfr_expm1>},
    {"log", Opcode::Log, call<mpfr_log>},
    {"log_plus_one", Opcode::LogPlusOne, call<mpfr_log1p>},
    {"logistic", Opcode::Logistic, logistic},
    {"rsqrt", Opcode::Rsqrt, rsqrt},
    {"sine", Opcode::Sine, call<mpfr_sin>},
    {"sinh", Opcode::Sinh, call<mpfr_sinh>},
    {"sqrt", Opcode::Sqrt, call<mpfr_sqrt>},
    {"tan", Opcode::Tan, call<mpfr_tan>},
    {"tanh", Opcode::Tanh, call<mpfr_tanh>},
};

LaneOperation operation_of(Opcode opcode, ElementType type) {
  hlo::Instruction instruction;
  instruction.opcode = opcode;
  instruction.shape = hlo::Shape::scalar(type);
  const auto operation = lane_operation(instruction, type);
  EXPECT_TRUE(operation);
  return *operation;
}

// Bit patterns over the whole type, and the values where functions turn.
std::vector<float> float_samples() {
  std::vector<float> samples;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 2'097'143)
    samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> near_one(-2, 2);
  std::uniform_real_distribution<float> moderate(-110, 110);
  for (int i = 0; i < 1000; ++i) samples.push_back(near_one(random));
  for (int i = 0; i < 1000; ++i) samples.push_back(moderate(random));
  for (const float special : {0.0F,
                              1.0F,
                              0.5F,
                              2.0F,
                              88.72284F,
                              88.72283F,
                              103.97207F,
                              103.97209F,
                              1e-45F,
                              1.1754944e-38F,
                              3.4028235e38F,
                              1.5707964F,
                              3.1415927F,
                              6.2831855F,
                              0.70710677F,
                              1.4142135F,
                              0.9999999F,
                              1.0000001F,
                              std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()}) {
    samples.push_back(special);
    samples.push_back(-special);
  }
  return samples;
}

// Units in the last place of `got` from the exact value.
template <class T>
double ulps(T got, const mpfr_t exact) {
  const double nearest =
      std::is_same_v<T, float> ? static_cast<double>(mpfr_get_flt(exact, MPFR_RNDN)) : mpfr_get_d(exact, MPFR_RNDN);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) == std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(got)) return nearest == static_cast<double>(got) ? 0 : INFINITY;
  if (nearest == 0 && got == 0) return std::signbit(nearest) == std::signbit(got) ? 0 : INFINITY;
  const int digits = std::numeric_limits<T>::digits;
  const int lowest = std::numeric_limits<T>::min_exponent - digits;
  const int exponent = nearest == 0 ? lowest : std::max(lowest, std::ilogb(nearest) + 1 - digits);
  Real difference(static_cast<double>(got));
  mpfr_sub(difference.value, difference.value, exact, MPFR_RNDN);
  return std::fabs(std::ldexp(mpfr_get_d(difference.value, MPFR_RNDN), -exponent));
}

class Accuracy : public testing::TestWithParam<Function> {};

TEST_P(Accuracy, F32IsNearlyAlwaysCorrectlyRounded) {
  const Function& function = GetParam();
  const std::vector<float> samples = float_samples();
  std::vector<float> results(samples.size());
  operation_of(function.opcode, ElementType::F32).apply(samples.size(), results.data(), samples.data());
  for (size_t i = 0; i < samples.size(); ++i) {
    Real exact(samples[i]);
    function.exact(exact.value, exact.value);
    ASSERT_LE(ulps(results[i], exact.value), 0.5001) << function.name << "(" << samples[i] << ") = " << results[i];
  }
}

TEST_P(Accuracy, F64) {
  const Function& function = GetParam();
  std::vector<double> samples;
  samples.reserve(1000);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> moderate(-20, 20);
  for (int i = 0; i < 500; ++i) samples.push_back(moderate(random));
  for (int i = 0; i < 500; ++i) samples.push_back(std::ldexp(moderate(random), static_cast<int>(random() % 600) - 300));
  for (const double special : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL}) samples.push_back(special);
  std::vector<double> results(samples.size());
  operation_of(function.opcode, ElementType::F64).apply(samples.size(), results.data(), samples.data());
  for (size_t i = 0; i < samples.size(); ++i) {
    Real exact(samples[i]);
    function.exact(exact.value, exact.value);
    ASSERT_LE(ulps(results[i], exact.value), 2.5) << function.name << "(" << samples[i] << ") = " << results[i];
  }
}

// All values of the type; the reference is MPFR's rounding to the type's precision of the exact value.
TEST_P(Accuracy, Bf16IsRoundedOnce) {
  const Function& function = GetParam();
  const auto format = *hlo::float_format(ElementType::BF16);
  std::vector<float> samples;
  for (uint32_t bits = 0; bits < 0x10000; bits += 7)
    samples.push_back(static_cast<float>(hlo::decode_float(format, bits)));
  std::vector<float> results(samples.size());
  operation_of(function.opcode, ElementType::BF16).apply(samples.size(), results.data(), samples.data());
  for (size_t i = 0; i < samples.size(); ++i) {
    Real exact(samples[i]);
    function.exact(exact.value, exact.value);
    // A double rounds the exact value; that moves it across a tie of bf16 only where MPFR's 53 bits end in one.
    const double rounded = hlo::decode_float(format, hlo::encode_float(format, mpfr_get_d(exact.value, MPFR_RNDN)));
    const bool same = (std::isnan(rounded) && std::isnan(results[i])) || rounded == static_cast<double>(results[i]);
    ASSERT_TRUE(same) << function.name << "(" << samples[i] << ") = " << results[i] << ", not " << rounded;
  }
}

INSTANTIATE_TEST_SUITE_P(Evaluator, Accuracy, testing::ValuesIn(functions),
                         [](const testing::TestParamInfo<Function>& test) { return std::string(test.param.name); });

struct Pairs {
  std::vector<float> a;
  std::vector<float> b;
};

Pairs pair_samples() {
  Pairs pairs;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> moderate(-40, 40);
  const std::vector<float> specials = {0.0F,     -0.0F,     1,   -1,     0.5F,     2,        -3,
                                       INFINITY, -INFINITY, NAN, 1e-45F, 16777215, -16777216};
  for (const float a : specials)
    for (const float b : specials) pairs.a.push_back(a), pairs.b.push_back(b);
  for (int i = 0; i < 5000; ++i) pairs.a.push_back(moderate(random)), pairs.b.push_back(moderate(random));
  for (int i = 0; i < 5000; ++i)
    pairs.a.push_back(std::bit_cast<float>(static_cast<uint32_t>(random()))), pairs.b.push_back(moderate(random));
  return pairs;
}

void expect_pairs(Opcode opcode, int (*exact_function)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t)) {
  const Pairs pairs = pair_samples();
  std::vector<float> results(pairs.a.size());
  operation_of(opcode, ElementType::F32).apply(results.size(), results.data(), pairs.a.data(), pairs.b.data());
  for (size_t i = 0; i < results.size(); ++i) {
    const Real a(pairs.a[i]);
    const Real b(pairs.b[i]);
    Real exact;
    exact_function(exact.value, a.value, b.value, MPFR_RNDN);
    ASSERT_LE(ulps(results[i], exact.value), 0.5001) << pairs.a[i] << ", " << pairs.b[i] << ": " << results[i];
  }
}

TEST(Accuracy, Power) { expect_pairs(Opcode::Power, mpfr_pow); }
TEST(Accuracy, Atan2) { expect_pairs(Opcode::Atan2, mpfr_atan2); }

}  // namespace
}  // namespace sapper::eval
