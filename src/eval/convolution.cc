// convolution: any dimension labels, window (padding of either sign, strides, dilations, reversal) and groups, as one
// Contraction over the padded input. Padding and the holes of base dilation are zeros that are multiplied like any
// other element (0 * infinity is NaN), as the operation semantics say; the gaps of window dilation are not part of the
// sum. A sum runs over the window, its last dimension fastest, and for each place in it over the input features.

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "eval/contraction.h"
#include "eval/dimensions.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// One spatial dimension: which one it is in each array, and the window along it.
struct Spatial {
  size_t input, kernel, result;
  int64_t input_size, kernel_size, result_size;
  proto::WindowDimension window;

  // How many elements of the padded input the windows reach over; as a double, what cannot overflow.
  [[nodiscard]] double estimated_reach() const {
    return static_cast<double>(result_size - 1) * static_cast<double>(window.stride()) +
           static_cast<double>(kernel_size - 1) * static_cast<double>(window.window_dilation()) + 1;
  }
  [[nodiscard]] int64_t reach() const {
    return (result_size - 1) * window.stride() + (kernel_size - 1) * window.window_dilation() + 1;
  }
  // Whether the windows see nothing but elements of the input, one after the other.
  [[nodiscard]] bool sees_input_only() const {
    return window.padding_low() <= 0 && window.base_dilation() == 1 && reach() - window.padding_low() <= input_size;
  }
};

std::vector<Spatial> spatial_dimensions(const hlo::Attributes& attributes, const hlo::Shape& input,
                                        const hlo::Shape& kernel, const hlo::Shape& result) {
  const proto::ConvolutionDimensionNumbers& numbers = attributes.convolution_dimension_numbers();
  std::vector<Spatial> all;
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const auto in_input = static_cast<size_t>(numbers.input_spatial_dimensions(i));
    const auto in_kernel = static_cast<size_t>(numbers.kernel_spatial_dimensions(i));
    const auto in_result = static_cast<size_t>(numbers.output_spatial_dimensions(i));
    all.push_back({.input = in_input,
                   .kernel = in_kernel,
                   .result = in_result,
                   .input_size = input.dimension(in_input),
                   .kernel_size = kernel.dimension(in_kernel),
                   .result_size = result.dimension(in_result),
                   .window = attributes.window().dimensions(i)});
  }
  return all;
}

// The input as the windows see it: element p of spatial dimension d is at starts[d] + p * strides[d's dimension].
struct PaddedInput {
  std::shared_ptr<const hlo::AlignedBytes> elements;  // in the accumulator's operand type
  std::vector<int64_t> strides;
  std::vector<int64_t> starts;
};

// Copies the elements that lists of offsets along each dimension name.
template <class Operand>
void copy_elements(const Operand* from, const std::vector<std::vector<int64_t>>& from_offsets, Operand* to,
                   const std::vector<std::vector<int64_t>>& to_offsets) {
  std::vector<int64_t> from_outer = {0};
  std::vector<int64_t> to_outer = {0};
  for (size_t d = 0; d + 1 < from_offsets.size(); ++d) {
    from_outer = combine(from_outer, from_offsets[d]);
    to_outer = combine(to_outer, to_offsets[d]);
  }
  const std::vector<int64_t>& from_inner = from_offsets.back();
  const std::vector<int64_t>& to_inner = to_offsets.back();
  parallel_for(std::ssize(from_outer), 1 + (1 << 14) / (1 + std::ssize(from_inner)), [&](int64_t begin, int64_t end) {
    for (auto outer = static_cast<size_t>(begin); outer != static_cast<size_t>(end); ++outer)
      for (size_t inner = 0; inner < from_inner.size(); ++inner)
        to[to_outer[outer] + to_inner[inner]] = from[from_outer[outer] + from_inner[inner]];
  });
}

