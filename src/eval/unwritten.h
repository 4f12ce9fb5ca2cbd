// What the evaluator puts where nobody wrote: allocated buffers, padding that a bitcast takes in.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "hlo/element_type.h"

namespace sapper::eval {

// All ones (NaN in floats, -1 in signed integers, true) in every element: a program that reads one gives a conspicuous
// result rather than, by luck, the right one.
inline void fill_unwritten(hlo::ElementType type, std::span<std::byte> elements) {
  const bool narrow = hlo::bit_width(type) < 8 && hlo::element_class(type) != hlo::ElementClass::Signed;
  const int ones = type == hlo::ElementType::Pred ? 1 : narrow ? (1 << hlo::bit_width(type)) - 1 : 0xff;
  std::memset(elements.data(), ones, elements.size());
}

}  // namespace sapper::eval
