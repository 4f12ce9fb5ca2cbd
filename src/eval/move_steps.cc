// Steps that move elements: pad, concatenate, dynamic-slice, dynamic-update-slice, and bitcast-convert between sizes.
#include <algorithm>
#include <cstring>

#include "eval/execution.h"
#include "eval/index_space.h"
#include "eval/strided_copy.h"

namespace sapper::eval {
namespace {

using hlo::Shape;

// The region of `array` that starts at offset elements and has the dimensions of `part`, as strides over both.
std::vector<CopyDim> region(const Shape& array, const Shape& part, bool into_array) {
  const View outer = View::of(array.dimensions());
  const View inner = View::of(part.dimensions());
  std::vector<CopyDim> dims;
  for (size_t d = 0; d < part.rank(); ++d) {
    const int64_t in_array = outer.dims[d].stride;
    const int64_t in_part = inner.dims[d].stride;
    dims.push_back({part.dimension(d), into_array ? in_part : in_array, into_array ? in_array : in_part});
  }
  return dims;
}

// Elements [first, first + count) of a padded dimension are inside the result, the first at `position`, `step` apart.
struct ElementRange {
  int64_t first = 0;
  int64_t count = 0;
  int64_t position = 0;
  int64_t step = 1;
};

ElementRange elements_inside(int64_t size, int64_t result_size, int64_t low, int64_t interior) {
  ElementRange range;
  if (size > 1) range.step = interior + 1;  // a single element may have any interior padding
  if (low < 0) range.first = -(low + 1) / range.step + 1;
  int64_t room = 0;  // element i is at low + i * step, which is in front of the end when i * step <= room
  if (__builtin_sub_overflow(result_size - 1, low, &room)) room = INT64_MAX;
  const int64_t last = room < 0 ? -1 : std::min(size - 1, room / range.step);
  range.count = std::max<int64_t>(0, last - range.first + 1);
  if (range.count > 0) range.position = low + range.first * range.step;
  return range;
}

// The bits of an array's elements in a row.
class BitReader {
 public:
  BitReader(const std::byte* array, int element_bits) : at_(array), valid_bits_(std::min(8, element_bits)) {}

  // The next `bits`, at most 8.
  unsigned take(int bits) {
    while (pending_bits_ < bits) {
      pending_ |= (std::to_integer<unsigned>(*at_++) & ((1U << valid_bits_) - 1)) << pending_bits_;
      pending_bits_ += valid_bits_;
    }
    const unsigned taken = pending_ & ((1U << bits) - 1);
    pending_ >>= bits;
    pending_bits_ -= bits;
    return taken;
  }

