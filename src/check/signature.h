// The signature of a failure: what stays the same when the same defect shows in another program, or again. Two failures
// with one signature are taken for one defect: by the reducer, by cases that are run again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/error.h"
#include "check/verdict.h"

namespace sapper::check {

struct Report;

struct Signature {
  Verdict verdict = Verdict::Agree;
  std::string level;  // of the guilty stage: "hlo", "llo", "native"; empty: none is known
  std::string pass;
  // How it shows: "a number for NaN", "another number", "not the same twice", the kind of a kernel's
  // finding, how a compiler died.
  std::string symptom;
  // Where it was seen. For people: in a smaller program both have other names.
  std::string kernel;
  std::string output;
};

[[nodiscard]] Signature signature_of(const Report& report);

// All but where it was seen.
[[nodiscard]] bool same_reason(const Signature& a, const Signature& b);

// "mismatch by hlo: algsimp (a number for NaN)"
[[nodiscard]] std::string to_text(const Signature& signature);

[[nodiscard]] nlohmann::ordered_json to_json(const Signature& signature);
// BadInput where `json` is none.
[[nodiscard]] Result<Signature> signature_from_json(const nlohmann::ordered_json& json);

}  // namespace sapper::check
