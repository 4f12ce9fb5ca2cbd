// Shape and Layout to and from their wire form.
#include <algorithm>

#include "hlo/proto.h"
#include "hlo/shape_limits.h"

namespace sapper::hlo {
namespace {

Result<Shape> shape_from_proto(const proto::ShapeProto& in, int depth);

Result<ElementType> element_type_from_proto(int number) {
  const auto type = static_cast<ElementType>(number);
  if (number < 0 || number > static_cast<int>(ElementType::Buffer))
    return fail(ErrorKind::BadInput, "element type number {} is unknown", number);
  return type;
}

bool is_permutation(const google::protobuf::RepeatedField<int64_t>& order) {
  std::vector<bool> seen(static_cast<size_t>(order.size()));
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= order.size() || seen[static_cast<size_t>(dimension)]) return false;
    seen[static_cast<size_t>(dimension)] = true;
  }
  return true;
}

Result<Layout> layout_from_proto(const proto::LayoutProto& in, size_t rank, int depth) {
  if (static_cast<size_t>(in.minor_to_major_size()) != rank || !is_permutation(in.minor_to_major()))
    return fail(ErrorKind::BadInput, "the layout's minor_to_major is not a permutation of the {} dimensions", rank);
  Layout layout;
  layout.minor_to_major.assign(in.minor_to_major().begin(), in.minor_to_major().end());
  for (const proto::TileProto& tile : in.tiles())
    layout.tiles.push_back({{tile.dimensions().begin(), tile.dimensions().end()}});
  layout.element_size_in_bits = in.element_size_in_bits();
  layout.memory_space = in.memory_space();
  // The wire's default 0 says nothing; XLA reads it as 1.
  layout.tail_padding_alignment_in_elements = std::max<int64_t>(in.tail_padding_alignment_in_elements(), 1);
  SAPPER_TRY(layout.index_primitive_type, element_type_from_proto(in.index_primitive_type()));
  SAPPER_TRY(layout.pointer_primitive_type, element_type_from_proto(in.pointer_primitive_type()));
  layout.dim_level_types.assign(in.dim_level_types().begin(), in.dim_level_types().end());
  layout.dim_unique.assign(in.dim_unique().begin(), in.dim_unique().end());
  layout.dim_ordered.assign(in.dim_ordered().begin(), in.dim_ordered().end());
  for (const proto::SplitConfigProto& split : in.split_configs())
    layout.split_configs.push_back({split.dimension(), {split.split_indices().begin(), split.split_indices().end()}});
  if (in.has_physical_shape()) {
    SAPPER_TRY(Shape physical, shape_from_proto(in.physical_shape(), depth + 1));
    layout.physical_shape = std::make_shared<const Shape>(std::move(physical));
  }
  layout.dynamic_shape_metadata_prefix_bytes = in.dynamic_shape_metadata_prefix_bytes();
  const auto& unknown = proto::LayoutProto::GetReflection()->GetUnknownFields(in);
  if (!unknown.empty() && !unknown.SerializeToString(&layout.unknown_fields))
    return fail(ErrorKind::Internal, "cannot serialize the unknown fields of a layout");
  return layout;
}

void layout_to_proto(const Layout& layout, proto::LayoutProto* out) {
  out->mutable_minor_to_major()->Add(layout.minor_to_major.begin(), layout.minor_to_major.end());
  for (const Tile& tile : layout.tiles)
    out->add_tiles()->mutable_dimensions()->Add(tile.dimensions.begin(), tile.dimensions.end());
  out->set_element_size_in_bits(layout.element_size_in_bits);
  out->set_memory_space(layout.memory_space);
  out->set_tail_padding_alignment_in_elements(layout.tail_padding_alignment_in_elements);
  out->set_index_primitive_type(static_cast<proto::PrimitiveType>(layout.index_primitive_type));
  out->set_pointer_primitive_type(static_cast<proto::PrimitiveType>(layout.pointer_primitive_type));
  out->mutable_dim_level_types()->Add(layout.dim_level_types.begin(), layout.dim_level_types.end());
  out->mutable_dim_unique()->Add(layout.dim_unique.begin(), layout.dim_unique.end());
  out->mutable_dim_ordered()->Add(layout.dim_ordered.begin(), layout.dim_ordered.end());
  for (const SplitConfig& split : layout.split_configs) {
    proto::SplitConfigProto* config = out->add_split_configs();
    config->set_dimension(split.dimension);
    config->mutable_split_indices()->Add(split.split_indices.begin(), split.split_indices.end());
  }
  if (layout.physical_shape) to_proto(*layout.physical_shape, out->mutable_physical_shape());
  out->set_dynamic_shape_metadata_prefix_bytes(layout.dynamic_shape_metadata_prefix_bytes);
  proto::LayoutProto::GetReflection()->MutableUnknownFields(out)->ParseFromString(layout.unknown_fields);
}

