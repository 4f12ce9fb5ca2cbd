#include "inspect/packed_tensor.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "hlo/element_type.h"

namespace sapper::inspect {
namespace {

double value_at(const hlo::Literal& array, int64_t i) {
  return hlo::is_complex(array.shape().element_type()) ? std::abs(array.complex_at(i)) : array.real_at(i);
}

// How much more a difference is worth to be shown than another: none, finite ones, those that are no numbers.
double weight(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const double difference = std::abs(got - expected);
  return std::isfinite(difference) ? difference : HUGE_VAL;
}

// Blocks so large that there are at most `most`: the longest dimension in blocks is halved, again and again.
std::vector<int64_t> blocks_for(const std::vector<int64_t>& dimensions, int64_t most) {
  std::vector<int64_t> block(dimensions.size(), 1);
  const auto cells = [&](size_t d) { return (dimensions[d] + block[d] - 1) / block[d]; };
  const auto all = [&] {
    int64_t product = 1;
    for (size_t d = 0; d < dimensions.size(); ++d) product *= cells(d);
    return product;
  };
  while (all() > most) {
    size_t longest = 0;
    for (size_t d = 1; d < dimensions.size(); ++d)
      if (cells(d) > cells(longest)) longest = d;
    block[longest] *= 2;
  }
  return block;
}

}  // namespace

PackedTensor pack(const InspectedInstruction& item, int64_t most) {
  SAPPER_ASSERT(item.expected_value && item.got_value && most > 0);
  const hlo::Literal& expected = *item.expected_value;
  const hlo::Literal& got = *item.got_value;
  PackedTensor packed;
  packed.dimensions = expected.shape().dimensions();
  packed.block = blocks_for(packed.dimensions, most);
  int64_t count = 1;
  for (size_t d = 0; d < packed.dimensions.size(); ++d) {
    packed.cells.push_back((packed.dimensions[d] + packed.block[d] - 1) / packed.block[d]);
    count *= packed.cells.back();
  }
  packed.got.resize(static_cast<size_t>(count));
  packed.expected.resize(static_cast<size_t>(count));
  packed.seen.resize(static_cast<size_t>(count));
  const bool whole = count == expected.element_count();
  if (!whole) packed.element.resize(static_cast<size_t>(count));
  std::vector<double> shown(static_cast<size_t>(count), -1);  // the weight of the cell's element
  std::vector<int64_t> index(packed.dimensions.size(), 0);
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    size_t cell = 0;
    for (size_t d = 0; d < index.size(); ++d)
      cell = cell * static_cast<size_t>(packed.cells[d]) + static_cast<size_t>(index[d] / packed.block[d]);
    const bool seen = item.seen_elements.empty() || item.seen_elements[static_cast<size_t>(i)];
    const double is = value_at(got, i);
    const double should = value_at(expected, i);
    const double own = seen ? weight(is, should) : -0.5;
    if (own > shown[cell]) {
      shown[cell] = own;
      packed.got[cell] = static_cast<float>(is);
      packed.expected[cell] = static_cast<float>(should);
      packed.seen[cell] = seen;
      if (!whole) packed.element[cell] = static_cast<uint32_t>(i);
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < packed.dimensions[d]) break;
      index[d] = 0;
    }
  }
  return packed;
}

}  // namespace sapper::inspect
