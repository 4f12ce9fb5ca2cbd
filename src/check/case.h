// A case: a folder that stands for itself and says of one program what a compiler makes of it.
//
//     module.hlo    the program
//     inputs.npz    its inputs; without it they are sampled as case.json says
//     case.json     the options of the check, what comes out of it, the command
//
// Findings are exported as cases, the reducer makes them smaller, emit/ turns them into tests (docs/cases.md).
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "check/signature.h"

namespace sapper::check {

struct Case {
  hlo::Module module;
  CheckOptions options;  // `inputs`: the .npz file, or empty: sampled
  Signature expected;    // of the check with these options
  std::string about;     // for people: where it comes from
  std::string made_by;   // version of sapper
};

// Whether `path` is a folder with a case.json.
[[nodiscard]] bool is_case(const std::string& path);

// The program of the case in `folder`, and what to check it with.
[[nodiscard]] std::string case_module_path(const std::string& folder);

// Errors: BadInput naming the file.
[[nodiscard]] Result<Case> read_case(const std::string& folder);

// Makes `folder`, and all of the case in it. `sets`: the inputs to keep with it; empty: a check samples them. A file
// that is there already is replaced.
[[nodiscard]] Status write_case(const std::string& folder, const Case& one, const std::vector<InputSet>& sets = {});

}  // namespace sapper::check