Result<Shape> array_from_proto(ElementType type, const proto::ShapeProto& in, int depth) {
  const auto rank = static_cast<size_t>(in.dimensions_size());
  if (rank > max_rank) return fail(ErrorKind::BadInput, "a shape has {} dimensions, more than {}", rank, max_rank);
  // Absent flags, as old releases write shapes without dynamic dimensions, mean static.
  if (static_cast<size_t>(in.is_dynamic_dimension_size()) > rank)
    return fail(ErrorKind::BadInput, "a shape has {} dimensions but {} flags of dynamic dimensions", rank,
                in.is_dynamic_dimension_size());
  std::vector<int64_t> dimensions(in.dimensions().begin(), in.dimensions().end());
  std::vector<bool> dynamic(in.is_dynamic_dimension().begin(), in.is_dynamic_dimension().end());
  dynamic.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (dimensions[i] < 0 && !(dimensions[i] == Shape::unbounded && dynamic[i]))
      return fail(ErrorKind::BadInput, "dimension {} of a shape is {}", i, dimensions[i]);
  }
  std::shared_ptr<const Layout> layout;
  if (in.has_layout()) {
    SAPPER_TRY(Layout stated, layout_from_proto(in.layout(), rank, depth));
    layout = std::make_shared<const Layout>(std::move(stated));
  }
  return Shape::array(type, std::move(dimensions), std::move(dynamic), std::move(layout));
}

Result<Shape> shape_from_proto(const proto::ShapeProto& in, int depth) {
  if (depth > max_shape_nesting)
    return fail(ErrorKind::BadInput, "a shape nests deeper than {} levels", max_shape_nesting);
  SAPPER_TRY(const ElementType type, element_type_from_proto(in.element_type()));
  if (is_array_type(type)) return array_from_proto(type, in, depth);
  std::vector<Shape> elements;
  elements.reserve(static_cast<size_t>(in.tuple_shapes_size()));
  for (const proto::ShapeProto& element : in.tuple_shapes()) {
    SAPPER_TRY(elements.emplace_back(), shape_from_proto(element, depth + 1));
  }
  switch (type) {
    case ElementType::Tuple: return Shape::tuple(std::move(elements));
    case ElementType::Token: return Shape::token();
    case ElementType::Opaque: return Shape::opaque();
    case ElementType::Buffer:
      if (elements.size() != 1 || !elements[0].is_array())
        return fail(ErrorKind::BadInput, "a buffer shape must hold one array shape");
      return Shape::buffer(std::move(elements[0]));
    default: return fail(ErrorKind::BadInput, "a shape has no element type");
  }
}

}  // namespace

Result<Shape> from_proto(const proto::ShapeProto& shape) { return shape_from_proto(shape, 0); }

void to_proto(const Shape& shape, proto::ShapeProto* out) {
  out->set_element_type(static_cast<proto::PrimitiveType>(shape.element_type()));
  out->mutable_dimensions()->Add(shape.dimensions().begin(), shape.dimensions().end());
  for (size_t i = 0; i < shape.rank(); ++i) out->add_is_dynamic_dimension(shape.is_dynamic(i));
  for (const Shape& element : shape.elements()) to_proto(element, out->add_tuple_shapes());
  if (shape.layout() != nullptr) layout_to_proto(*shape.layout(), out->mutable_layout());
}

}  // namespace sapper::hlo