PaddedInput pad(const hlo::Literal& input, const std::vector<Spatial>& spatial, Accumulator accumulator) {
  PaddedInput padded{.elements = widen(input, accumulator),
                     .strides = row_major_strides(input.shape().dimensions()),
                     .starts = std::vector<int64_t>(spatial.size())};
  if (std::ranges::all_of(spatial, &Spatial::sees_input_only)) {
    for (size_t i = 0; i < spatial.size(); ++i)
      padded.starts[i] = -spatial[i].window.padding_low() * padded.strides[spatial[i].input];
    return padded;
  }

  std::vector<int64_t> sizes = input.shape().dimensions();
  for (const Spatial& s : spatial) sizes[s.input] = s.reach();
  const std::vector<int64_t> input_strides = padded.strides;
  padded.strides = row_major_strides(sizes);
  std::vector<std::vector<int64_t>> from;
  std::vector<std::vector<int64_t>> to;
  for (size_t d = 0; d < sizes.size(); ++d) {
    from.push_back(progression(input.shape().dimension(d), input_strides[d]));
    to.push_back(progression(input.shape().dimension(d), padded.strides[d]));
  }
  for (const Spatial& s : spatial) {
    from[s.input].clear();
    to[s.input].clear();
    const int64_t low = s.window.padding_low();
    const int64_t dilation = s.window.base_dilation();
    for (int64_t x = low >= 0 ? 0 : (dilation - 1 - low) / dilation; x < s.input_size; ++x) {
      const int64_t place = x * dilation + low;
      if (place >= s.reach()) break;
      from[s.input].push_back(x * input_strides[s.input]);
      to[s.input].push_back(place * padded.strides[s.input]);
    }
  }
  const auto bytes = static_cast<size_t>(hlo::element_count(sizes)) * operand_bytes(accumulator);
  auto elements = std::make_shared<hlo::AlignedBytes>(bytes);
  std::memset(elements->data(), 0, bytes);
  with_accumulator(accumulator, [&]<Accumulator chosen>() {
    using Operand = typename AccumulatorTypes<chosen>::Operand;
    copy_elements(reinterpret_cast<const Operand*>(padded.elements->data()), from,
                  reinterpret_cast<Operand*>(elements->data()), to);
  });
  padded.elements = std::move(elements);
  return padded;
}

// Refuses convolutions whose padded input would not fit into memory.
Status check_padded_size(const OpContext& context, const hlo::Shape& input, const std::vector<Spatial>& spatial,
                         Accumulator accumulator) {
  double bytes = static_cast<double>(operand_bytes(accumulator));
  for (const int64_t size : input.dimensions()) bytes *= static_cast<double>(size);
  for (const Spatial& s : spatial)
    bytes *= s.estimated_reach() / static_cast<double>(std::max<int64_t>(1, s.input_size));
  const double limit =
      context.options.memory_limit_bytes > 0 ? static_cast<double>(context.options.memory_limit_bytes) : 16e9;
  if (bytes <= limit) return {};
  return fail(hlo::error_at(
      ErrorKind::Resource, context.instruction,
      fmt::format("the padded input of the convolution takes {:.3g} bytes; the limit is {:.3g}", bytes, limit)));
}

