#include "check/verdict.h"

namespace sapper::check {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agree: return "agree";
    case Verdict::Policy: return "policy";
    case Verdict::Mismatch: return "mismatch";
    case Verdict::Undetermined: return "undetermined";
    case Verdict::Rejected: return "rejected";
    case Verdict::Crash: return "crash";
    case Verdict::Timeout: return "timeout";
  }
  return "undetermined";
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  for (const Verdict verdict : {Verdict::Agree, Verdict::Policy, Verdict::Mismatch, Verdict::Undetermined,
                                Verdict::Rejected, Verdict::Crash, Verdict::Timeout})
    if (to_string(verdict) == name) return verdict;
  return std::nullopt;
}

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::Mismatch:
    case Verdict::Crash: return 4;
    case Verdict::Timeout:
    case Verdict::Rejected:
    case Verdict::Undetermined: return 3;
    case Verdict::Policy: return 1;
    case Verdict::Agree: return 0;
  }
  return 3;
}

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agree:
    case Verdict::Policy: return 0;
    case Verdict::Mismatch:
    case Verdict::Crash: return 1;
    case Verdict::Undetermined:
    case Verdict::Rejected:
    case Verdict::Timeout: return 3;
  }
  return 3;
}

}  // namespace sapper::check
