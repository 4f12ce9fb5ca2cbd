// Shape: the type of an HLO value; Layout: how its elements lie in memory. A Shape is a cheap handle on immutable
// shared data: copying is a reference count, equality compares pointers first. Dimensions are in elements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/element_type.h"

namespace sapper::hlo {

class Shape;

// One level of tiling, T(8,128). A dimension of Tile::combine is written * and merges with the next more major one.
struct Tile {
  static constexpr int64_t combine = INT64_MIN;
  std::vector<int64_t> dimensions;
  bool operator==(const Tile&) const = default;
};

struct SplitConfig {
  int64_t dimension = 0;
  std::vector<int64_t> split_indices;
  bool operator==(const SplitConfig&) const = default;
};

// {minor_to_major:D(..)T(..)(..)L(..)#(..)*(..)E(..)S(..)SC(..)P(..)M(..)} of HLO text.
struct Layout {
  std::vector<int64_t> minor_to_major;
  std::vector<Tile> tiles;
  int64_t element_size_in_bits = 0;                           // E(n); 0: the type's own
  int64_t memory_space = 0;                                   // S(n); 0: HBM, 1: VMEM, ...
  int64_t tail_padding_alignment_in_elements = 1;             // L(n)
  ElementType index_primitive_type = ElementType::Invalid;    // #(u32)
  ElementType pointer_primitive_type = ElementType::Invalid;  // *(u32)
  std::vector<int> dim_level_types;                           // proto DimLevelType numbers, D(..)
  std::vector<bool> dim_unique;
  std::vector<bool> dim_ordered;
  std::vector<SplitConfig> split_configs;           // SC(..)
  std::shared_ptr<const Shape> physical_shape;      // P(..)
  int64_t dynamic_shape_metadata_prefix_bytes = 0;  // M(..)
  std::string unknown_fields;                       // proto fields this schema does not name, as wire bytes

  [[nodiscard]] static Layout descending(size_t rank);
  [[nodiscard]] std::string to_text() const;  // with braces
  bool operator==(const Layout& other) const;
};

class Shape {
 public:
  // The invalid shape.
  Shape();

  // An array; every dimension static unless `dynamic` says otherwise (then dimensions are upper bounds). An empty
  // `dynamic` means all static. A dimension of Shape::unbounded is written `?`.
  [[nodiscard]] static Shape array(ElementType type, std::vector<int64_t> dimensions);
  [[nodiscard]] static Shape array(ElementType type, std::vector<int64_t> dimensions, std::vector<bool> dynamic,
                                   std::shared_ptr<const Layout> layout);
  [[nodiscard]] static Shape scalar(ElementType type) { return array(type, {}); }
  [[nodiscard]] static Shape tuple(std::vector<Shape> elements);
  [[nodiscard]] static Shape token();
  [[nodiscard]] static Shape opaque();
  [[nodiscard]] static Shape buffer(Shape of);  // b(f32[4])

  static constexpr int64_t unbounded = INT64_MIN;

  [[nodiscard]] ElementType element_type() const { return data_->type; }
  [[nodiscard]] const std::vector<int64_t>& dimensions() const { return data_->dimensions; }
  [[nodiscard]] size_t rank() const { return data_->dimensions.size(); }
  [[nodiscard]] int64_t dimension(size_t i) const { return data_->dimensions[i]; }
  [[nodiscard]] bool is_dynamic(size_t i) const { return !data_->dynamic.empty() && data_->dynamic[i]; }
  [[nodiscard]] bool is_dynamic() const;                                      // some dimension of some leaf is
  [[nodiscard]] const Layout* layout() const { return data_->layout.get(); }  // null: none stated
  [[nodiscard]] const std::shared_ptr<const Layout>& shared_layout() const { return data_->layout; }
  [[nodiscard]] const std::vector<Shape>& elements() const { return data_->elements; }  // of a tuple (or buffer: one)

  [[nodiscard]] bool is_array() const { return is_array_type(data_->type); }
  [[nodiscard]] bool is_tuple() const { return data_->type == ElementType::Tuple; }
  [[nodiscard]] bool is_token() const { return data_->type == ElementType::Token; }
  [[nodiscard]] bool is_valid() const { return data_->type != ElementType::Invalid; }
  [[nodiscard]] bool is_scalar() const { return is_array() && rank() == 0; }

  // Number of elements of an array (0 for others); tuples are not summed. Saturates at INT64_MAX.
  [[nodiscard]] int64_t element_count() const;
  // Bytes of all leaves as a Literal stores them. Saturates at INT64_MAX.
  [[nodiscard]] int64_t host_byte_size() const;

  [[nodiscard]] Shape with_layout(std::shared_ptr<const Layout> layout) const;
  [[nodiscard]] Shape without_layout() const;  // recursively
  [[nodiscard]] Shape with_element_type(ElementType type) const;

  // HLO text: f32[2,<=3]{1,0:T(8,128)}, (f32[], token[]); without layouts when with_layout is false.
  [[nodiscard]] std::string to_text(bool with_layout = true) const;

  // Exact equality, layouts included.
  bool operator==(const Shape& other) const;
  // Equal element types, dimensions, dynamism and tuple structure, whatever the layouts.
  [[nodiscard]] bool same_ignoring_layout(const Shape& other) const;
  // Equal dimensions and tuple structure, whatever types and layouts.
  [[nodiscard]] bool same_dimensions(const Shape& other) const;

 private:
  struct Data {
    ElementType type = ElementType::Invalid;
    std::vector<int64_t> dimensions;
    std::vector<bool> dynamic;  // empty: all static
    std::shared_ptr<const Layout> layout;
    std::vector<Shape> elements;
  };
  explicit Shape(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

// The number of arrays and tokens that a value of `shape` is made of.
[[nodiscard]] uint32_t leaf_count(const Shape& shape);

// Calls visit(shape) for each of them, in tuple order.
template <class Visit>
void for_each_leaf(const Shape& shape, Visit&& visit) {
  if (!shape.is_tuple()) return visit(shape);
  for (const Shape& element : shape.elements()) for_each_leaf(element, visit);
}

// Product of `dimensions`, saturating at INT64_MAX.
[[nodiscard]] int64_t element_count(std::span<const int64_t> dimensions);

}  // namespace sapper::hlo
