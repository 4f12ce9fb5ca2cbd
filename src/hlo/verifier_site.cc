#include "hlo/verifier_site.h"

#include <algorithm>

namespace sapper::hlo::verifier {
namespace {

template <class SameType>
bool same_structure(const Shape& a, const Shape& b, SameType same_type) {
  return same_type(a.element_type(), b.element_type()) && a.dimensions() == b.dimensions() &&
         std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(),
                    [&](const Shape& x, const Shape& y) { return same_structure(x, y, same_type); });
}

}  // namespace

tl::unexpected<Error> Site::bad_message(std::string_view message) const {
  return fail(
      error_at(ErrorKind::BadInput, instruction, fmt::format("{}: {}", to_string(instruction.opcode), message)));
}

std::string text(const Shape& shape) {
  constexpr size_t longest = 300;
  std::string full = shape.to_text(false);
  if (full.size() <= longest) return full;
  return fmt::format("{}... (tuple of {} elements)", full.substr(0, longest), shape.elements().size());
}

bool interchangeable(ElementType a, ElementType b) {
  const auto reducible = [](ElementType type) {
    return type == ElementType::F32 || type == ElementType::BF16 || type == ElementType::F16;
  };
  return a == b || (reducible(a) && reducible(b));
}

bool compatible(const Shape& a, const Shape& b) {
  return a.same_ignoring_layout(b) || same_structure(a, b, [](ElementType x, ElementType y) { return x == y; });
}

bool compatible_ignoring_precision(const Shape& a, const Shape& b) {
  return a.same_ignoring_layout(b) || same_structure(a, b, interchangeable);
}

DimensionSet::DimensionSet(size_t rank) : further_(rank > 64 ? rank - 64 : 0) {}

bool DimensionSet::insert(int64_t dimension) {
  if (contains(dimension)) return false;
  if (dimension < 64) {
    first_ |= uint64_t{1} << dimension;
  } else {
    further_[static_cast<size_t>(dimension - 64)] = true;
  }
  return true;
}

bool DimensionSet::contains(int64_t dimension) const {
  if (dimension < 64) return ((first_ >> dimension) & 1) != 0;
  return further_[static_cast<size_t>(dimension - 64)];
}

Status add_dimensions(const Site& site, std::string_view what, std::span<const int64_t> dimensions, size_t rank,
                      DimensionSet* set) {
  for (const int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(rank))
      return site.bad("{} has dimension {}, expected one in [0, {})", what, dimension, rank);
    if (!set->insert(dimension)) return site.bad("{} has dimension {} twice", what, dimension);
  }
  return {};
}

Result<DimensionSet> dimension_set(const Site& site, std::string_view what, std::span<const int64_t> dimensions,
                                   size_t rank) {
  DimensionSet set(rank);
  SAPPER_CHECKED(add_dimensions(site, what, dimensions, rank, &set));
  return set;
}

Status expect_array(const Site& site, size_t i) {
  if (!site.operand(i).is_array()) return site.bad("operand {} is {}, expected an array", i, text(site.operand(i)));
  return {};
}

Status expect_scalar(const Site& site, size_t i) {
  if (!site.operand(i).is_scalar()) return site.bad("operand {} is {}, expected a scalar", i, text(site.operand(i)));
  return {};
}

Status expect_token(const Site& site, size_t i) {
  if (!site.operand(i).is_token()) return site.bad("operand {} is {}, expected a token", i, text(site.operand(i)));
  return {};
}

Status expect_arrays(const Site& site) {
  for (size_t i = 0; i < site.operand_count(); ++i) SAPPER_CHECKED(expect_array(site, i));
  return {};
}

ShapeBuilder::ShapeBuilder(const Shape& stated, ElementType type)
    : stated_(stated), type_(type), follows_stated_(stated.element_type() == type) {}

void ShapeBuilder::add(int64_t size, bool dynamic) {
  const bool same = rank_ < stated_.rank() && stated_.dimension(rank_) == size && stated_.is_dynamic(rank_) == dynamic;
  if (follows_stated_ && !same) depart();
  if (!follows_stated_) {
    dimensions_.push_back(size);
    dynamic_.push_back(dynamic);
  }
  ++rank_;
}

Inferred ShapeBuilder::finish() {
  if (follows_stated_ && rank_ == stated_.rank()) return stated_;
  if (follows_stated_) depart();
  return Shape::array(type_, std::move(dimensions_), std::move(dynamic_), nullptr);
}

void ShapeBuilder::depart() {
  for (size_t i = 0; i < rank_; ++i) {
    dimensions_.push_back(stated_.dimension(i));
    dynamic_.push_back(stated_.is_dynamic(i));
  }
  follows_stated_ = false;
}

Inferred with_element_type(const Shape& stated, const Shape& shape, ElementType type) {
  ShapeBuilder builder(stated, type);
  for (size_t i = 0; i < shape.rank(); ++i) builder.add(shape.dimension(i), shape.is_dynamic(i));
  return builder.finish();
}

const Shape& stated_element(const Shape& stated, size_t i) {
  static const Shape none;
  return stated.is_tuple() && i < stated.elements().size() ? stated.elements()[i] : none;
}

}  // namespace sapper::hlo::verifier
