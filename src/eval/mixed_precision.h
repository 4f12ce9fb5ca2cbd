// Operations over operands of several float types, which late compiler passes write (add(bf16[4], f32[4]), copy from
// f32 to bf16): made explicit, so that the rest of the evaluator sees one type an operation.
#pragma once

#include <optional>

#include "eval/evaluator.h"
#include "hlo/module.h"

namespace sapper::eval {

// `module` with every such operation done in the widest float type among its operands and result, operands converted to
// it and the result converted from it, but for those that somebody else runs; nullopt when there is none.
[[nodiscard]] std::optional<hlo::Module> with_explicit_converts(const hlo::Module& module,
                                                                const Substitute& substitute);

}  // namespace sapper::eval
