// sapper eval: run a module on the reference evaluator.
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "bounds/bounded.h"
#include "check/inputs_for.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "eval/evaluator.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/npz.h"

namespace sapper::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  std::string inputs;
  std::string output;
  uint64_t seed = 0;
  int input_set = 0;
  int repeat = 1;
  bool excess_precision = false;
  bool bounds = false;
  bool trace = false;
  bool json = false;
};

// Values up to a screenful; longer ones are only described.
std::string value_text(const hlo::Literal& value) {
  constexpr int64_t screenful = 64;
  return value.element_count() <= screenful ? to_text(value) : "...";
}

void print_trace(const hlo::Computation& computation, const hlo::Instruction& instruction, const hlo::Literal& value) {
  fmt::print(stderr, "{} {} = {} {}\n", computation.name, instruction.name, instruction.shape.to_text(false),
             value.shape().is_tuple() ? "" : value_text(value));
}

// With bounds: under the strict contract, deviations beside the values.
Result<bounds::Bounded> evaluate_once(const hlo::Module& module, const std::vector<hlo::Literal>& arguments,
                                      bool with_bounds, const eval::Options& evaluation) {
  if (with_bounds) {
    SAPPER_TRY(const bounds::BoundedModule bounded, bounds::with_bounds(module, {}));
    return bounds::evaluate(bounded, arguments, evaluation);
  }
  bounds::Bounded exact;
  SAPPER_TRY(exact.value, eval::evaluate(module, arguments, evaluation));
  return exact;
}

Result<std::vector<double>> evaluate_timed(const hlo::Module& module, const std::vector<hlo::Literal>& arguments,
                                           const Arguments& options, bounds::Bounded& value) {
  eval::Options evaluation;
  evaluation.excess_precision = options.excess_precision;
  if (options.trace) evaluation.trace = print_trace;
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    value = {};
    const Stopwatch stopwatch;
    SAPPER_TRY(value, evaluate_once(module, arguments, options.bounds, evaluation));
    seconds.push_back(stopwatch.seconds());
  }
  return seconds;
}

Status run(const Arguments& arguments) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(arguments.path));
  SAPPER_CHECKED(in_file(hlo::verify(module), arguments.path));
  SAPPER_TRY(const std::vector<check::InputSet> sets,
             check::inputs_for(module, check::inputs_path(arguments.inputs, arguments.path), arguments.input_set,
                               {.seed = arguments.seed}));
  bounds::Bounded value;
  SAPPER_TRY(const std::vector<double> seconds,
             in_file(evaluate_timed(module, sets.front().arguments, arguments, value), arguments.path));
  Json outputs = Json::array();
  inputs::Npz npz;
  const auto print = [&](const std::string& name, const hlo::Literal& array) {
    if (!arguments.json && arguments.output.empty())
      fmt::print("{} = {} {}\n", name, array.shape().to_text(), value_text(array));
    npz[name] = inputs::to_npy(array);
  };
  const std::vector<hlo::Literal> leaves = hlo::leaves(value.value);
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const hlo::Shape& shape = leaves[leaf].shape();
    if (!shape.is_array()) continue;
    const size_t number = outputs.size();
    print(fmt::format("out{}", number), leaves[leaf]);
    outputs.push_back(
        {{"name", fmt::format("out{}", number)}, {"shape", shape.to_text()}, {"elements", shape.element_count()}});
    if (!arguments.bounds) continue;
    // Where every implementation gives the reference's value: zeros.
    const hlo::Literal& deviation = value.deviations[leaf];
    print(fmt::format("deviation{}", number),
          deviation.shape().is_array() ? deviation
                                       : hlo::Literal(shape.without_layout().with_element_type(hlo::ElementType::F32)));
  }
  if (!arguments.output.empty()) SAPPER_CHECKED(inputs::write_npz(arguments.output, npz));
  if (!arguments.json) return {};
  Json json{{"module", module.name},
            {"fingerprint", hlo::fingerprint(module).to_hex()},
            {"seed", arguments.seed},
            {"outputs", outputs},
            {"seconds", seconds}};
  if (arguments.bounds) json["unbounded"] = value.unbounded;
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return {};
}

}  // namespace

void add_eval(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("eval", "Run a module on the reference evaluator");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd")->required();
  auto* const inputs =
      command->add_option("--inputs", arguments->inputs, "Inputs: an .npz file (docs/inputs.md); default: sampled");
  command->add_option("--input-set", arguments->input_set, "Set N of the inputs file")
      ->check(CLI::NonNegativeNumber)
      ->needs(inputs)
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of the sampled inputs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--output", arguments->output, "Write the outputs as out0.. to this .npz file");
  command->add_option("--repeat", arguments->repeat, "Evaluate N times; the times are in the JSON")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--excess-precision", arguments->excess_precision, "Leave out roundings to narrow float types");
  command->add_flag("--bounds", arguments->bounds,
                    "Also how far a legal implementation may be from each element: deviation0.. (docs/verdicts.md)");
  command->add_flag("--trace", arguments->trace, "Print each instruction's value on stderr");
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)");
  command->footer("Example: sapper eval examples/softmax.hlo --output out.npz");
  command->callback([arguments, &exit_code] {
    const Status status = run(*arguments);
    exit_code = status ? 0 : report_error(status.error());
  });
}

}  // namespace sapper::cli
