#include "hlo/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace sapper::hlo {
namespace {

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

std::string tile_text(const Tile& tile) {
  std::string text = "(";
  for (size_t i = 0; i < tile.dimensions.size(); ++i) {
    if (i > 0) text += ',';
    text += tile.dimensions[i] == Tile::combine ? "*" : std::to_string(tile.dimensions[i]);
  }
  return text + ")";
}

// D(..): the level types of dimensions, each with + when not unique and ~ when not ordered.
std::string level_types_text(const Layout& layout) {
  // D dense, C compressed, S singleton, H loose compressed, in the order of the wire's numbers.
  constexpr std::string_view letters = "DCSH";
  std::string text = "D(";
  for (size_t i = 0; i < layout.dim_level_types.size(); ++i) {
    if (i > 0) text += ',';
    text += letters[static_cast<size_t>(std::clamp(layout.dim_level_types[i], 0, 3))];
    if (i < layout.dim_unique.size() && !layout.dim_unique[i]) text += '+';
    if (i < layout.dim_ordered.size() && !layout.dim_ordered[i]) text += '~';
  }
  return text + ")";
}

}  // namespace

Layout Layout::descending(size_t rank) {
  Layout layout;
  layout.minor_to_major.resize(rank);
  for (size_t i = 0; i < rank; ++i) layout.minor_to_major[i] = static_cast<int64_t>(rank - 1 - i);
  return layout;
}

std::string Layout::to_text() const {
  std::string suffix;
  if (!dim_level_types.empty()) suffix += level_types_text(*this);
  if (!tiles.empty()) {
    suffix += 'T';
    for (const Tile& tile : tiles) suffix += tile_text(tile);
  }
  if (tail_padding_alignment_in_elements != 1) suffix += fmt::format("L({})", tail_padding_alignment_in_elements);
  if (index_primitive_type != ElementType::Invalid) suffix += fmt::format("#({})", to_string(index_primitive_type));
  if (pointer_primitive_type != ElementType::Invalid) suffix += fmt::format("*({})", to_string(pointer_primitive_type));
  if (element_size_in_bits != 0) suffix += fmt::format("E({})", element_size_in_bits);
  if (memory_space != 0) suffix += fmt::format("S({})", memory_space);
  if (!split_configs.empty()) {
    suffix += "SC";
    for (const SplitConfig& split : split_configs)
      suffix += fmt::format("({}:{})", split.dimension, fmt::join(split.split_indices, ","));
  }
  if (physical_shape) suffix += fmt::format("P({})", physical_shape->to_text());
  if (dynamic_shape_metadata_prefix_bytes != 0) suffix += fmt::format("M({})", dynamic_shape_metadata_prefix_bytes);
  return fmt::format("{{{}{}{}}}", fmt::join(minor_to_major, ","), suffix.empty() ? "" : ":", suffix);
}

bool Layout::operator==(const Layout& other) const {
  const bool same_physical = physical_shape == other.physical_shape ||
                             (physical_shape && other.physical_shape && *physical_shape == *other.physical_shape);
  return same_physical && minor_to_major == other.minor_to_major && tiles == other.tiles &&
         element_size_in_bits == other.element_size_in_bits && memory_space == other.memory_space &&
         tail_padding_alignment_in_elements == other.tail_padding_alignment_in_elements &&
         index_primitive_type == other.index_primitive_type && pointer_primitive_type == other.pointer_primitive_type &&
         dim_level_types == other.dim_level_types && dim_unique == other.dim_unique &&
         dim_ordered == other.dim_ordered && split_configs == other.split_configs &&
         dynamic_shape_metadata_prefix_bytes == other.dynamic_shape_metadata_prefix_bytes &&
         unknown_fields == other.unknown_fields;
}

Shape::Shape() {
  static const auto invalid = std::make_shared<const Data>();
  data_ = invalid;
}

Shape Shape::array(ElementType type, std::vector<int64_t> dimensions) {
  return array(type, std::move(dimensions), {}, nullptr);
}

Shape Shape::array(ElementType type, std::vector<int64_t> dimensions, std::vector<bool> dynamic,
                   std::shared_ptr<const Layout> layout) {
  SAPPER_ASSERT(is_array_type(type));
  SAPPER_ASSERT(dynamic.empty() || dynamic.size() == dimensions.size());
  if (std::find(dynamic.begin(), dynamic.end(), true) == dynamic.end()) dynamic.clear();
  return Shape(
      std::make_shared<const Data>(Data{type, std::move(dimensions), std::move(dynamic), std::move(layout), {}}));
}

Shape Shape::tuple(std::vector<Shape> elements) {
  return Shape(std::make_shared<const Data>(Data{ElementType::Tuple, {}, {}, nullptr, std::move(elements)}));
}

