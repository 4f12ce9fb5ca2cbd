// Cases as tests that need nothing of sapper, and as reports for CI systems.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "emit/subject.h"

namespace sapper::emit {

// A file to be written: its name in the output folder, its bytes.
struct File {
  std::string name;
  std::string bytes;
};

// The module as text, and an .npz file with its inputs (in0, ...), what is expected (out0, ...) and how far from it a
// result may be (tolerance0, ...). (hlo_form.cc)
[[nodiscard]] Result<std::vector<File>> as_hlo(const Subject& subject);

// A GoogleTest that runs the module through the PJRT C API, with its harness and a CMakeLists.txt. (cpp_form.cc)
[[nodiscard]] Result<std::vector<File>> as_cpp(const Subject& subject);

// A JAX program of jax.lax operations that ends with 0 where its results are as expected; the same for pytest.
// Unsupported names the operation that JAX has none for. (jax_form.cc)
[[nodiscard]] Result<std::vector<File>> as_jax(const Subject& subject);
[[nodiscard]] Result<std::vector<File>> as_pytest(const Subject& subject);

// The program as Python: a function `program` of its arguments. (jax_program.cc)
[[nodiscard]] Result<std::string> jax_program(const hlo::Module& module);
[[nodiscard]] std::string jax_dtype(hlo::ElementType type);

// The case with its inputs written out, into the folder of its name below `folder`. (subject.cc)
[[nodiscard]] Status write_as_case(const Subject& subject, const std::string& folder);

// What came out of a check, as CI systems show it.
struct Outcome {
  std::string name;
  std::string file;  // of the program
  std::string target;
  std::string verdict;
  std::string reason;
  std::string rule;  // what it would be filed under: level and pass, or the verdict
  bool failed = false;
  bool decided = true;
  double seconds = 0;
};

// Of a case: as it records it. Of a file of JSON Lines: the reports of `sapper check --json`. (outcomes.cc)
[[nodiscard]] Result<std::vector<Outcome>> outcomes_of(const std::vector<std::string>& paths);
[[nodiscard]] std::string as_sarif(std::span<const Outcome> outcomes, const std::string& version);
[[nodiscard]] std::string as_junit(std::span<const Outcome> outcomes);

}  // namespace sapper::emit
