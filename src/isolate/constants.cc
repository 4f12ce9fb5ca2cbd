#include "isolate/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace sapper::isolate {
namespace {

using hlo::Literal;

// A mask holds few distinct values: both truths, zero and minus infinity, three levels.
constexpr size_t most_mask_values = 4;

size_t element_bytes(const Literal& literal) {
  return static_cast<size_t>(hlo::host_bytes(literal.shape().element_type()));
}

// The number of distinct elements, up to one more than make a mask.
size_t distinct_values(const Literal& literal) {
  const size_t size = element_bytes(literal);
  const std::span<const std::byte> bytes = literal.bytes();
  std::array<const std::byte*, most_mask_values> seen{};
  size_t count = 0;
  for (const std::byte* at = bytes.data(); at != bytes.data() + bytes.size(); at += size) {
    const auto same = [&](const std::byte* other) { return std::memcmp(at, other, size) == 0; };
    if (std::any_of(seen.begin(), seen.begin() + static_cast<ptrdiff_t>(count), same)) continue;
    if (count == most_mask_values) return most_mask_values + 1;
    seen[count++] = at;
  }
  return count;
}

// Whether the elements are integers that count up or down in equal steps along one dimension and do not depend on the
// others, or count through the whole array.
bool is_index_pattern(const Literal& literal) {
  const hlo::Shape& shape = literal.shape();
  if (!hlo::is_integer(shape.element_type())) return false;
  const int64_t count = literal.element_count();
  const auto steps_by = [&](int64_t stride, int64_t extent) {
    const int64_t first = literal.integer_at(0);
    const int64_t step = literal.integer_at(stride) - first;
    for (int64_t i = 0; i < count; ++i)
      if (literal.integer_at(i) != first + step * (i / stride % extent)) return false;
    return true;
  };
  if (steps_by(1, count)) return true;
  int64_t stride = 1;
  for (size_t d = shape.rank(); d-- > 0; stride *= shape.dimension(d))
    if (shape.dimension(d) > 1 && steps_by(stride, shape.dimension(d))) return true;
  return false;
}

ConstantFate decide(const Literal& literal, int64_t largest_bytes) {
  if (!literal.shape().is_array()) return ConstantFate::Kept;
  if (literal.shape().host_byte_size() <= largest_bytes) return ConstantFate::Kept;
  const size_t values = distinct_values(literal);
  if (values == 1 && literal.dynamic_sizes().empty()) return ConstantFate::Splat;
  return values <= most_mask_values || is_index_pattern(literal) ? ConstantFate::Kept : ConstantFate::Parameter;
}

}  // namespace

ConstantFate ConstantFates::of(const hlo::Instruction& constant) {
  if (constant.literal == nullptr) return ConstantFate::Parameter;
  const auto [at, is_new] = known_.try_emplace(constant.literal.get());
  if (is_new) at->second = decide(*constant.literal, largest_bytes_);
  return at->second;
}

Literal splat_value(const Literal& literal) {
  Literal value = Literal::uninitialized(hlo::Shape::scalar(literal.shape().element_type()));
  std::ranges::copy(literal.bytes().first(element_bytes(literal)), value.mutable_bytes().begin());
  return value;
}

ConstantStatistics statistics(const Literal& literal) {
  ConstantStatistics out;
  const bool is_complex = hlo::is_complex(literal.shape().element_type());
  int64_t finite = 0;
  double mean = 0;
  double squares = 0;  // sum of squared deviations from the mean so far
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const double value = is_complex ? std::abs(literal.complex_at(i)) : literal.real_at(i);
    if (!std::isfinite(value)) {
      ++out.non_finite;
      continue;
    }
    out.min = finite == 0 ? value : std::min(out.min, value);
    out.max = finite == 0 ? value : std::max(out.max, value);
    ++finite;
    const double deviation = value - mean;
    mean += deviation / static_cast<double>(finite);
    squares += deviation * (value - mean);
  }
  out.mean = mean;
  out.stddev = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
  return out;
}

}  // namespace sapper::isolate
