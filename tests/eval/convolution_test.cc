#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using testing::literal;
using testing::random_literal;
using testing::reals;
using testing::run;
using testing::shape;

// A convolution in its usual order: input [batch, features, spatial...], kernel [output, input features, spatial...],
// result [batch, output features, spatial...]; `order_*` place those dimensions in memory.
struct Case {
  int64_t batch, inputs, outputs, feature_groups = 1, batch_groups = 1;
  std::vector<int64_t> sizes = {};
  std::vector<proto::WindowDimension> window = {};
  std::vector<int64_t> order_input = {}, order_kernel = {}, order_result = {};

  [[nodiscard]] int64_t padded(size_t d) const {
    const int64_t dilated = sizes[d] == 0 ? 0 : (sizes[d] - 1) * window[d].base_dilation() + 1;
    return dilated + window[d].padding_low() + window[d].padding_high();
  }
  [[nodiscard]] int64_t result_size(size_t d) const {
    const int64_t reach = (window[d].size() - 1) * window[d].window_dilation() + 1;
    return padded(d) < reach ? 0 : (padded(d) - reach) / window[d].stride() + 1;
  }
};

proto::WindowDimension window(int64_t size, int64_t stride = 1, int64_t low = 0, int64_t high = 0,
                              int64_t base_dilation = 1, int64_t window_dilation = 1, bool reversed = false) {
  proto::WindowDimension dimension;
  dimension.set_size(size);
  dimension.set_stride(stride);
  dimension.set_padding_low(low);
  dimension.set_padding_high(high);
  dimension.set_base_dilation(base_dilation);
  dimension.set_window_dilation(window_dilation);
  dimension.set_window_reversal(reversed);
  return dimension;
}

// An array's dimensions in memory: usual dimension d goes to place order[d].
std::vector<int64_t> in_memory(const std::vector<int64_t>& usual, const std::vector<int64_t>& order) {
  std::vector<int64_t> placed(usual.size());
  for (size_t d = 0; d < usual.size(); ++d) placed[static_cast<size_t>(order[d])] = usual[d];
  return placed;
}

std::vector<int64_t> input_dimensions(const Case& c) {
  std::vector<int64_t> usual = {c.batch, c.inputs};
  usual.insert(usual.end(), c.sizes.begin(), c.sizes.end());
  return in_memory(usual, c.order_input);
}
std::vector<int64_t> kernel_dimensions(const Case& c) {
  std::vector<int64_t> usual = {c.outputs, c.inputs / c.feature_groups};
  for (const proto::WindowDimension& w : c.window) usual.push_back(w.size());
  return in_memory(usual, c.order_kernel);
}
std::vector<int64_t> result_dimensions(const Case& c) {
  std::vector<int64_t> usual = {c.batch / c.batch_groups, c.outputs};
  for (size_t d = 0; d < c.sizes.size(); ++d) usual.push_back(c.result_size(d));
  return in_memory(usual, c.order_result);
}

hlo::Instruction convolution_instruction(const Case& c, ElementType type) {
  hlo::Instruction made = testing::instruction(hlo::Opcode::Convolution, shape(type, result_dimensions(c)));
  hlo::Attributes& attributes = made.edit_attributes();
  attributes.set_feature_group_count(c.feature_groups);
  attributes.set_batch_group_count(c.batch_groups);
  auto* numbers = attributes.mutable_convolution_dimension_numbers();
  numbers->set_input_batch_dimension(c.order_input[0]);
  numbers->set_input_feature_dimension(c.order_input[1]);
  numbers->set_kernel_output_feature_dimension(c.order_kernel[0]);
  numbers->set_kernel_input_feature_dimension(c.order_kernel[1]);
  numbers->set_output_batch_dimension(c.order_result[0]);
  numbers->set_output_feature_dimension(c.order_result[1]);
  for (size_t d = 0; d < c.sizes.size(); ++d) {
    numbers->add_input_spatial_dimensions(c.order_input[d + 2]);
    numbers->add_kernel_spatial_dimensions(c.order_kernel[d + 2]);
    numbers->add_output_spatial_dimensions(c.order_result[d + 2]);
    *attributes.mutable_window()->add_dimensions() = c.window[d];
  }
  return made;
}

int64_t place(const Literal& array, const std::vector<int64_t>& usual, const std::vector<int64_t>& order) {
  const std::vector<int64_t> index = in_memory(usual, order);
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at = at * array.shape().dimension(d) + index[d];
  return at;
}

