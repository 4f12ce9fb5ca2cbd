// Backward rules of products, convolutions, transforms, factorizations and batch normalization.
#include <algorithm>
#include <array>

#include "fuzz/rule_builders.h"
#include "fuzz/windows.h"

namespace sapper::fuzz {
namespace {

using proto::PrecisionConfig;

// Types of operands whose products are summed in `type`: itself, or a narrower one of its class.
ElementType factor_type(const Rule& rule, Builder& builder, ElementType type) {
  if (!builder.choices().chance(30)) return type;
  const auto fits = [&](ElementType t) {
    if (!builder.grammar().takes(rule.opcode, t)) return false;
    if (type == ElementType::F32) return t == ElementType::BF16 || t == ElementType::F16;
    return type == ElementType::S32 && t == ElementType::S8;
  };
  return choose_type(builder.grammar(), builder.choices(), fits).value_or(type);
}

void set_precision(Builder& builder, Index product) {
  constexpr std::array<PrecisionConfig::Precision, 3> precisions = {PrecisionConfig::DEFAULT, PrecisionConfig::HIGHEST,
                                                                    PrecisionConfig::HIGH};
  const auto precision = builder.choices().of(precisions);
  auto* const config = builder.at(product).edit_attributes().mutable_precision_config();
  for (int i = 0; i < 2; ++i) config->add_operand_precision(precision);
}

// One side of a dot: dimensions in any order, and where its parts have come to lie.
struct Side {
  std::vector<int64_t> sizes;
  std::vector<int64_t> batch;
  std::vector<int64_t> contracted;
};

// Free dimensions keep their order, as the result has them.
Side arranged(Choices& choices, const std::vector<int64_t>& batch, const std::vector<int64_t>& free,
              const std::vector<int64_t>& contracted) {
  const size_t rank = batch.size() + free.size() + contracted.size();
  const std::vector<int64_t> at_free = choices.subset(free.size(), rank);
  Side side;
  side.sizes.resize(rank);
  std::vector<int64_t> others;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (std::ranges::binary_search(at_free, static_cast<int64_t>(i)))
      side.sizes[i] = free[next++];
    else
      others.push_back(static_cast<int64_t>(i));
  }
  const std::vector<int64_t> order = choices.permutation(others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    const int64_t at = others[static_cast<size_t>(order[i])];
    (i < batch.size() ? side.batch : side.contracted).push_back(at);
    side.sizes[static_cast<size_t>(at)] = i < batch.size() ? batch[i] : contracted[i - batch.size()];
  }
  return side;
}

std::vector<int64_t> part(const Shape& shape, size_t from, size_t to) {
  return {shape.dimensions().begin() + static_cast<ptrdiff_t>(from),
          shape.dimensions().begin() + static_cast<ptrdiff_t>(to)};
}

// A divisor of `number`, 1 in most cases.
int64_t chosen_divisor(Choices& choices, int64_t number) {
  if (!choices.chance(25)) return 1;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= std::min<int64_t>(number, 8); ++d)
    if (number % d == 0) divisors.push_back(d);
  return choices.of(divisors);
}

// An array with these sizes at these dimensions.
Shape placed(ElementType type, const std::vector<int64_t>& at, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> dimensions(at.size());
  for (size_t i = 0; i < at.size(); ++i) dimensions[static_cast<size_t>(at[i])] = sizes[i];
  return Shape::array(type, dimensions);
}

}  // namespace

