// sapper llo run: executes one dumped kernel by itself.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/inputs_for.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/npz.h"
#include "llo/dump.h"
#include "llo/kernel.h"
#include "llo/text.h"

namespace sapper::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  std::string generation = "v5e";
  std::string hlo;
  std::string declarations;
  std::string inputs;
  std::string output;
  uint64_t seed = 0;
  double time_limit = 0;
  bool json = false;
};

Result<llo::Program> read_program(const std::string& path) {
  SAPPER_TRY(std::string text, read_file(path));
  return llo::parse_program(std::move(text), path);
}

// The first file of the same folder whose name is right; empty: none.
template <class IsRight>
std::string sibling(const std::string& path, const IsRight& is_right) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::absolute(path).parent_path(), error)) {
    if (is_right(entry.path().filename().string())) found.push_back(entry.path());
  }
  return found.empty() ? "" : *std::ranges::min_element(found);
}

// The SSA form of the same kernel, where a program does not declare its allocations itself.
Result<std::optional<llo::Program>> read_declarations(const Arguments& arguments, const llo::Program& program) {
  std::string path = arguments.declarations;
  const std::optional<llo::DumpName> name = llo::parse_dump_name(fs::path(arguments.path).filename().string());
  if (path.empty() && program.form != llo::Form::Ssa && name) {
    path = sibling(arguments.path, [&](const std::string& file) {
      const std::optional<llo::DumpName> other = llo::parse_dump_name(file);
      return other && other->kernel == name->kernel && other->pass == "original";
    });
  }
  if (path.empty()) return std::nullopt;
  SAPPER_TRY(llo::Program declarations, read_program(path));
  return declarations;
}

// Operands and result as the optimized module states them for the instruction that the kernel computes.
Result<llo::KernelShapes> shapes_in_module(const std::string& path, std::string_view kernel) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(path));
  for (const hlo::Computation& computation : module.computations) {
    for (const hlo::Instruction& instruction : computation.instructions) {
      if (computation.is_fusion || instruction.name != kernel) continue;
      llo::KernelShapes shapes;
      for (const hlo::InstructionIndex operand : instruction.operands) {
        shapes.operands.push_back(computation.instructions[operand].shape);
      }
      shapes.result = instruction.shape;
      return shapes;
    }
  }
  return fail(ErrorKind::BadInput, "{} has no instruction {}", path, kernel);
}

Result<llo::KernelShapes> shapes_of(const Arguments& arguments, const llo::Program& program,
                                    const llo::Program* declarations) {
  const llo::Program& declaring = declarations != nullptr ? *declarations : program;
  const auto named =
      std::ranges::find_if(declaring.regions, [](const llo::Region& region) { return !region.hlo.empty(); });
  const std::string_view kernel = named == declaring.regions.end() ? "" : named->hlo;
  if (!arguments.hlo.empty()) return shapes_in_module(arguments.hlo, kernel);
  if (auto shapes = llo::declared_shapes(program)) return shapes;
  const std::string module =
      sibling(arguments.path, [](const std::string& file) { return file.ends_with("-hlo.txt"); });
  return module.empty() ? llo::declared_shapes(program) : shapes_in_module(module, kernel);
}

// From the file or sampled, as the arguments of a module that only has parameters.
Result<std::vector<hlo::Literal>> operands_of(const Arguments& arguments, const llo::KernelShapes& shapes) {
  hlo::Module module;
  hlo::Computation& entry = module.computations.emplace_back();
  for (const hlo::Shape& shape : shapes.operands) {
    hlo::Instruction parameter;
    parameter.name = fmt::format("in{}", entry.instructions.size());
    parameter.shape = shape;
    parameter.parameter_number = static_cast<int64_t>(entry.instructions.size());
    entry.instructions.push_back(std::move(parameter));
  }
  hlo::Instruction root;
  root.opcode = hlo::Opcode::Tuple;
  root.name = "operands";
  root.shape = hlo::Shape::tuple(shapes.operands);
  for (hlo::InstructionIndex i = 0; i < shapes.operands.size(); ++i) root.operands.push_back(i);
  entry.instructions.push_back(std::move(root));
  entry.root = static_cast<hlo::InstructionIndex>(entry.instructions.size() - 1);
  SAPPER_TRY(std::vector<check::InputSet> sets,
             check::inputs_for(module, arguments.inputs, 0, {.seed = arguments.seed}));
  return std::move(sets.front().arguments);
}

