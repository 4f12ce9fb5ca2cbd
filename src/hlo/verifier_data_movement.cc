// Rules of the operations that only rearrange elements: broadcast, reshape, transpose, reverse, concatenate, pad,
// bitcast, and those that ask or set the size of a dynamic dimension.
#include <algorithm>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// The stated shape is an array of the operand's element type.
Status check_stated_array(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  if (!site.stated().is_array() || !interchangeable(site.stated().element_type(), operand.element_type()))
    return site.bad("stated shape {}, expected an array of {}", text(site.stated()), to_string(operand.element_type()));
  return {};
}

Status check_same_element_count(const Site& site) {
  const int64_t from = site.operand(0).element_count();
  const int64_t to = site.stated().element_count();
  if (from == to) return {};
  return site.bad("stated shape {} has {} elements but operand {} has {}", text(site.stated()), to,
                  text(site.operand(0)), from);
}

Result<int64_t> single_dimension(const Site& site) {
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  const Shape& operand = site.operand(0);
  if (dimensions.size() != 1) return site.bad("{} dimensions given, expected 1", dimensions.size());
  if (dimensions[0] < 0 || dimensions[0] >= static_cast<int64_t>(operand.rank()))
    return site.bad("dimension {} is out of range for {}", dimensions[0], text(operand));
  return dimensions[0];
}

// Bits that the elements of an array take where they are not padded.
Wide packed_bits(const Shape& shape) {
  const bool sized = shape.layout() != nullptr && shape.layout()->element_size_in_bits != 0;
  const int64_t bits = sized ? shape.layout()->element_size_in_bits : bit_width(shape.element_type());
  return static_cast<Wide>(shape.element_count()) * bits;
}

bool is_tiled(const Shape& shape) { return shape.layout() != nullptr && !shape.layout()->tiles.empty(); }

}  // namespace

// A bitcast reads the same bytes under another shape. Where both layouts are tiled the bytes include padding, so that
// the numbers of elements may differ; whether the padded sizes agree depends on the target and is not checked.
Result<Inferred> infer_bitcast(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  if (!site.stated().is_array()) return site.bad("stated shape {} is not an array", text(site.stated()));
  const Shape& operand = site.operand(0);
  if (packed_bits(operand) != packed_bits(site.stated()) && !(is_tiled(operand) && is_tiled(site.stated())))
    return site.bad("stated shape {} and operand {} have different sizes", text(site.stated()), text(operand));
  return site.stated();
}

Result<Inferred> infer_broadcast(const Site& site) {
  SAPPER_CHECKED(check_stated_array(site));
  const Shape& operand = site.operand(0);
  const Shape& stated = site.stated();
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  if (dimensions.size() != operand.rank())
    return site.bad("{} dimensions given, expected one for each of operand {}", dimensions.size(), text(operand));
  DimensionSet seen(stated.rank());
  SAPPER_CHECKED(add_dimensions(site, "dimensions", dimensions, stated.rank(), &seen));
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const auto target = static_cast<size_t>(dimensions[i]);
    if (stated.dimension(target) != operand.dimension(i))
      return site.bad("operand {} dimension {} is mapped to dimension {} of stated shape {}, sizes differ",
                      text(operand), i, target, text(stated));
  }
  return stated;
}

Result<Inferred> infer_concatenate(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const Shape& first = site.operand(0);
  SAPPER_TRY(const int64_t along, single_dimension(site));
  const auto dimension = static_cast<size_t>(along);
  Wide total = 0;
  for (size_t i = 0; i < site.operand_count(); ++i) {
    const Shape& operand = site.operand(i);
    bool same = operand.rank() == first.rank() && interchangeable(operand.element_type(), first.element_type());
    for (size_t d = 0; same && d < first.rank(); ++d)
      same = d == dimension || operand.dimension(d) == first.dimension(d);
    if (!same)
      return site.bad("operand shapes {} and {} differ in more than dimension {}", text(first), text(operand),
                      dimension);
    total += operand.dimension(dimension);
  }
  if (total > std::numeric_limits<int64_t>::max()) return site.bad("the concatenated dimension is too large");
  ShapeBuilder builder(site.stated(), first.element_type());
  for (size_t d = 0; d < first.rank(); ++d) {
    bool dynamic = false;
    for (size_t i = 0; first.rank() > 0 && i < site.operand_count(); ++i)
      dynamic = dynamic || site.operand(i).is_dynamic(d);
    builder.add(d == dimension ? static_cast<int64_t>(total) : first.dimension(d), dynamic);
  }
  return builder.finish();
}