Shape Shape::token() {
  static const Shape shape(std::make_shared<const Data>(Data{ElementType::Token, {}, {}, nullptr, {}}));
  return shape;
}

Shape Shape::opaque() {
  static const Shape shape(std::make_shared<const Data>(Data{ElementType::Opaque, {}, {}, nullptr, {}}));
  return shape;
}

Shape Shape::buffer(Shape of) {
  return Shape(std::make_shared<const Data>(Data{ElementType::Buffer, {}, {}, nullptr, {std::move(of)}}));
}

bool Shape::is_dynamic() const {
  if (!data_->dynamic.empty()) return true;
  return std::any_of(elements().begin(), elements().end(), [](const Shape& element) { return element.is_dynamic(); });
}

int64_t element_count(std::span<const int64_t> dimensions) {
  int64_t count = 1;
  for (const int64_t dimension : dimensions) {
    if (dimension == 0) return 0;
    count = saturating_multiply(count, dimension);
  }
  return count;
}

int64_t Shape::element_count() const { return is_array() ? hlo::element_count(dimensions()) : 0; }

int64_t Shape::host_byte_size() const {
  if (is_array()) return saturating_multiply(element_count(), host_bytes(element_type()));
  int64_t total = 0;
  for (const Shape& element : elements()) total = saturating_add(total, element.host_byte_size());
  return total;
}

Shape Shape::with_layout(std::shared_ptr<const Layout> layout) const {
  Data data = *data_;
  data.layout = std::move(layout);
  return Shape(std::make_shared<const Data>(std::move(data)));
}

Shape Shape::without_layout() const {
  bool bare = !data_->layout;
  std::vector<Shape> bare_elements;
  bare_elements.reserve(elements().size());
  for (const Shape& element : elements()) {
    const Shape& stripped = bare_elements.emplace_back(element.without_layout());
    bare = bare && stripped.data_ == element.data_;
  }
  if (bare) return *this;
  Data data = *data_;
  data.layout = nullptr;
  data.elements = std::move(bare_elements);
  return Shape(std::make_shared<const Data>(std::move(data)));
}

Shape Shape::with_element_type(ElementType type) const {
  Data data = *data_;
  data.type = type;
  return Shape(std::make_shared<const Data>(std::move(data)));
}

std::string Shape::to_text(bool with_layout) const {
  if (is_tuple()) {
    std::string text = "(";
    for (size_t i = 0; i < elements().size(); ++i) {
      if (i > 0) text += ", ";
      if (i > 0 && i % 5 == 0) text += fmt::format("/*index={}*/", i);
      text += elements()[i].to_text(with_layout);
    }
    return text + ")";
  }
  if (element_type() == ElementType::Buffer) return fmt::format("b({})", elements()[0].to_text(with_layout));
  std::string text(to_string(element_type()));
  text += '[';
  for (size_t i = 0; i < rank(); ++i) {
    if (i > 0) text += ',';
    if (dimension(i) == unbounded) {
      text += '?';
    } else {
      text += fmt::format("{}{}", is_dynamic(i) ? "<=" : "", dimension(i));
    }
  }
  text += ']';
  // XLA leaves out the layout of a scalar that says nothing.
  if (with_layout && layout() != nullptr && !(rank() == 0 && *layout() == Layout{})) text += layout()->to_text();
  return text;
}

bool Shape::operator==(const Shape& other) const {
  if (data_ == other.data_) return true;
  const bool same_layout = data_->layout == other.data_->layout ||
                           (layout() != nullptr && other.layout() != nullptr && *layout() == *other.layout());
  return same_layout && data_->type == other.data_->type && data_->dimensions == other.data_->dimensions &&
         data_->dynamic == other.data_->dynamic && data_->elements == other.data_->elements;
}

bool Shape::same_ignoring_layout(const Shape& other) const {
  if (data_ == other.data_) return true;
  return data_->type == other.data_->type && data_->dimensions == other.data_->dimensions &&
         data_->dynamic == other.data_->dynamic &&
         std::equal(elements().begin(), elements().end(), other.elements().begin(), other.elements().end(),
                    [](const Shape& a, const Shape& b) { return a.same_ignoring_layout(b); });
}

bool Shape::same_dimensions(const Shape& other) const {
  if (data_ == other.data_) return true;
  return is_tuple() == other.is_tuple() && data_->dimensions == other.data_->dimensions &&
         std::equal(elements().begin(), elements().end(), other.elements().begin(), other.elements().end(),
                    [](const Shape& a, const Shape& b) { return a.same_dimensions(b); });
}

uint32_t leaf_count(const Shape& shape) {
  uint32_t count = 0;
  for_each_leaf(shape, [&](const Shape&) { ++count; });
  return count;
}

}  // namespace sapper::hlo
