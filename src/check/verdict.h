// Verdicts, and how one follows from several.
#pragma once

#include <optional>
#include <string_view>

namespace sapper::check {

enum class Verdict {
  Agree,         // as near as every legal implementation is
  Policy,        // differs from strict semantics only as the target's documented policy allows
  Mismatch,      // wrong
  Undetermined,  // could not be judged; the reason is stated
  Rejected,      // the compiler says that the program is invalid or unsupported by it
  Crash,         // the compiler died
  Timeout,       // the compiler did not end within the limit
};

[[nodiscard]] std::string_view to_string(Verdict verdict);
[[nodiscard]] std::optional<Verdict> parse_verdict(std::string_view name);

// How bad a verdict is for the whole of several: the larger decides. A mismatch or crash before doubt, doubt before
// policy.
[[nodiscard]] int severity(Verdict verdict);

// 0 agree and policy, 1 mismatch (and policy under strict), crash; 3 undetermined, rejected, timeout. (2 is bad usage
// or input.)
[[nodiscard]] int exit_code(Verdict verdict);

}  // namespace sapper::check