// The sum by its definition: element p of the padded input is input element (p - low) / base_dilation, or zero.
double by_definition(const Case& c, const Literal& input, const Literal& kernel, int64_t b, int64_t output,
                     const std::vector<int64_t>& at) {
  const int64_t group_outputs = c.outputs / (c.feature_groups * c.batch_groups);
  const int64_t group = output / group_outputs;
  const int64_t first_input = c.feature_groups > 1 ? group * (c.inputs / c.feature_groups) : 0;
  const int64_t from_batch = c.batch_groups > 1 ? group * (c.batch / c.batch_groups) + b : b;
  double sum = 0;
  std::vector<int64_t> w(c.sizes.size(), 0);
  while (true) {
    bool inside = true;
    std::vector<int64_t> x(c.sizes.size());
    std::vector<int64_t> k(c.sizes.size());
    for (size_t d = 0; d < c.sizes.size(); ++d) {
      const proto::WindowDimension& dimension = c.window[d];
      const int64_t p = at[d] * dimension.stride() + w[d] * dimension.window_dilation() - dimension.padding_low();
      x[d] = p / dimension.base_dilation();
      inside = inside && p >= 0 && p % dimension.base_dilation() == 0 && x[d] < c.sizes[d];
      k[d] = dimension.window_reversal() ? dimension.size() - 1 - w[d] : w[d];
    }
    for (int64_t f = 0; f < c.inputs / c.feature_groups; ++f) {
      std::vector<int64_t> kernel_at = {output, f};
      kernel_at.insert(kernel_at.end(), k.begin(), k.end());
      std::vector<int64_t> input_at = {from_batch, first_input + f};
      input_at.insert(input_at.end(), x.begin(), x.end());
      const double value = inside ? input.real_at(place(input, input_at, c.order_input)) : 0;
      sum += value * kernel.real_at(place(kernel, kernel_at, c.order_kernel));
    }
    size_t d = c.sizes.size();
    while (d > 0 && ++w[d - 1] == c.window[d - 1].size()) w[--d] = 0;
    if (d == 0) return sum;
  }
}

void expect_definition(const Case& c, ElementType type, uint32_t seed) {
  std::mt19937 random(seed);
  const Literal input = random_literal(type, input_dimensions(c), random);
  const Literal kernel = random_literal(type, kernel_dimensions(c), random);
  const Literal got = run(convolution, convolution_instruction(c, type), {input, kernel}).value();
  Literal expected(got.shape());
  std::vector<int64_t> at(c.sizes.size(), 0);
  if (got.element_count() == 0) return;
  while (true) {
    for (int64_t b = 0; b < c.batch / c.batch_groups; ++b)
      for (int64_t output = 0; output < c.outputs; ++output) {
        std::vector<int64_t> usual = {b, output};
        usual.insert(usual.end(), at.begin(), at.end());
        expected.set_real(place(expected, usual, c.order_result), by_definition(c, input, kernel, b, output, at));
      }
    size_t d = c.sizes.size();
    while (d > 0 && ++at[d - 1] == c.result_size(d - 1)) at[--d] = 0;
    if (d == 0) break;
  }
  RC_ASSERT(got == expected);
}

RC_GTEST_PROP(Convolution, EqualsItsDefinition, ()) {
  const auto any = [](int64_t low, int64_t high) {
    std::vector<int64_t> all(static_cast<size_t>(high - low + 1));
    std::iota(all.begin(), all.end(), low);
    return *rc::gen::elementOf(all);
  };
  const auto rank = static_cast<size_t>(any(0, 3));
  Case c{.batch = any(1, 3), .inputs = any(1, 3), .outputs = any(1, 3)};
  const int64_t groups = any(1, 3);
  switch (any(0, 2)) {
    case 0: c.feature_groups = groups, c.inputs *= groups, c.outputs *= groups; break;
    case 1: c.batch_groups = groups, c.batch *= groups, c.outputs *= groups; break;
    default: break;
  }
  for (size_t d = 0; d < rank; ++d) {
    c.sizes.push_back(any(1, 5));
    c.window.push_back(window(any(1, 3), any(1, 3), any(-2, 2), any(-2, 2), any(1, 3), any(1, 2), any(0, 1) == 1));
  }
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  for (std::vector<int64_t>* order : {&c.order_input, &c.order_kernel, &c.order_result}) {
    order->resize(rank + 2);
    std::iota(order->begin(), order->end(), 0);
    std::shuffle(order->begin(), order->end(), random);
  }
  for (size_t d = 0; d < rank; ++d) RC_PRE(c.padded(d) >= 0);
  expect_definition(c, *rc::gen::element(ElementType::F32, ElementType::BF16, ElementType::F16), random());
}

