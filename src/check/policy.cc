#include "check/policy.h"

namespace sapper::check {

Policy policy_of(const CheckOptions& options) {
  const target::Platform platform = options.target.platform;
  const auto fast_min_max = options.configuration.options.find("xla_cpu_enable_fast_min_max");  // on by default
  const bool has_fast_min_max =
      fast_min_max == options.configuration.options.end() || fast_min_max->second != target::OptionValue(false);
  return {.strict = options.strict,
          .bfloat16_products = platform == target::Platform::Tpu,
          .float64_pairs = platform == target::Platform::Tpu,
          .fast_min_max = platform == target::Platform::Cpu && has_fast_min_max};
}

Policy kernel_policy_of(const CheckOptions& options) {
  Policy policy = policy_of(options);
  policy.short_formulas = true;
  return policy;
}

}  // namespace sapper::check
