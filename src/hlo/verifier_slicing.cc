// Rules of slice, dynamic-slice and dynamic-update-slice.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// Operands first .. are the start indices into an array of `rank` dimensions: one integer scalar each, or, in the older
// form, one vector for all.
Status check_start_indices(const Site& site, size_t first, size_t rank) {
  const size_t count = site.operand_count() - first;
  for (size_t i = first; i < site.operand_count(); ++i) {
    const Shape& index = site.operand(i);
    if (!index.is_array() || !is_integer(index.element_type()))
      return site.bad("start index operand {} is {}, expected integers", i, text(index));
    if (index.element_type() != site.operand(first).element_type())
      return site.bad("start indices have element types {} and {}, expected the same",
                      to_string(site.operand(first).element_type()), to_string(index.element_type()));
  }
  if (count == 1 && site.operand(first).rank() == 1) {
    if (site.operand(first).dimension(0) == static_cast<int64_t>(rank)) return {};
    return site.bad("start indices are {}, expected a vector of {}", text(site.operand(first)), rank);
  }
  if (count != rank) return site.bad("{} start indices, expected {}", count, rank);
  for (size_t i = first; i < site.operand_count(); ++i) SAPPER_CHECKED(expect_scalar(site, i));
  return {};
}

}  // namespace

Result<Inferred> infer_slice(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const auto& bounds = site.attributes().slice_dimensions();
  if (static_cast<size_t>(bounds.size()) != operand.rank())
    return site.bad("slice of {} dimensions, expected one for each of operand {}", bounds.size(), text(operand));
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (size_t i = 0; i < operand.rank(); ++i) {
    const int64_t start = bounds[static_cast<int>(i)].start();
    const int64_t limit = bounds[static_cast<int>(i)].limit();
    const int64_t stride = bounds[static_cast<int>(i)].stride();
    if (start < 0 || start > limit || limit > operand.dimension(i))
      return site.bad("[{}:{}] of dimension {} is out of range for {}", start, limit, i, text(operand));
    if (stride <= 0) return site.bad("stride {} of dimension {} is not positive", stride, i);
    const int64_t size = start == limit ? 0 : (limit - start - 1) / stride + 1;
    builder.add(size, size != 1 && operand.is_dynamic(i));  // one element out of a dynamic dimension is always there
  }
  return builder.finish();
}

Result<Inferred> infer_dynamic_slice(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  SAPPER_CHECKED(check_start_indices(site, 1, operand.rank()));
  const auto& sizes = site.attributes().dynamic_slice_sizes();
  if (static_cast<size_t>(sizes.size()) != operand.rank())
    return site.bad("{} slice sizes, expected one for each dimension of {}", sizes.size(), text(operand));
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (size_t i = 0; i < operand.rank(); ++i) {
    const int64_t size = sizes[static_cast<int>(i)];
    if (size < 0 || size > operand.dimension(i))
      return site.bad("slice size {} of dimension {} is out of range for {}", size, i, text(operand));
    builder.add(size);
  }
  return builder.finish();
}

Result<Inferred> infer_dynamic_update_slice(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_CHECKED(expect_array(site, 1));
  const Shape& operand = site.operand(0);
  const Shape& update = site.operand(1);
  if (!interchangeable(operand.element_type(), update.element_type()))
    return site.bad("operand {} and update {} have different element types", text(operand), text(update));
  bool fits = operand.rank() == update.rank();
  bool grows_dynamic = false;  // a full update of a dimension makes it dynamic when the update is
  for (size_t i = 0; fits && i < operand.rank(); ++i) {
    fits = update.dimension(i) <= operand.dimension(i);
    grows_dynamic = grows_dynamic || (update.is_dynamic(i) && !operand.is_dynamic(i));
  }
  if (!fits) return site.bad("update {} does not fit into {}", text(update), text(operand));
  SAPPER_CHECKED(check_start_indices(site, 2, operand.rank()));
  if (!grows_dynamic) return operand;
  ShapeBuilder builder(site.stated(), operand.element_type());
  for (size_t i = 0; i < operand.rank(); ++i)
    builder.add(operand.dimension(i),
                operand.is_dynamic(i) || (update.is_dynamic(i) && update.dimension(i) == operand.dimension(i)));
  return builder.finish();
}

}  // namespace sapper::hlo::verifier
