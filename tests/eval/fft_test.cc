#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "eval/fourier.h"
#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using testing::random_literal;
using testing::shape;

using Wide = std::complex<long double>;

Wide root(int64_t k, int64_t n) {
  return std::polar(
      1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n));
}

std::vector<Wide> by_definition(const std::vector<Wide>& line) {
  const auto n = static_cast<int64_t>(line.size());
  std::vector<Wide> result(line.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j) result[static_cast<size_t>(k)] += line[static_cast<size_t>(j)] * root(j * k, n);
  return result;
}

Literal transform(proto::FftType type, const std::vector<int64_t>& lengths, const Literal& operand,
                  const hlo::Shape& result) {
  hlo::Instruction made = testing::instruction(hlo::Opcode::Fft, result);
  made.edit_attributes().set_fft_type(type);
  for (const int64_t length : lengths) made.edit_attributes().add_fft_length(length);
  return testing::run(fft, made, {operand}).value();
}

double largest_difference(const Literal& a, const Literal& b) {
  double largest = 0;
  for (int64_t i = 0; i < a.element_count(); ++i)
    largest = std::max(largest, std::abs(a.complex_at(i) - b.complex_at(i)));
  return largest;
}

TEST(FourierTransform, EqualsTheDefinitionForAnyLength) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<int64_t> lengths = {97, 101, 120, 127, 128, 250, 343, 509, 512, 1000, 1009};
  for (int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  for (const int64_t n : lengths) {
    std::vector<Wide> line(static_cast<size_t>(n));
    long double norm = 0;
    for (Wide& x : line) norm += std::norm(x = {normal(random), normal(random)});
    const std::vector<Wide> expected = by_definition(line);
    std::vector<std::complex<double>> fast(line.begin(), line.end());
    std::vector<std::complex<double>> scratch;
    const FourierTransform<double> plan(n);
    plan.apply(fast, false, scratch);
    for (size_t k = 0; k < line.size(); ++k)
      EXPECT_LT(std::abs(Wide(fast[k]) - expected[k]), 1e-15L * std::sqrt(norm * static_cast<long double>(n))) << n;
    plan.apply(fast, true, scratch);
    for (size_t k = 0; k < line.size(); ++k) EXPECT_LT(std::abs(Wide(fast[k]) - line[k]), 1e-14L) << n;
  }
}

TEST(FourierTransform, LongDoubleIsBetterThanDouble) {
  const FourierTransform<long double> plan(360);
  std::vector<Wide> line(360);
  for (size_t i = 0; i < line.size(); ++i)
    line[i] = {static_cast<long double>(i % 17), static_cast<long double>(i % 5)};
  const std::vector<Wide> expected = by_definition(line);
  std::vector<Wide> scratch;
  plan.apply(line, false, scratch);
  for (size_t k = 0; k < line.size(); ++k) EXPECT_LT(std::abs(line[k] - expected[k]), 1e-14L);
}

TEST(Fft, TransformsEachOfTheLastDimensions) {
  std::mt19937 random(4);
  const hlo::Shape box = shape(ElementType::C64, {2, 3, 4, 5});
  const Literal x = random_literal(ElementType::C64, {2, 3, 4, 5}, random);
  Literal expected(box);
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t at = 0; at < 60; ++at) {
      Wide sum = 0;
      for (int64_t from = 0; from < 60; ++from)
        sum += Wide(x.complex_at(b * 60 + from)) * root((from / 20) * (at / 20), 3) *
               root((from / 5 % 4) * (at / 5 % 4), 4) * root((from % 5) * (at % 5), 5);
      expected.set_complex(b * 60 + at, std::complex<double>(sum));
    }
  }
  const Literal got = transform(proto::FFT, {3, 4, 5}, x, box);
  EXPECT_LT(largest_difference(got, expected), 1e-4);
  EXPECT_LT(largest_difference(transform(proto::IFFT, {3, 4, 5}, got, box), x), 1e-5);
}

TEST(Fft, RealTransformsAreHalfOfTheComplexOnes) {
  std::mt19937 random(5);
  for (const int64_t n : {1, 2, 7, 8}) {
    const Literal x = random_literal(ElementType::F32, {3, 6, n}, random);
    Literal complex(shape(ElementType::C64, {3, 6, n}));
    for (int64_t i = 0; i < x.element_count(); ++i) complex.set_complex(i, x.real_at(i));
    const Literal full = transform(proto::FFT, {6, n}, complex, complex.shape());
    const int64_t half = n / 2 + 1;
    const Literal got = transform(proto::RFFT, {6, n}, x, shape(ElementType::C64, {3, 6, half}));
    for (int64_t row = 0; row < 18; ++row)
      for (int64_t k = 0; k < half; ++k)
        EXPECT_LT(std::abs(got.complex_at(row * half + k) - full.complex_at(row * n + k)), 1e-5);
    EXPECT_LT(largest_difference(transform(proto::IRFFT, {6, n}, got, x.shape()), x), 1e-5);
  }
}

TEST(Fft, InverseRealTransformIgnoresWhatARealSignalCannotHave) {
  // The imaginary parts of the first and (for even lengths) the middle element.
  Literal spectrum(shape(ElementType::C64, {3}));
  spectrum.set_complex(0, {4, 9});
  spectrum.set_complex(1, {0, 0});
  spectrum.set_complex(2, {8, -5});
  const Literal got = transform(proto::IRFFT, {4}, spectrum, shape(ElementType::F32, {4}));
  EXPECT_EQ(testing::reals(got), (std::vector<double>{3, -1, 3, -1}));
}

TEST(Fft, EmptyBatchesAreEmpty) {
  const hlo::Shape empty = shape(ElementType::C64, {0, 4});
  EXPECT_EQ(transform(proto::FFT, {4}, Literal(empty), empty).element_count(), 0);
}

}  // namespace
}  // namespace sapper::eval
