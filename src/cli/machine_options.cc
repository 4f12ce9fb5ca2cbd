#include "cli/machine_options.h"

namespace sapper::cli {

void add_machine_options(CLI::App& command, MachineChoices& choices) {
  const auto add = [&](const char* name, std::string& value, const char* text,
                       std::initializer_list<std::string> values) {
    command.add_option(name, value, text)
        ->check(CLI::IsMember(std::vector<std::string>(values)))
        ->capture_default_str();
  };
  add("--eup", choices.eup, "LLO: elementary functions correctly rounded, or moved within their error by the seed",
      {"exact", "perturb"});
  add("--subnormals", choices.subnormals, "LLO: float arithmetic flushes subnormals, or keeps them", {"flush", "keep"});
  add("--matmul-operands", choices.matmul_operands,
      "LLO: f32 numbers that matrix units take are rounded to bf16, or not", {"bf16", "f32"});
  add("--matmul-sums", choices.matmul_sums, "LLO: matrix units sum in f64 and round once, or in f32",
      {"double", "single"});
}

llo::MachineOptions machine_options(const MachineChoices& choices, uint64_t seed) {
  llo::MachineOptions options;
  options.perturb_transcendentals = choices.eup == "perturb" ? seed + 1 : 0;  // 0 is: not perturbed
  options.flush_subnormals = choices.subnormals == "flush";
  options.round_matmul_operands = choices.matmul_operands == "bf16";
  options.matrix_sum = choices.matmul_sums == "single" ? llo::MatrixSum::Single : llo::MatrixSum::Double;
  return options;
}

}  // namespace sapper::cli
