#include "cli/judging_options.h"

namespace sapper::cli {
namespace {

llo::MachineOptions machine_options(const JudgingOptions& options) {
  llo::MachineOptions machine;
  machine.perturb_transcendentals = options.eup == "perturb" ? options.seed + 1 : 0;  // 0 is: not perturbed
  machine.flush_subnormals = options.subnormals == "flush";
  machine.round_matmul_operands = options.matmul_operands == "bf16";
  machine.matrix_sum = options.matmul_sums == "single" ? llo::MatrixSum::Single : llo::MatrixSum::Double;
  return machine;
}

void add_machine_options(CLI::App& command, JudgingOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* text, std::vector<std::string> values) {
    command.add_option(name, value, text)->check(CLI::IsMember(std::move(values)))->capture_default_str();
  };
  add("--eup", options.eup, "LLO: elementary functions correctly rounded, or moved within their error by the seed",
      {"exact", "perturb"});
  add("--subnormals", options.subnormals, "LLO: float arithmetic flushes subnormals, or keeps them", {"flush", "keep"});
  add("--matmul-operands", options.matmul_operands,
      "LLO: f32 numbers that matrix units take are rounded to bf16, or not", {"bf16", "f32"});
  add("--matmul-sums", options.matmul_sums, "LLO: matrix units sum in f64 and round once, or in f32",
      {"double", "single"});
}

// A number of seconds that a clock can hold; not NaN.
std::string check_seconds(const std::string& text) {
  double seconds = 0;
  const bool is_number = CLI::detail::lexical_cast(text, seconds);
  return is_number && seconds > 0 && seconds <= 1e7 ? "" : fmt::format("{} is no number of seconds up to 1e7", text);
}

}  // namespace

void add_judging_options(CLI::App& command, JudgingOptions& options) {
  add_target_options(command, options.target);
  command.add_option("--seed", options.seed, "Seed of the sampled inputs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--seeds", options.seeds,
                  "Sampled inputs from so many seeds, the first given by --seed (default: 3, or 1 for large inputs)")
      ->check(CLI::PositiveNumber);
  std::vector<std::string> kinds{"all"};
  for (const inputs::Kind kind : inputs::kinds) kinds.emplace_back(to_string(kind));
  command.add_option("--inputs-kind", options.inputs_kind, "What the sampled inputs are like (docs/inputs.md)")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  auto* const inputs = command.add_option(
      "--inputs", options.inputs, "Inputs: an .npz file (docs/inputs.md), or a folder of NAME.npz for modules NAME");
  command.add_option("--input-set", options.input_set, "Only set N of the inputs file")
      ->check(CLI::NonNegativeNumber)
      ->needs(inputs);
  command.add_flag("--strict", options.strict, "Judge by strict HLO semantics: no excess precision, no real algebra");
  command.add_option("--time-limit", options.time_limit, "Seconds for one compilation, one evaluation")
      ->check(CLI::Validator(&check_seconds, "SECONDS"))
      ->capture_default_str();
  add_machine_options(command, options);
}

void add_level_option(CLI::App& command, check::Level& level, const std::string& text) {
  const std::map<std::string, check::Level> levels{
      {"hlo", check::Level::Hlo}, {"llo", check::Level::Llo}, {"all", check::Level::All}};
  command.add_option("--level", level, text)
      ->transform(CLI::CheckedTransformer(levels).description(""))
      ->type_name("TEXT:{hlo,llo,all}");
}

Result<check::CheckOptions> check_options(const JudgingOptions& options) {
  check::CheckOptions result;
  SAPPER_TRY(result.target, target::parse_target(options.target.on));
  SAPPER_TRY(result.configuration, configuration(options.target));
  result.machine = machine_options(options);
  result.sampling = {options.seed, options.seeds, {}};
  for (const inputs::Kind kind : inputs::kinds)
    if (options.inputs_kind == "all" || options.inputs_kind == to_string(kind)) result.sampling.kinds.push_back(kind);
  result.inputs = options.inputs;
  if (options.input_set >= 0) result.input_set = options.input_set;
  result.strict = options.strict;
  result.evaluation.time_limit_seconds = options.time_limit;
  return result;
}

Result<check::Task> single_task(const std::string& path, const JudgingOptions& options) {
  std::optional<check::CheckOptions> given;
  if (!options.target.on.empty()) {
    SAPPER_TRY(given, check_options(options));
  }
  const auto on = given ? std::optional(given->target) : std::nullopt;
  SAPPER_TRY(std::vector<check::Task> tasks, check::tasks_for({path}, given, on));
  if (tasks.size() == 1) return std::move(tasks.front());
  return fail(ErrorKind::BadInput, "{}: one module is looked into at a time, here are {}", path, tasks.size());
}

int exit_code_of(const check::Report& report) {
  if (report.error && report.error->kind == ErrorKind::BadInput) return 2;
  if (report.expected) return same_reason(*report.expected, signature_of(report)) ? 0 : 1;
  return check::exit_code(report.verdict);
}

}  // namespace sapper::cli