// input f32[1,1,n], kernel f32[1,1,k].
Literal convolve(const std::vector<double>& input, const std::vector<double>& kernel, const proto::WindowDimension& w,
                 ElementType type = ElementType::F32, ElementType result = ElementType::F32) {
  const auto n = static_cast<int64_t>(input.size());
  const Case c{.batch = 1,
               .inputs = 1,
               .outputs = 1,
               .sizes = {n},
               .window = {w},
               .order_input = {0, 1, 2},
               .order_kernel = {0, 1, 2},
               .order_result = {0, 1, 2}};
  return run(convolution, convolution_instruction(c, result),
             {literal(type, {1, 1, n}, input), literal(type, {1, 1, w.size()}, kernel)})
      .value();
}

TEST(Convolution, WindowsInOneDimension) {
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2))), (std::vector<double>{12, 23}));
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2, 1, 1, 1))), (std::vector<double>{1, 12, 23, 30}));
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2, 1, -1, 1))), (std::vector<double>{23, 30}));
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2, 2, 0, 1, 2))), (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2, 1, 0, 0, 1, 2))), (std::vector<double>{13}));
  EXPECT_EQ(reals(convolve({1, 2, 3}, {10, 1}, window(2, 1, 0, 0, 1, 1, true))), (std::vector<double>{21, 32}));
}

TEST(Convolution, IntegersWidenOrWrap) {
  EXPECT_EQ(reals(convolve({100, 100}, {100, 100}, window(2), ElementType::S8, ElementType::S32)),
            std::vector<double>{20000});
  EXPECT_EQ(reals(convolve({100, 100}, {100, 100}, window(2), ElementType::S8, ElementType::S8)),
            std::vector<double>{static_cast<int8_t>(20000)});
}

TEST(Convolution, ZeroPaddingIsMultiplied) {
  // Padding meets the infinite weight in the first window only; the gap of window dilation meets nothing.
  const std::vector<double> got = reals(convolve({1, 2, 3}, {INFINITY, 1}, window(2, 1, 1, 0)));
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], INFINITY);
  EXPECT_EQ(reals(convolve({1, INFINITY, 3}, {1, 1}, window(2, 1, 0, 0, 1, 2))), std::vector<double>{4});
}

TEST(Convolution, ComplexValues) {
  const Case c{.batch = 1,
               .inputs = 1,
               .outputs = 1,
               .sizes = {2},
               .window = {window(2)},
               .order_input = {0, 1, 2},
               .order_kernel = {0, 1, 2},
               .order_result = {0, 1, 2}};
  Literal input(shape(ElementType::C64, {1, 1, 2}));
  Literal kernel(shape(ElementType::C64, {1, 1, 2}));
  input.set_complex(0, {1, 2});
  input.set_complex(1, {0, 1});
  kernel.set_complex(0, {3, -1});
  kernel.set_complex(1, {0, 1});
  const Literal got = run(convolution, convolution_instruction(c, ElementType::C64), {input, kernel}).value();
  EXPECT_EQ(got.complex_at(0), std::complex<double>(4, 5));
}

TEST(Convolution, HugePaddingIsAResourceError) {
  constexpr int64_t huge = int64_t{1} << 61;
  Case c{.batch = 1,
         .inputs = 1,
         .outputs = 1,
         .sizes = {1},
         .window = {window(2, 1, huge, 0, 1, huge)},
         .order_input = {0, 1, 2},
         .order_kernel = {0, 1, 2},
         .order_result = {0, 1, 2}};
  ASSERT_EQ(c.result_size(0), 1);
  const auto got = run(convolution, convolution_instruction(c, ElementType::F32),
                       {literal(ElementType::F32, {1, 1, 1}, {1}), literal(ElementType::F32, {1, 1, 2}, {1, 1})});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Resource);
}

TEST(Convolution, EmptyWindowsSumToZero) {
  const Case c{.batch = 1,
               .inputs = 0,
               .outputs = 2,
               .sizes = {2},
               .window = {window(1)},
               .order_input = {0, 1, 2},
               .order_kernel = {0, 1, 2},
               .order_result = {0, 1, 2}};
  const Literal got = run(convolution, convolution_instruction(c, ElementType::F32),
                          {Literal(shape(ElementType::F32, {1, 0, 2})), Literal(shape(ElementType::F32, {2, 0, 1}))})
                          .value();
  EXPECT_EQ(reals(got), std::vector<double>(4, 0));
}

}  // namespace
}  // namespace sapper::eval
