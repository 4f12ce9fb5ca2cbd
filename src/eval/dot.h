// The products of two operands under dot dimension numbers: what dot, ragged-dot and scaled-dot share.
#pragma once

#include "eval/contraction.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

// The contraction of lhs and rhs into a dense result [batch..., lhs free..., rhs free...].
[[nodiscard]] Contraction dot_contraction(const proto::DotDimensionNumbers& numbers, const hlo::Literal& lhs,
                                          const hlo::Literal& rhs);

// The dot of lhs and rhs as an array of `shape`.
[[nodiscard]] Result<hlo::Literal> dot_general(const proto::DotDimensionNumbers& numbers, const hlo::Literal& lhs,
                                               const hlo::Literal& rhs, const hlo::Shape& shape);

}  // namespace sapper::eval