bool makes_product(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return wanted.element_type() != ElementType::Pred && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_ragged_product(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return wanted.rank() == 2 && hlo::is_float(wanted.element_type()) &&
         grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_convolution(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return wanted.rank() >= 2 && makes_product(rule, grammar, wanted);
}

bool makes_spectrum(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  const bool takes = hlo::is_complex(type) || ((type == ElementType::F32 && grammar.has(ElementType::C64)) ||
                                               (type == ElementType::F64 && grammar.has(ElementType::C128)));
  return makes_array(rule, grammar, wanted) && takes;
}

bool makes_square(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const size_t rank = wanted.rank();
  return rank >= 2 && wanted.dimension(rank - 1) == wanted.dimension(rank - 2) && wanted.dimension(rank - 1) <= 33 &&
         hlo::is_float(wanted.element_type()) && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_solution(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const size_t rank = wanted.rank();
  return rank >= 2 && wanted.dimension(rank - 2) <= 33 && wanted.dimension(rank - 1) <= 33 &&
         hlo::is_float(wanted.element_type()) && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_normalized(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return makes_array(rule, grammar, wanted) && (type == ElementType::F32 || type == ElementType::BF16);
}

Index build_dot(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const size_t rank = wanted.rank();
  const size_t batches = choices.below(static_cast<uint32_t>(std::min<size_t>(rank, 2)) + 1);
  const size_t split = batches + choices.below(static_cast<uint32_t>(rank - batches) + 1);
  const std::vector<int64_t> batch = part(wanted, 0, batches);
  const std::vector<int64_t> lhs_free = part(wanted, batches, split), rhs_free = part(wanted, split, rank);
  const int64_t larger = std::max(hlo::element_count(lhs_free), hlo::element_count(rhs_free));
  std::vector<int64_t> contracted(choices.chance(15) ? 2 : 1);
  int64_t most = builder.grammar().elements / std::max<int64_t>(1, hlo::element_count(batch) * larger);
  for (int64_t& size : contracted) {
    size = choose_size(builder.grammar(), choices, most);
    most /= size;
  }
  const Side lhs = arranged(choices, batch, lhs_free, contracted);
  const Side rhs = arranged(choices, batch, rhs_free, contracted);
  const ElementType type = factor_type(rule, builder, wanted.element_type());
  const Index left = builder.value(Shape::array(type, lhs.sizes));
  const Index right = builder.value(Shape::array(type, rhs.sizes));
  const Index made = builder.add(rule.opcode, wanted, {left, right});
  set_precision(builder, made);
  auto* const numbers = builder.at(made).edit_attributes().mutable_dot_dimension_numbers();
  numbers->mutable_lhs_batch_dimensions()->Assign(lhs.batch.begin(), lhs.batch.end());
  numbers->mutable_rhs_batch_dimensions()->Assign(rhs.batch.begin(), rhs.batch.end());
  numbers->mutable_lhs_contracting_dimensions()->Assign(lhs.contracted.begin(), lhs.contracted.end());
  numbers->mutable_rhs_contracting_dimensions()->Assign(rhs.contracted.begin(), rhs.contracted.end());
  return made;
}

// [rows, k] by [groups, k, columns]: rows in groups of constant sizes.
Index build_ragged_dot(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const ElementType type = wanted.element_type();
  const int64_t rows = wanted.dimension(0), columns = wanted.dimension(1);
  const int64_t groups = choices.between(1, 4);
  const int64_t most = builder.grammar().elements / std::max(rows, groups * columns);
  const int64_t inner = choose_size(builder.grammar(), choices, most);
  const Index left = builder.value(Shape::array(type, {rows, inner}));
  const Index right = builder.value(Shape::array(type, {groups, inner, columns}));
  hlo::Literal sizes(Shape::array(ElementType::S32, {groups}));
  int64_t remaining = rows;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t size = g + 1 == groups ? remaining : choices.between(0, remaining);
    sizes.set_integer(g, size);
    remaining -= size;
  }
  const Index made = builder.add(rule.opcode, wanted, {left, right, builder.constant(std::move(sizes))});
  set_precision(builder, made);
  auto* const ragged = builder.at(made).edit_attributes().mutable_ragged_dot_dimension_numbers();
  ragged->mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  ragged->mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(1);
  ragged->add_lhs_ragged_dimensions(0);
  ragged->add_rhs_group_dimensions(0);
  return made;
}

Index build_convolution(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const size_t rank = wanted.rank();
  const bool shuffled = choices.chance(40);
  const auto layout = [&] {
    std::vector<int64_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
    return shuffled ? choices.permutation(rank) : order;
  };
  // In the order batch, feature, spatial; of kernels output feature, input feature, spatial.
  const std::vector<int64_t> output = layout(), input = layout(), kernel = layout();
  const auto size_of = [&](size_t i) { return wanted.dimension(static_cast<size_t>(output[i])); };
  const int64_t features = size_of(1);
  const int64_t feature_groups = chosen_divisor(choices, features);
  const int64_t batch_groups = feature_groups > 1 ? 1 : chosen_divisor(choices, features);
  proto::Window window;
  std::vector<int64_t> input_sizes = {size_of(0) * batch_groups, 0}, kernel_sizes = {features, 0};
  for (size_t i = 2; i < rank; ++i) {
    WindowOver over = choose_window(choices, size_of(i),
                                    {.size = 3, .operand = size_of(i) + 8, .negative_padding = choices.chance(20)});
    over.window.set_window_reversal(choices.chance(15));
    *window.add_dimensions() = over.window;
    input_sizes.push_back(over.operand);
    kernel_sizes.push_back(over.window.size());
  }
  const int64_t others = input_sizes[0] * hlo::element_count(std::span(input_sizes).subspan(2));
  const int64_t kernels = features * hlo::element_count(std::span(kernel_sizes).subspan(2));
  const int64_t most = builder.grammar().elements / std::max<int64_t>(1, std::max(others * feature_groups, kernels));
  const int64_t depth = std::min<int64_t>(choose_size(builder.grammar(), choices, most), 32);
  input_sizes[1] = depth * feature_groups;
  kernel_sizes[1] = depth;
  const ElementType type = factor_type(rule, builder, wanted.element_type());
  const Index left = builder.value(placed(type, input, input_sizes));
  const Index right = builder.value(placed(type, kernel, kernel_sizes));
  const Index made = builder.add(rule.opcode, wanted, {left, right});
  set_precision(builder, made);
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  *attributes.mutable_window() = window;
  attributes.set_feature_group_count(feature_groups);
  attributes.set_batch_group_count(batch_groups);
  auto* const numbers = attributes.mutable_convolution_dimension_numbers();
  numbers->set_input_batch_dimension(input[0]);
  numbers->set_input_feature_dimension(input[1]);
  numbers->set_kernel_output_feature_dimension(kernel[0]);
  numbers->set_kernel_input_feature_dimension(kernel[1]);
  numbers->set_output_batch_dimension(output[0]);
  numbers->set_output_feature_dimension(output[1]);
  for (size_t i = 2; i < rank; ++i) {
    numbers->add_input_spatial_dimensions(input[i]);
    numbers->add_kernel_spatial_dimensions(kernel[i]);
    numbers->add_output_spatial_dimensions(output[i]);
  }
  return made;
}

Index build_fft(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const ElementType type = wanted.element_type();
  const auto count = static_cast<size_t>(choices.between(1, std::min<int64_t>(std::ssize(wanted.dimensions()), 3)));
  std::vector<int64_t> sizes = wanted.dimensions();
  std::vector<int64_t> lengths(sizes.end() - static_cast<ptrdiff_t>(count), sizes.end());
  ElementType from = type;
  proto::FftType transform = choices.chance(50) ? proto::IFFT : proto::FFT;
  if (!hlo::is_complex(type)) {
    transform = proto::IRFFT;
    from = type == ElementType::F64 ? ElementType::C128 : ElementType::C64;
    sizes.back() = sizes.back() / 2 + 1;
  } else if (choices.chance(30) && sizes.back() > 1) {
    transform = proto::RFFT;
    from = hlo::component_type(type);
    sizes.back() = 2 * (sizes.back() - 1) + choices.between(0, 1);
    lengths.back() = sizes.back();
  }
  const Index made = builder.add(rule.opcode, wanted, {builder.value(Shape::array(from, sizes))});
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  attributes.set_fft_type(transform);
  attributes.mutable_fft_length()->Assign(lengths.begin(), lengths.end());
  return made;
}

Index build_cholesky(const Rule& rule, Builder& builder, const Shape& wanted) {
  const bool lower = !builder.choices().chance(50);
  const Index made = builder.add(rule.opcode, wanted, {builder.leaf(wanted)});
  builder.at(made).edit_attributes().mutable_cholesky_options()->set_lower(lower);
  const Shape indices = wanted.with_element_type(ElementType::S32);
  const auto rank = std::ssize(wanted.dimensions());
  const Index row = builder.iota(indices, rank - 2);
  const Index column = builder.iota(indices, rank - 1);
  const Index inside = builder.compare(lower ? "GE" : "LE", row, column);
  return builder.add(Opcode::Select, wanted, {inside, made, builder.splat(wanted, 0)});
}

Index build_triangular_solve(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const bool left = !choices.chance(50);
  std::vector<int64_t> sizes = wanted.dimensions();
  const size_t rank = sizes.size();
  (left ? sizes[rank - 1] : sizes[rank - 2]) = left ? sizes[rank - 2] : sizes[rank - 1];
  const Index matrix = builder.leaf(Shape::array(wanted.element_type(), sizes));
  const Index made = builder.add(rule.opcode, wanted, {matrix, builder.value(wanted)});
  auto* const options = builder.at(made).edit_attributes().mutable_triangular_solve_options();
  options->set_left_side(left);
  options->set_lower(choices.chance(50));
  options->set_unit_diagonal(choices.chance(20));
  options->set_transpose_a(choices.chance(40) ? proto::TriangularSolveOptions::TRANSPOSE
                                              : proto::TriangularSolveOptions::NO_TRANSPOSE);
  return made;
}

Index build_batch_norm(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const ElementType type = wanted.element_type();
  Shape array = wanted;
  // One of the results has a number a feature.
  const bool statistics = rule.opcode != Opcode::BatchNormInference && wanted.rank() == 1 && choices.chance(50);
  auto feature = choices.between(0, std::ssize(wanted.dimensions()) - 1);
  if (statistics) {
    array = Shape::array(type, {choices.between(2, 8), wanted.dimension(0)});
    feature = 1;
  }
  const Shape vector = Shape::array(type, {array.dimension(static_cast<size_t>(feature))});
  std::vector<Index> operands = {builder.value(array), builder.value(vector)};
  if (rule.opcode == Opcode::BatchNormTraining) operands.push_back(builder.value(vector));
  if (rule.opcode == Opcode::BatchNormInference) operands.push_back(builder.value(vector));
  if (rule.opcode != Opcode::BatchNormTraining) {
    operands.push_back(builder.value(vector));
    operands.push_back(builder.within(vector, 0.25, 16, true));
  }
  if (rule.opcode == Opcode::BatchNormGrad) operands.push_back(builder.value(array));
  const bool one = rule.opcode == Opcode::BatchNormInference;
  const Index made = builder.add(rule.opcode, one ? array : Shape::tuple({array, vector, vector}), std::move(operands));
  builder.at(made).edit_attributes().set_epsilon(0.0009765625F);
  builder.at(made).edit_attributes().set_feature_index(feature);
  return one ? made : builder.element_of(made, statistics ? choices.between(1, 2) : 0);
}

}  // namespace sapper::fuzz
