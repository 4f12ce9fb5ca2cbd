#include "hlo/window_starts.h"

#include <algorithm>

namespace sapper::hlo {

std::vector<int64_t> last_gather_starts(const Instruction& gather, const Shape& operand) {
  std::vector<int64_t> last;
  for (const int64_t d : gather.attributes().gather_dimension_numbers().start_index_map())
    last.push_back(operand.dimension(static_cast<size_t>(d)) -
                   gather.attributes().gather_slice_sizes(static_cast<int>(d)));
  return last;
}

std::vector<int64_t> last_scatter_starts(const Instruction& scatter, const Shape& operand, const Shape& updates) {
  const auto& numbers = scatter.attributes().scatter_dimension_numbers();
  const auto is_among = [](const auto& dimensions, size_t d) {
    return std::ranges::find(dimensions, static_cast<int64_t>(d)) != dimensions.end();
  };
  std::vector<int64_t> window(operand.rank(), 1);
  int next = 0;
  for (size_t d = 0; d < operand.rank(); ++d) {
    if (is_among(numbers.inserted_window_dims(), d) || is_among(numbers.input_batching_dims(), d)) continue;
    if (next < numbers.update_window_dims_size())
      window[d] = updates.dimension(static_cast<size_t>(numbers.update_window_dims(next++)));
  }
  std::vector<int64_t> last;
  for (const int64_t d : numbers.scatter_dims_to_operand_dims())
    last.push_back(operand.dimension(static_cast<size_t>(d)) - window[static_cast<size_t>(d)]);
  return last;
}

}  // namespace sapper::hlo
