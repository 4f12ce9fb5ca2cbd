// What the judge of a check allows: the policy of a target under given options, and the widest contract that follows.
#pragma once

#include "check/check.h"
#include "check/judge.h"
#include "numerics/contract.h"

namespace sapper::check {

[[nodiscard]] Policy policy_of(const CheckOptions& options);
// Of a TPU's kernels: functions are computed by the emitters' formulas, too.
[[nodiscard]] Policy kernel_policy_of(const CheckOptions& options);

// The contract of a device: what it computes of `module` is legal within this. (judge.cc)
[[nodiscard]] numerics::Contract widest_contract(const hlo::Module& module, const Policy& policy);

}  // namespace sapper::check
