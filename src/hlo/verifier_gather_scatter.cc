// Rules of gather and scatter, whose dimension numbers are each other's mirror.
#include <algorithm>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// What gather and scatter say about indices and windows, under the names that each gives its parts.
struct IndexedWindows {
  const Shape& indices;
  int64_t index_vector_dim;
  std::span<const int64_t> index_map;     // component of the index vector -> operand dimension
  std::span<const int64_t> window_dims;   // of the result (gather) or updates (scatter)
  std::span<const int64_t> removed_dims;  // operand dimensions that the window lacks
  std::span<const int64_t> operand_batching_dims;
  std::span<const int64_t> indices_batching_dims;
  std::string_view index_map_name;
  std::string_view window_dims_name;
  std::string_view removed_dims_name;
  std::string_view operand_batching_name;
  std::string_view indices_batching_name;
};

Status check_ascending(const Site& site, std::string_view what, std::span<const int64_t> dimensions) {
  if (std::is_sorted(dimensions.begin(), dimensions.end())) return {};
  return site.bad("{} must be ascending", what);
}

// Everything but the sizes of windows. `outer_rank` is the rank of the result (gather) or updates (scatter).
// Gives the operand dimensions that the window lacks.
Result<DimensionSet> check_indexed_windows(const Site& site, const IndexedWindows& of, const Shape& operand,
                                           size_t outer_rank) {
  if (of.window_dims.size() + of.removed_dims.size() + of.operand_batching_dims.size() != operand.rank())
    return site.bad("{}, {} and {} cover {} dimensions, expected the {} of {}", of.window_dims_name,
                    of.removed_dims_name, of.operand_batching_name,
                    of.window_dims.size() + of.removed_dims.size() + of.operand_batching_dims.size(), operand.rank(),
                    text(operand));
  SAPPER_CHECKED(dimension_set(site, of.window_dims_name, of.window_dims, outer_rank));
  SAPPER_CHECKED(check_ascending(site, of.window_dims_name, of.window_dims));

  DimensionSet lacking(operand.rank());
  SAPPER_CHECKED(add_dimensions(site, of.removed_dims_name, of.removed_dims, operand.rank(), &lacking));
  SAPPER_CHECKED(check_ascending(site, of.removed_dims_name, of.removed_dims));
  SAPPER_CHECKED(add_dimensions(site, of.operand_batching_name, of.operand_batching_dims, operand.rank(), &lacking));
  SAPPER_CHECKED(check_ascending(site, of.operand_batching_name, of.operand_batching_dims));

  const bool implicit = of.index_vector_dim == static_cast<int64_t>(of.indices.rank());
  const int64_t components = implicit ? 1 : of.indices.dimension(static_cast<size_t>(of.index_vector_dim));
  if (static_cast<int64_t>(of.index_map.size()) != components)
    return site.bad("{} has {} dimensions but index vectors of {} have {} components", of.index_map_name,
                    of.index_map.size(), text(of.indices), components);
  DimensionSet indexed(operand.rank());
  SAPPER_CHECKED(add_dimensions(site, of.index_map_name, of.index_map, operand.rank(), &indexed));
  for (const int64_t dimension : of.operand_batching_dims)
    if (indexed.contains(dimension))
      return site.bad("dimension {} is both in {} and in {}", dimension, of.index_map_name, of.operand_batching_name);

  SAPPER_CHECKED(dimension_set(site, of.indices_batching_name, of.indices_batching_dims, of.indices.rank()));
  if (of.operand_batching_dims.size() != of.indices_batching_dims.size())
    return site.bad("{} and {} differ in number", of.operand_batching_name, of.indices_batching_name);
  for (size_t i = 0; i < of.operand_batching_dims.size(); ++i) {
    const int64_t batch = of.indices_batching_dims[i];
    if (batch == of.index_vector_dim) return site.bad("{} has the index vector dimension", of.indices_batching_name);
    if (operand.dimension(static_cast<size_t>(of.operand_batching_dims[i])) !=
        of.indices.dimension(static_cast<size_t>(batch)))
      return site.bad("batching dimensions {} of {} and {} of {} differ in size", of.operand_batching_dims[i],
                      text(operand), batch, text(of.indices));
  }
  return lacking;
}

Status check_indices(const Site& site, const Shape& indices, int64_t index_vector_dim) {
  if (!indices.is_array() || !is_integer(indices.element_type()))
    return site.bad("indices are {}, expected integers", text(indices));
  if (index_vector_dim < 0 || index_vector_dim > static_cast<int64_t>(indices.rank()))
    return site.bad("index_vector_dim {} is out of range for indices {}", index_vector_dim, text(indices));
  return {};
}

// Rank of the indices without their index vector.
size_t batch_rank(const Shape& indices, int64_t index_vector_dim) {
  return indices.rank() - (index_vector_dim < static_cast<int64_t>(indices.rank()) ? 1 : 0);
}

}  // namespace