Json finding_json(const llo::Program& program, const llo::Finding& finding) {
  Json json{{"kind", llo::to_string(finding.kind)}, {"message", finding.message}};
  if (finding.instruction >= program.instructions.size()) return json;
  const llo::Instruction& instruction = program.instructions[finding.instruction];
  json["line"] = instruction.line;
  json["opcode"] = instruction.opcode;
  json["hlo_instruction"] = program.hlo_of(instruction);
  return json;
}

void print_finding(const llo::Program& program, const llo::Finding& finding) {
  if (finding.instruction < program.instructions.size()) {
    const llo::Instruction& instruction = program.instructions[finding.instruction];
    fmt::print("{}:{}: {}: {} ({})\n", program.file, instruction.line, llo::to_string(finding.kind), finding.message,
               instruction.opcode);
  } else {
    fmt::print("{}: {}: {}\n", program.file, llo::to_string(finding.kind), finding.message);
  }
}

// The exit code: 1 where the kernel does what no correct kernel does.
Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const llo::Program program, read_program(arguments.path));
  SAPPER_TRY(const std::optional<llo::Program> declarations, read_declarations(arguments, program));
  const llo::Program* const declaring = declarations ? &*declarations : nullptr;
  SAPPER_TRY(const llo::KernelShapes shapes, shapes_of(arguments, program, declaring));
  SAPPER_TRY(const std::vector<hlo::Literal> operands, operands_of(arguments, shapes));
  llo::MachineOptions machine;
  SAPPER_TRY(machine.generation, llo::generation_of(arguments.generation));
  machine.time_limit_seconds = arguments.time_limit;
  SAPPER_TRY(const llo::KernelRun kernel,
             llo::run_kernel(program, declaring, operands, shapes.operands, shapes.result, machine));

  Json outputs = Json::array();
  inputs::Npz npz;
  for (const hlo::Literal& leaf : hlo::leaves(kernel.output)) {
    if (!leaf.shape().is_array()) continue;
    constexpr int64_t screenful = 64;
    const std::string name = fmt::format("out{}", npz.size());
    if (!arguments.json && arguments.output.empty()) {
      fmt::print("{} = {} {}\n", name, leaf.shape().to_text(false),
                 leaf.element_count() <= screenful ? hlo::to_text(leaf) : "...");
    }
    outputs.push_back({{"name", name}, {"shape", leaf.shape().to_text(false)}, {"elements", leaf.element_count()}});
    npz[name] = inputs::to_npy(leaf);
  }
  if (!arguments.output.empty()) SAPPER_CHECKED(inputs::write_npz(arguments.output, npz));
  Json findings = Json::array();
  for (const llo::Finding& finding : kernel.findings) {
    if (!arguments.json) print_finding(program, finding);
    findings.push_back(finding_json(program, finding));
  }
  if (arguments.json) {
    const Json json{{"path", arguments.path},
                    {"outputs", outputs},
                    {"findings", findings},
                    {"steps", kernel.steps},
                    {"vector_steps", kernel.vector_steps}};
    fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return kernel.findings.empty() ? 0 : 1;
}

}  // namespace

void add_llo(CLI::App& app, int& exit_code) {
  auto* const group = app.add_subcommand("llo", "Work with dumped TPU programs (LLO)");
  group->require_subcommand(1);
  auto* const command = group->add_subcommand("run", "Execute a dumped kernel by itself");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("dump", arguments->path, "One stage of one kernel, as libtpu dumps it")->required();
  command->add_option("--generation", arguments->generation, "v2, v3, v4, v5e, v5p, v6e or tpu7x")
      ->capture_default_str();
  command->add_option("--hlo", arguments->hlo,
                      "The optimized module, which says how operands lie in memory; default: *-hlo.txt in the folder, "
                      "where the dump states no layouts itself");
  command->add_option("--declarations", arguments->declarations,
                      "The kernel in SSA form, for stages that declare no allocations; default: its original stage in "
                      "the folder");
  command->add_option("--in", arguments->inputs, "Operands: an .npz file with in0..; default: sampled");
  command->add_option("--seed", arguments->seed, "Seed of the sampled operands")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--out", arguments->output, "Write the results as out0.. to this .npz file");
  command->add_option("--time-limit", arguments->time_limit, "Seconds; 0: none")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)");
  command->footer(
      "Example: sapper stages examples/f16_round_trip.hlo --on tpu:v5e --level llo --output stages\n"
      "         sapper llo run stages/0-convert_subtract_fusion-66-final_bundles.txt\n"
      "Exit code: 0, 1 when the kernel does what no correct kernel does, 2 bad usage or input, 3 it cannot be run");
  command->callback([arguments, &exit_code] {
    const Result<int> code = run(*arguments);
    exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace sapper::cli
