// bitcast: the same bytes of physical memory under another shape and layout. Literals are row-major whatever the
// layout, so a bitcast moves elements wherever the layouts order them differently.
//
// Element k of the operand in physical order becomes element k of the result in physical order; padding of tiles holds
// no elements and is skipped. A result with fewer elements and the same tiles is the operand's leading part: what falls
// away becomes padding. A result with more elements and the same tiles takes padding in: those elements are whatever
// was in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "eval/view.h"
#include "hlo/shape.h"

namespace sapper::eval {

struct Bitcast {
  // Read one after the other, each from what the one before made. Empty: the elements stay where they are.
  std::vector<View> views;
  // When strides cannot say the order (tiles that do not divide their dimensions): the shapes to sort by physical
  // position.
  std::optional<hlo::Shape> operand;
  std::optional<hlo::Shape> result;
  [[nodiscard]] bool is_rename() const { return views.empty() && !operand; }
};

// `shape`, which a bitcast makes of `other` or `other` of it, with the tiles of `other` where it has two dimensions or
// more and states none. XLA:TPU leaves the tiles of a product out whose dimensions it collapsed (libtpu 0.0.52); no
// other array of its optimized programs that has two dimensions is without.
[[nodiscard]] hlo::Shape with_missing_tiles(const hlo::Shape& shape, const hlo::Shape& other);

// nullopt: a layout that is not modelled (combined tile dimensions, sparse), or element types of different sizes.
[[nodiscard]] std::optional<Bitcast> make_bitcast(const hlo::Shape& operand, const hlo::Shape& result);

// Copies a row-major array of `operand` to one of `result`, element k in physical order to element k in physical order;
// to a result of fewer or more elements, from the same places in physical memory. Elements that the operand's padding
// becomes get values that show: NaN, -1, true. False when a smaller result has an element in the operand's padding.
[[nodiscard]] bool copy_in_physical_order(const hlo::Shape& operand, const hlo::Shape& result, const std::byte* from,
                                          std::byte* to);

}  // namespace sapper::eval