Contraction convolution_contraction(const hlo::Attributes& attributes, const hlo::Literal& input,
                                    const hlo::Literal& kernel, const hlo::Shape& result,
                                    const std::vector<Spatial>& spatial, const PaddedInput& padded) {
  const proto::ConvolutionDimensionNumbers& numbers = attributes.convolution_dimension_numbers();
  const int64_t feature_groups = std::max<int64_t>(1, attributes.feature_group_count());
  const int64_t batch_groups = std::max<int64_t>(1, attributes.batch_group_count());
  const int64_t groups = feature_groups * batch_groups;  // at most one of them is not 1
  const std::vector<int64_t> kernel_strides = row_major_strides(kernel.shape().dimensions());
  const std::vector<int64_t> result_strides = row_major_strides(result.dimensions());

  const auto input_batch = static_cast<size_t>(numbers.input_batch_dimension());
  const auto input_feature = static_cast<size_t>(numbers.input_feature_dimension());
  const auto kernel_input = static_cast<size_t>(numbers.kernel_input_feature_dimension());
  const auto kernel_output = static_cast<size_t>(numbers.kernel_output_feature_dimension());
  const auto result_batch = static_cast<size_t>(numbers.output_batch_dimension());
  const auto result_feature = static_cast<size_t>(numbers.output_feature_dimension());
  const int64_t group_batch = input.shape().dimension(input_batch) / batch_groups;
  const int64_t group_inputs = input.shape().dimension(input_feature) / feature_groups;
  const int64_t group_outputs = kernel.shape().dimension(kernel_output) / groups;

  // Groups are the batch of the contraction: each has its part of the input's features or batch, and of the kernel's
  // and the result's output features.
  const int64_t group_step =
      feature_groups > 1 ? group_inputs * padded.strides[input_feature] : group_batch * padded.strides[input_batch];
  Contraction contraction{.lhs_batch = progression(groups, group_step),
                          .lhs_free = progression(group_batch, padded.strides[input_batch]),
                          .lhs_sum = {0},
                          .rhs_batch = progression(groups, group_outputs * kernel_strides[kernel_output]),
                          .rhs_free = progression(group_outputs, kernel_strides[kernel_output]),
                          .rhs_sum = {0},
                          .result_batch = progression(groups, group_outputs * result_strides[result_feature]),
                          .result_lhs = progression(group_batch, result_strides[result_batch]),
                          .result_rhs = progression(group_outputs, result_strides[result_feature])};
  for (size_t i = 0; i < spatial.size(); ++i) {
    const Spatial& s = spatial[i];
    const int64_t input_stride = padded.strides[s.input];
    const int64_t kernel_stride = kernel_strides[s.kernel];
    contraction.lhs_free =
        combine(contraction.lhs_free, progression(s.result_size, s.window.stride() * input_stride, padded.starts[i]));
    contraction.result_lhs = combine(contraction.result_lhs, progression(s.result_size, result_strides[s.result]));
    contraction.lhs_sum =
        combine(contraction.lhs_sum, progression(s.kernel_size, s.window.window_dilation() * input_stride));
    contraction.rhs_sum = combine(contraction.rhs_sum,
                                  s.window.window_reversal()
                                      ? progression(s.kernel_size, -kernel_stride, (s.kernel_size - 1) * kernel_stride)
                                      : progression(s.kernel_size, kernel_stride));
  }
  contraction.lhs_sum = combine(contraction.lhs_sum, progression(group_inputs, padded.strides[input_feature]));
  contraction.rhs_sum = combine(contraction.rhs_sum, progression(group_inputs, kernel_strides[kernel_input]));
  return contraction;
}

}  // namespace

Result<hlo::Literal> convolution(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Attributes& attributes = context.instruction.attributes();
  const hlo::Literal& input = operands[0];
  const hlo::Literal& kernel = operands[1];
  const hlo::Shape& shape = context.instruction.shape;
  if (input.shape().is_dynamic() || kernel.shape().is_dynamic())
    return fail(
        hlo::error_at(ErrorKind::Unsupported, context.instruction, "not evaluated: a convolution of dynamic shapes"));
  SAPPER_TRY(const Accumulator accumulator,
             choose_accumulator(input.shape().element_type(), kernel.shape().element_type(), shape.element_type()));
  hlo::Literal result(shape);
  if (shape.element_count() == 0 || kernel.element_count() == 0) return result;  // an empty sum is zero

  const std::vector<Spatial> spatial = spatial_dimensions(attributes, input.shape(), kernel.shape(), shape);
  SAPPER_CHECKED(check_padded_size(context, input.shape(), spatial, accumulator));
  const PaddedInput padded = pad(input, spatial, accumulator);
  contract(convolution_contraction(attributes, input, kernel, shape, spatial, padded), accumulator,
           padded.elements->data(), widen(kernel, accumulator)->data(), result);
  return result;
}

}  // namespace sapper::eval
