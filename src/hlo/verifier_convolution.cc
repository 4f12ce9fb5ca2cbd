// The rule of convolution.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

using Numbers = proto::ConvolutionDimensionNumbers;

// The two given and the spatial dimensions are together a permutation of [0, rank).
Status check_permutation(const Site& site, std::string_view what, int64_t first, int64_t second,
                         std::span<const int64_t> spatial, size_t rank) {
  if (spatial.size() + 2 != rank)
    return site.bad("{} has {} spatial dimensions, expected {}", what, spatial.size(), rank - 2);
  DimensionSet set(rank);
  const std::array<int64_t, 2> named = {first, second};
  SAPPER_CHECKED(add_dimensions(site, what, named, rank, &set));
  return add_dimensions(site, what, spatial, rank, &set);
}

int64_t size_of(const Shape& shape, int64_t dimension) { return shape.dimension(static_cast<size_t>(dimension)); }
bool dynamic_in(const Shape& shape, int64_t dimension) { return shape.is_dynamic(static_cast<size_t>(dimension)); }

// Features of the operand are split over feature groups; batches over batch groups; never both.
Status check_groups(const Site& site, const Numbers& numbers, int64_t feature_groups, int64_t batch_groups) {
  const Shape& lhs = site.operand(0);
  const Shape& rhs = site.operand(1);
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1))
    return site.bad("feature_group_count {} and batch_group_count {}, expected positive and at most one above 1",
                    feature_groups, batch_groups);
  const int64_t input_features = size_of(lhs, numbers.input_feature_dimension());
  const int64_t kernel_input = size_of(rhs, numbers.kernel_input_feature_dimension());
  const int64_t kernel_output = size_of(rhs, numbers.kernel_output_feature_dimension());
  const int64_t batch = size_of(lhs, numbers.input_batch_dimension());
  if (input_features % feature_groups != 0 || input_features / feature_groups != kernel_input)
    return site.bad("{} input features of {} in {} groups, but kernel {} takes {}", input_features, text(lhs),
                    feature_groups, text(rhs), kernel_input);
  if (kernel_output % feature_groups != 0 || kernel_output % batch_groups != 0)
    return site.bad("{} output features of {} cannot be split into {} groups", kernel_output, text(rhs),
                    std::max(feature_groups, batch_groups));
  if (batch % batch_groups != 0)
    return site.bad("batch of {} in {} cannot be split into {} groups", batch, text(lhs), batch_groups);
  return {};
}

}  // namespace

Result<Inferred> infer_convolution(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const Shape& lhs = site.operand(0);
  const Shape& rhs = site.operand(1);
  const Numbers& numbers = site.attributes().convolution_dimension_numbers();
  const auto input_spatial = span_of(numbers.input_spatial_dimensions());
  const auto kernel_spatial = span_of(numbers.kernel_spatial_dimensions());
  const auto output_spatial = span_of(numbers.output_spatial_dimensions());
  const size_t rank = lhs.rank();
  if (rank < 2 || rhs.rank() != rank)
    return site.bad("operands {} and {}, expected equal ranks of at least 2", text(lhs), text(rhs));
  SAPPER_CHECKED(check_permutation(site, "input dimensions", numbers.input_batch_dimension(),
                                   numbers.input_feature_dimension(), input_spatial, rank));
  SAPPER_CHECKED(check_permutation(site, "kernel dimensions", numbers.kernel_input_feature_dimension(),
                                   numbers.kernel_output_feature_dimension(), kernel_spatial, rank));
  SAPPER_CHECKED(check_permutation(site, "output dimensions", numbers.output_batch_dimension(),
                                   numbers.output_feature_dimension(), output_spatial, rank));
  const int64_t feature_groups = std::max<int64_t>(site.attributes().feature_group_count(), 1);
  const int64_t batch_groups = std::max<int64_t>(site.attributes().batch_group_count(), 1);
  if (site.attributes().feature_group_count() < 0 || site.attributes().batch_group_count() < 0)
    return site.bad("a group count is negative");
  SAPPER_CHECKED(check_groups(site, numbers, feature_groups, batch_groups));

  const auto& window = site.attributes().window().dimensions();
  if (static_cast<size_t>(window.size()) != rank - 2)
    return site.bad("window of {} dimensions, expected {}", window.size(), rank - 2);
  SAPPER_TRY(const ElementType type, product_type(site));

  // For each dimension of the output: its size, and whether it is dynamic.
  std::vector<std::pair<int64_t, bool>> output(rank);
  output[static_cast<size_t>(numbers.output_batch_dimension())] = {
      size_of(lhs, numbers.input_batch_dimension()) / batch_groups, dynamic_in(lhs, numbers.input_batch_dimension())};
  output[static_cast<size_t>(numbers.output_feature_dimension())] = {
      size_of(rhs, numbers.kernel_output_feature_dimension()),
      dynamic_in(rhs, numbers.kernel_output_feature_dimension())};
  for (size_t i = 0; i < rank - 2; ++i) {
    if (size_of(rhs, kernel_spatial[i]) != window[static_cast<int>(i)].size())
      return site.bad("window size {} of spatial dimension {} differs from the kernel's in {}",
                      window[static_cast<int>(i)].size(), i, text(rhs));
    SAPPER_TRY(const int64_t positions, window_positions(site, static_cast<int>(i), size_of(lhs, input_spatial[i])));
    output[static_cast<size_t>(output_spatial[i])] = {
        positions, dynamic_in(lhs, input_spatial[i]) || dynamic_in(rhs, kernel_spatial[i])};
  }
  ShapeBuilder builder(site.stated(), type);
  for (const auto& [size, dynamic] : output) builder.add(size, dynamic);
  return builder.finish();
}

}  // namespace sapper::hlo::verifier