Result<Inferred> infer_gather(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const Shape& indices = site.operand(1);
  const auto& numbers = site.attributes().gather_dimension_numbers();
  const int64_t vector_dim = numbers.index_vector_dim();
  SAPPER_CHECKED(check_indices(site, indices, vector_dim));
  const IndexedWindows windows = {.indices = indices,
                                  .index_vector_dim = vector_dim,
                                  .index_map = span_of(numbers.start_index_map()),
                                  .window_dims = span_of(numbers.offset_dims()),
                                  .removed_dims = span_of(numbers.collapsed_slice_dims()),
                                  .operand_batching_dims = span_of(numbers.operand_batching_dims()),
                                  .indices_batching_dims = span_of(numbers.start_indices_batching_dims()),
                                  .index_map_name = "start_index_map",
                                  .window_dims_name = "offset_dims",
                                  .removed_dims_name = "collapsed_slice_dims",
                                  .operand_batching_name = "operand_batching_dims",
                                  .indices_batching_name = "start_indices_batching_dims"};
  const size_t result_rank = windows.window_dims.size() + batch_rank(indices, vector_dim);
  SAPPER_TRY(const DimensionSet lacking, check_indexed_windows(site, windows, operand, result_rank));

  const auto sizes = span_of(site.attributes().gather_slice_sizes());
  if (sizes.size() != operand.rank())
    return site.bad("{} slice sizes, expected one for each dimension of {}", sizes.size(), text(operand));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > operand.dimension(i))
      return site.bad("slice size {} of dimension {} is out of range for {}", sizes[i], i, text(operand));
    if (lacking.contains(static_cast<int64_t>(i)) && sizes[i] > 1)
      return site.bad("slice size {} of collapsed or batching dimension {}, expected at most 1", sizes[i], i);
  }

  ShapeBuilder builder(site.stated(), operand.element_type());
  size_t next_window = 0;
  size_t next_batch = 0;
  size_t next_operand = 0;
  for (size_t i = 0; i < result_rank; ++i) {
    if (next_window < windows.window_dims.size() && windows.window_dims[next_window] == static_cast<int64_t>(i)) {
      while (lacking.contains(static_cast<int64_t>(next_operand))) ++next_operand;
      const bool whole = sizes[next_operand] == operand.dimension(next_operand);
      builder.add(sizes[next_operand], whole && operand.is_dynamic(next_operand));
      ++next_operand;
      ++next_window;
    } else {
      if (static_cast<int64_t>(next_batch) == vector_dim) ++next_batch;
      builder.add(indices.dimension(next_batch), indices.is_dynamic(next_batch));
      ++next_batch;
    }
  }
  return builder.finish();
}

Result<Inferred> infer_scatter(const Site& site) {
  if (site.operand_count() % 2 == 0)
    return site.bad("{} operands, expected n arrays, indices and n updates", site.operand_count());
  SAPPER_CHECKED(expect_arrays(site));
  const size_t count = site.operand_count() / 2;
  const Shape& indices = site.operand(count);
  const auto& numbers = site.attributes().scatter_dimension_numbers();
  const int64_t vector_dim = numbers.index_vector_dim();
  SAPPER_CHECKED(check_indices(site, indices, vector_dim));
  const IndexedWindows windows = {.indices = indices,
                                  .index_vector_dim = vector_dim,
                                  .index_map = span_of(numbers.scatter_dims_to_operand_dims()),
                                  .window_dims = span_of(numbers.update_window_dims()),
                                  .removed_dims = span_of(numbers.inserted_window_dims()),
                                  .operand_batching_dims = span_of(numbers.input_batching_dims()),
                                  .indices_batching_dims = span_of(numbers.scatter_indices_batching_dims()),
                                  .index_map_name = "scatter_dims_to_operand_dims",
                                  .window_dims_name = "update_window_dims",
                                  .removed_dims_name = "inserted_window_dims",
                                  .operand_batching_name = "input_batching_dims",
                                  .indices_batching_name = "scatter_indices_batching_dims"};
  const size_t updates_rank = windows.window_dims.size() + batch_rank(indices, vector_dim);
  for (size_t k = 0; k < count; ++k) {
    const Shape& operand = site.operand(k);
    const Shape& updates = site.operand(count + 1 + k);
    if (operand.dimensions() != site.operand(0).dimensions() ||
        updates.dimensions() != site.operand(count + 1).dimensions())
      return site.bad("operands or updates {} and {} differ in dimensions", 0, k);
    if (k > 0) continue;  // the same numbers hold for the same dimensions
    if (updates.rank() != updates_rank)
      return site.bad("updates are {}, expected {} dimensions", text(updates), updates_rank);
    SAPPER_TRY(const DimensionSet lacking, check_indexed_windows(site, windows, operand, updates_rank));
    size_t next_window = 0;
    size_t next_batch = 0;
    size_t next_operand = 0;
    for (size_t i = 0; i < updates_rank; ++i) {
      if (next_window < windows.window_dims.size() && windows.window_dims[next_window] == static_cast<int64_t>(i)) {
        while (lacking.contains(static_cast<int64_t>(next_operand))) ++next_operand;
        if (updates.dimension(i) > operand.dimension(next_operand))
          return site.bad("window dimension {} of updates {} is larger than dimension {} of {}", i, text(updates),
                          next_operand, text(operand));
        ++next_operand;
        ++next_window;
      } else {
        if (static_cast<int64_t>(next_batch) == vector_dim) ++next_batch;
        if (updates.dimension(i) != indices.dimension(next_batch))
          return site.bad("dimension {} of updates {} and dimension {} of indices {} differ", i, text(updates),
                          next_batch, text(indices));
        ++next_batch;
      }
    }
  }
  SAPPER_CHECKED(check_reducer(site, 0, count, /*first_input=*/count + 1, /*first_accumulator=*/0));
  if (count == 1) return site.operand(0);
  return tuple_of(site.stated(), count, [&](size_t i) { return Inferred(site.operand(i)); });
}

}  // namespace sapper::hlo::verifier