 private:
  const std::byte* at_;
  int valid_bits_;  // of each byte in memory
  unsigned pending_ = 0;
  int pending_bits_ = 0;
};

}  // namespace

// The offset in elements at which the slice of dimensions `part` starts: operands `first` on, or one vector, clamped so
// that all of it lies inside.
int64_t Execution::start_offset(const Site& site, size_t first, const Shape& array, const Shape& part) const {
  const View strides = View::of(array.dimensions());
  const bool as_vector = site.operand(std::min(first, site.instruction().operands.size() - 1)).shape.rank() == 1;
  int64_t offset = 0;
  for (size_t d = 0; d < array.rank(); ++d) {
    const size_t k = as_vector ? first : first + d;
    const int64_t start =
        IndexReader(site.data(k), site.operand(k).shape.element_type())[as_vector ? static_cast<int64_t>(d) : 0];
    offset += std::clamp<int64_t>(start, 0, array.dimension(d) - part.dimension(d)) * strides.dims[d].stride;
  }
  return offset;
}

Status Execution::run(const Site& site, const DynamicSliceStep&) {
  const Shape& array = site.operand(0).shape;
  const Shape& part = site.instruction().shape;
  const int bytes = hlo::host_bytes(part.element_type());
  const int64_t offset = start_offset(site, 1, array, part);
  SAPPER_TRY(std::byte * result, allocate_output(site));
  strided_copy(region(array, part, false), site.data(0) + offset * bytes, result, bytes);
  return {};
}

Status Execution::run(const Site& site, const DynamicUpdateSliceStep&) {
  const Shape& array = site.operand(0).shape;
  const Shape& part = site.operand(1).shape;
  const int bytes = hlo::host_bytes(part.element_type());
  const int64_t offset = start_offset(site, 2, array, part);
  const std::byte* const update = site.data(1);
  const std::byte* const original = site.data(0);
  auto sizes = site.frame[site.step.operands[0].slot].dynamic_sizes;
  Buffer result = take_if_sole(site, 0);
  if (!result) {
    SAPPER_TRY(result, allocate(site, array.host_byte_size()));
    strided_copy({{array.element_count(), 1, 1}}, original, result->data(), bytes);
  }
  strided_copy(region(array, part, true), update, result->data() + offset * bytes, bytes);
  set_output(site, 0, {std::move(result), std::move(sizes)});
  return {};
}

Status Execution::run(const Site& site, const ScatterStep&) {
  SAPPER_CHECKED(check_room(site, site.instruction().shape.host_byte_size()));
  const size_t count = site.step.operands.size() / 2;
  std::vector<hlo::Literal> results;
  std::vector<hlo::Literal> indices_and_updates;
  for (size_t k = 0; k < site.step.operands.size(); ++k) {
    const Value& value = site.frame[site.step.operands[k].slot];
    Buffer bytes = k < count ? take_if_sole(site, k) : nullptr;  // an array that dies here is written over
    if (bytes) pool_.disown(bytes);
    hlo::Literal operand = hlo::Literal::over(site.operand(k).shape, bytes ? bytes : value.bytes);
    if (value.dynamic_sizes) operand.set_dynamic_sizes(*value.dynamic_sizes);
    (k < count ? results : indices_and_updates).push_back(std::move(operand));
  }
  SAPPER_TRY(hlo::Literal result, scatter(op_context(site), std::move(results), indices_and_updates));
  return set_result(site, std::move(result));
}

Status Execution::run(const Site& site, const PadStep&) {
  const Shape& array = site.operand(0).shape;
  const Shape& shape = site.instruction().shape;
  const int bytes = hlo::host_bytes(shape.element_type());
  const auto& config = site.instruction().attributes().padding_config();
  SAPPER_TRY(std::byte * result, allocate_output(site));
  strided_copy({{shape.element_count(), 0, 1}}, site.data(1), result, bytes);
  const View from = View::of(array.dimensions());
  const View to = View::of(shape.dimensions());
  std::vector<CopyDim> dims;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  for (size_t d = 0; d < array.rank(); ++d) {
    const auto& padding = config.dimensions(static_cast<int>(d));
    const ElementRange range =
        elements_inside(array.dimension(d), shape.dimension(d), padding.edge_padding_low(), padding.interior_padding());
    if (range.count == 0) return {};
    from_offset += range.first * from.dims[d].stride;
    to_offset += range.position * to.dims[d].stride;
    dims.push_back({range.count, from.dims[d].stride, to.dims[d].stride * range.step});
  }
  strided_copy(std::move(dims), site.data(0) + from_offset * bytes, result + to_offset * bytes, bytes);
  return {};
}

Status Execution::run(const Site& site, const ConcatenateStep&) {
  const Shape& shape = site.instruction().shape;
  const auto dimension = static_cast<size_t>(site.instruction().dimensions[0]);
  const int bytes = hlo::host_bytes(shape.element_type());
  const int64_t stride = View::of(shape.dimensions()).dims[dimension].stride;
  SAPPER_TRY(std::byte * result, allocate_output(site));
  int64_t position = 0;
  for (size_t k = 0; k < site.instruction().operands.size(); ++k) {
    const Shape& part = site.operand(k).shape;
    strided_copy(region(shape, part, true), site.data(k), result + position * stride * bytes, bytes);
    position += part.dimension(dimension);
  }
  return {};
}

// bitcast-convert that is not a mere renaming: the bits of all elements in a row, the first in the low bits, cut anew.
Status Execution::run(const Site& site, const RepackStep&) {
  const Shape& from = site.operand(0).shape;
  const Shape& to = site.instruction().shape;
  const int from_bits = hlo::bit_width(from.element_type());
  const int to_bits = hlo::bit_width(to.element_type());
  if (from_bits % 8 == 0 && to_bits % 8 == 0 && to.element_type() != hlo::ElementType::Pred) {
    set_output(site, 0, site.frame[site.step.operands[0].slot]);
    return {};
  }
  SAPPER_TRY(std::byte * result, allocate_output(site));
  BitReader reader(site.data(0), from_bits);
  const int to_bytes = hlo::host_bytes(to.element_type());
  const bool extends_sign = hlo::element_class(to.element_type()) == hlo::ElementClass::Signed;
  for (int64_t i = 0; i < to.element_count(); ++i) {
    for (int byte = 0; byte < to_bytes; ++byte) {
      const int bits = std::min(8, to_bits - byte * 8);
      unsigned value = reader.take(bits);
      if (bits < 8 && extends_sign && (value >> (bits - 1) & 1) != 0) value |= 0xffU << bits;
      if (to.element_type() == hlo::ElementType::Pred) value = value != 0 ? 1 : 0;
      result[i * to_bytes + byte] = static_cast<std::byte>(value);
    }
  }
  return {};
}

}  // namespace sapper::eval