Result<Inferred> infer_dynamic_reshape(const Site& site) {
  SAPPER_CHECKED(check_stated_array(site));
  SAPPER_CHECKED(check_same_element_count(site));
  if (site.operand_count() != site.stated().rank() + 1)
    return site.bad("{} operands, expected the array and a size for each of the {} dimensions of {}",
                    site.operand_count(), site.stated().rank(), text(site.stated()));
  for (size_t i = 1; i < site.operand_count(); ++i) {
    SAPPER_CHECKED(expect_scalar(site, i));
    if (site.operand(i).element_type() != ElementType::S32)
      return site.bad("size operand {} is {}, expected s32[]", i, text(site.operand(i)));
  }
  return site.stated();
}

Result<Inferred> infer_get_dimension_size(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_CHECKED(single_dimension(site));
  return ShapeBuilder(site.stated(), ElementType::S32).finish();
}

Result<Inferred> infer_pad(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_CHECKED(expect_scalar(site, 1));
  const Shape& operand = site.operand(0);
  if (!interchangeable(operand.element_type(), site.operand(1).element_type()))
    return site.bad("operand {} and padding value {} have different element types", text(operand),
                    text(site.operand(1)));
  const auto& padding = site.attributes().padding_config().dimensions();
  if (static_cast<size_t>(padding.size()) != operand.rank())
    return site.bad("padding of {} dimensions, expected one for each of operand {}", padding.size(), text(operand));
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (size_t i = 0; i < operand.rank(); ++i) {
    const auto& of = padding[static_cast<int>(i)];
    for (const int64_t extent : {of.edge_padding_low(), of.edge_padding_high(), of.interior_padding()})
      if (extent < -largest_extent || extent > largest_extent)
        return site.bad("padding {} of dimension {} is out of range", extent, i);
    if (of.interior_padding() < 0)
      return site.bad("interior padding {} of dimension {} is negative", of.interior_padding(), i);
    const int64_t size = operand.dimension(i);
    const Wide dilated = size + static_cast<Wide>(std::max<int64_t>(size - 1, 0)) * of.interior_padding();
    const Wide padded = of.edge_padding_low() + dilated + of.edge_padding_high();
    if (padded < 0) return site.bad("padding makes the size of dimension {} negative", i);
    if (dilated > largest_extent || padded > largest_extent)
      return site.bad("padding makes dimension {} of {} too large", i, text(operand));
    builder.add(static_cast<int64_t>(padded), operand.is_dynamic(i));
  }
  return builder.finish();
}

Result<Inferred> infer_reshape(const Site& site) {
  SAPPER_CHECKED(check_stated_array(site));
  SAPPER_CHECKED(check_same_element_count(site));
  return site.stated();
}

Result<Inferred> infer_reverse(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_CHECKED(dimension_set(site, "dimensions", site.instruction.dimensions, site.operand(0).rank()));
  return site.operand(0);
}

Result<Inferred> infer_set_dimension_size(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_TRY(const int64_t dimension, single_dimension(site));
  if (!site.operand(1).is_scalar() || site.operand(1).element_type() != ElementType::S32)
    return site.bad("size operand is {}, expected s32[]", text(site.operand(1)));
  const Shape& operand = site.operand(0);
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (size_t i = 0; i < operand.rank(); ++i)
    builder.add(operand.dimension(i), operand.is_dynamic(i) || static_cast<int64_t>(i) == dimension);
  return builder.finish();
}

Result<Inferred> infer_transpose(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const std::vector<int64_t>& permutation = site.instruction.dimensions;
  if (permutation.size() != operand.rank())
    return site.bad("{} dimensions given, expected a permutation of those of {}", permutation.size(), text(operand));
  SAPPER_CHECKED(dimension_set(site, "dimensions", permutation, operand.rank()));
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (const int64_t from : permutation)
    builder.add(operand.dimension(static_cast<size_t>(from)), operand.is_dynamic(static_cast<size_t>(from)));
  return builder.finish();
}

}  // namespace sapper::hlo::verifier
