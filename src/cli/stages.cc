// sapper stages: the programs that a compilation goes through.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/target_options.h"
#include "cli/terminal.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "llo/dump.h"
#include "llo/pass_walk.h"
#include "llo/text.h"

namespace sapper::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  TargetOptions target;
  std::string level = "hlo";
  std::string output;
  bool json = false;
};

void print_row(const target::HloStage& stage, int64_t instructions, bool changed, bool json) {
  if (!json) {
    fmt::print("{:>5}  hlo  {:>9}  {:<9}  {}{}{}\n", stage.index, instructions, changed ? "changed" : "same",
               stage.pipeline, stage.pipeline.empty() ? "" : ": ", stage.pass);
    return;
  }
  const Json row{{"index", stage.index},         {"level", "hlo"},
                 {"pipeline", stage.pipeline},   {"pass", stage.pass},
                 {"instructions", instructions}, {"changed", changed}};
  fmt::print("{}\n", row.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status write_stage(const std::string& folder, const target::HloStage& stage, const hlo::Module& module) {
  std::string pass = stage.pass;
  std::replace(pass.begin(), pass.end(), '/', '-');
  return write_file(std::filesystem::path(folder) / fmt::format("{:04}.{}.hlo", stage.index, pass),
                    hlo::to_text(module));
}

// The backend passes of each kernel: how many instructions, and how many bundles once they are scheduled. Files get
// the compiler's own kind of names, the optimized module beside them: `sapper llo run` finds what it needs.
Status list_kernels(const target::CompileResult& compiled, const Arguments& arguments) {
  if (!arguments.json) fmt::print("stage  level  instructions  bundles  kernel  pass\n");
  if (!arguments.output.empty()) {
    SAPPER_TRY(const hlo::Module optimized, hlo::parse_proto(compiled.optimized));
    SAPPER_CHECKED(write_file(std::filesystem::path(arguments.output) / "0-hlo.txt", hlo::to_text(optimized)));
  }
  for (const llo::KernelDump& kernel : llo::read_dump(compiled.llo).kernels)
    for (const llo::StageText& stage : kernel.stages) {
      if (llo::is_what_if(stage.pass)) continue;
      const auto program = llo::parse_program(stage.text, kernel.kernel);
      if (!arguments.output.empty()) {
        std::string name = llo::to_file_name({kernel.kernel, stage.index, stage.pass});
        std::replace(name.begin(), name.end(), '/', '-');
        SAPPER_CHECKED(write_file(std::filesystem::path(arguments.output) / name, stage.text));
      }
      const size_t instructions = program ? program->instructions.size() : 0;
      const size_t bundles = program ? program->bundles.size() : 0;
      if (arguments.json) {
        Json row{{"index", stage.index}, {"level", "llo"},     {"kernel", kernel.kernel},
                 {"pass", stage.pass},   {"bundles", bundles}, {"instructions", instructions}};
        if (!program) row["reason"] = program.error().describe();
        fmt::print("{}\n", row.dump(-1, ' ', false, Json::error_handler_t::replace));
      } else {
        fmt::print("{:>5}  llo  {:>9}  {:>7}  {}  {}{}\n", stage.index, instructions, bundles, kernel.kernel,
                   stage.pass, program ? "" : " (" + program.error().describe() + ")");
      }
    }
  return {};
}

Status run(const Arguments& arguments) {
  SAPPER_TRY(const target::Target on, target::parse_target(arguments.target.on));
  const bool llo = arguments.level == "llo";
  if (llo && on.platform != target::Platform::Tpu)
    return fail(ErrorKind::BadInput, "{} has no LLO: that level is for tpu targets", on.to_string());
  target::CompileRequest request;
  SAPPER_TRY(request.configuration, configuration(arguments.target));
  SAPPER_TRY(const hlo::Module module, hlo::read_module(arguments.path));
  SAPPER_CHECKED(in_file(hlo::verify(module), arguments.path));
  request.module = hlo::to_compilable_proto(module);
  request.dump_passes = !llo;
  if (llo) request.dump_llo = ".*";
  target::CompilerPool pool({.workers = 1});
  SAPPER_TRY(target::CompileResult compiled, pool.compile(on, request));
  std::error_code error;
  if (!arguments.output.empty() && !std::filesystem::create_directories(arguments.output, error) &&
      !std::filesystem::is_directory(arguments.output, error))
    return fail(ErrorKind::BadInput, "{}: cannot make this folder: {}", arguments.output,
                error ? error.message() : "something else has the name");
  if (llo) return list_kernels(compiled, arguments);
  compiled.stages.push_back({static_cast<int>(compiled.stages.size()), "", "optimized", compiled.optimized});
  std::string last;
  if (!arguments.json) fmt::print("stage  level  instructions  pass\n");
  for (const target::HloStage& stage : compiled.stages) {
    SAPPER_TRY(const hlo::Module program, hlo::parse_module(stage.module, stage.pass));
    const std::string fingerprint = hlo::fingerprint(program).to_hex();
    print_row(stage, program.instruction_count(), fingerprint != last, arguments.json);
    if (!arguments.output.empty()) SAPPER_CHECKED(write_stage(arguments.output, stage, program));
    last = fingerprint;
  }
  return {};
}

}  // namespace

void add_stages(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("stages", "List the programs that a compilation goes through");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd")->required();
  add_target_options(*command, arguments->target);
  command->add_option("--level", arguments->level, "hlo: the module's passes; llo: the backend passes of each kernel")
      ->check(CLI::IsMember({"hlo", "llo"}))
      ->capture_default_str();
  command->add_option("--output", arguments->output, "Also write each stage as text into this folder");
  command->add_flag("--json", arguments->json, "JSON Lines on stdout, one object a stage (docs/json.md)");
  command->footer("Example: sapper stages examples/softmax.hlo --on tpu:v5e");
  command->callback([arguments, &exit_code] {
    const Status status = run(*arguments);
    exit_code = status ? 0 : report_error(status.error());
  });
}

}  // namespace sapper::cli
