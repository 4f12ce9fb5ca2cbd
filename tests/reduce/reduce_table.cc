// Development: the reducer on real and planted failures, as a table: how large before and after, how long, for the same
// reason or not.
//   reduce_table [--zoo FOLDER] [--pieces MODULE...] [--on TARGET...] [--jobs N] [--most N]
// Real: the plain miscompilations of ../shared/cases/zoo on each target, each in the middle of a larger program.
// Planted: pieces of MODULEs with a compiler that is wrong about one kind of operation
// (tests/isolate/planting_worker.cc).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/rewriter.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/npz.h"
#include "inputs/sampler.h"
#include "isolate/cut.h"
#include "reduce/reduce.h"
#include "tests/check/hlo_mutants.h"
#include "tests/isolate/plants.h"

namespace sapper::reduce {
namespace {

namespace fs = std::filesystem;
using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

struct Arguments {
  std::string zoo = SAPPER_SOURCE_DIR "/../shared/cases/zoo";
  std::string hosts = SAPPER_SOURCE_DIR "/../shared/corpus/ops";
  std::vector<std::string> pieces;
  std::vector<std::string> on{"cpu@0.81", "cpu@0.106", "cpu@0.115"};
  int jobs = 2;
  size_t most = 30;
  bool planted = true;
};

struct Failure {
  std::string name;
  check::Case one;
  std::vector<hlo::Literal> arguments;
  std::string plant;  // of the compiler; empty: a real one
};

// All of `parts`, side by side, each a call: one program with all their parameters and results.
Module side_by_side(const std::vector<Module>& parts) {
  Module whole;
  whole.name = "host";
  Computation entry;
  entry.name = "main";
  std::vector<InstructionIndex> results;
  std::vector<hlo::Shape> shapes;
  int64_t parameters = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const auto first = static_cast<hlo::ComputationIndex>(whole.computations.size());
    for (Computation computation : parts[p].computations) {
      computation.name += fmt::format(".{}", p);
      for (Instruction& instruction : computation.instructions) {
        instruction.name += fmt::format(".{}", p);
        instruction.id = -1;
        for (hlo::ComputationIndex& called : instruction.called) called += first;
      }
      computation.id = -1;
      whole.computations.push_back(std::move(computation));
    }
    const auto callee = static_cast<hlo::ComputationIndex>(first + parts[p].entry);
    const Computation& body = whole.computations[callee];
    Instruction call;
    call.opcode = Opcode::Call;
    call.name = fmt::format("call.{}", p);
    call.shape = body.root_instruction().shape;
    call.called = {callee};
    for (const InstructionIndex parameter : body.parameters()) {
      Instruction copy = body.instructions[parameter];
      copy.name = fmt::format("p{}", parameters);
      copy.parameter_number = parameters++;
      call.operands.push_back(static_cast<InstructionIndex>(entry.instructions.size()));
      entry.instructions.push_back(std::move(copy));
    }
    results.push_back(static_cast<InstructionIndex>(entry.instructions.size()));
    shapes.push_back(call.shape);
    entry.instructions.push_back(std::move(call));
  }
  // Results that are tuples are taken apart.
  std::vector<InstructionIndex> leaves;
  std::vector<hlo::Shape> leaf_shapes;
  for (size_t p = 0; p < results.size(); ++p) {
    if (!shapes[p].is_tuple()) {
      leaves.push_back(results[p]);
      leaf_shapes.push_back(shapes[p]);
      continue;
    }
    for (size_t k = 0; k < shapes[p].elements().size(); ++k) {
      Instruction element;
      element.opcode = Opcode::GetTupleElement;
      element.name = fmt::format("element.{}.{}", p, k);
      element.shape = shapes[p].elements()[k];
      element.operands = {results[p]};
      element.tuple_index = static_cast<int64_t>(k);
      leaves.push_back(static_cast<InstructionIndex>(entry.instructions.size()));
      leaf_shapes.push_back(element.shape);
      entry.instructions.push_back(std::move(element));
    }
  }
  Instruction root;
  root.opcode = Opcode::Tuple;
  root.name = "all";
  root.shape = hlo::Shape::tuple(leaf_shapes);
  root.operands = leaves;
  entry.root = static_cast<InstructionIndex>(entry.instructions.size());
  entry.instructions.push_back(std::move(root));
  whole.entry = static_cast<hlo::ComputationIndex>(whole.computations.size());
  whole.computations.push_back(std::move(entry));
  return whole;
}

std::vector<hlo::Shape> parameter_shapes(const Module& module) {
  std::vector<hlo::Shape> shapes;
  for (const InstructionIndex parameter : module.entry_computation().parameters())
    shapes.push_back(module.entry_computation().instructions[parameter].shape);
  return shapes;
}

// Small programs to stand around a defect: those with arrays at the boundary alone.
std::vector<Module> hosts_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".pb") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Module> hosts;
  for (const std::string& file : files) {
    auto module = hlo::read_module(file);
    if (!module || !hlo::verify(*module)) continue;
    bool plain = module->instruction_count() < 80 && !module->is_scheduled;
    for (const hlo::Shape& shape : parameter_shapes(*module))
      plain &= shape.is_array() && shape.element_count() < 5000 && !shape.is_dynamic();
    const hlo::Shape& result = module->entry_computation().root_instruction().shape;
    for (const hlo::Shape& shape : result.elements()) plain &= shape.is_array();
    plain &= result.is_array() || result.is_tuple();
    hlo::for_each_instruction(*module, [&](const Computation&, const Instruction& instruction) {
      plain &= instruction.opcode != Opcode::CustomCall && !instruction.shape.is_dynamic();
    });
    if (plain) hosts.push_back(std::move(*module));
  }
  return hosts;
}

std::vector<Failure> real_failures(const Arguments& arguments) {
  std::vector<Failure> failures;
  std::ifstream file(arguments.zoo + "/zoo.json");
  const auto zoo = nlohmann::json::parse(file);
  const std::vector<Module> hosts = hosts_in(arguments.hosts);
  constexpr size_t around = 6;
  for (size_t z = 0; z < zoo.size(); ++z) {
    const auto& entry = zoo[z];
    if (entry["class"] != "A" && entry["class"] != "B") continue;
    for (const std::string& target : arguments.on) {
      if (entry["plugins"].value(target, "") != "mismatch") continue;
      const std::string path = arguments.zoo + "/" + entry["name"].get<std::string>();
      const auto module = hlo::read_module(path + ".hlo");
      const auto npz = inputs::read_npz(path + ".npz");
      if (!module || !npz) continue;
      const auto given = inputs::read_literals(*npz, "in", parameter_shapes(*module));
      if (!given) continue;
      Failure failure{.name = fmt::format("{} on {}", entry["name"].get<std::string>(), target)};
      std::vector<Module> parts;
      for (size_t k = 0; k < around; ++k) {
        if (k == around / 2) {
          parts.push_back(*module);
          failure.arguments.insert(failure.arguments.end(), given->begin(), given->end());
        }
        const Module& host = hosts[(z * around + k) % hosts.size()];
        const auto sampled = inputs::sample(host, hlo::fingerprint(host), 0);
        if (!sampled) continue;
        parts.push_back(host);
        failure.arguments.insert(failure.arguments.end(), sampled->begin(), sampled->end());
      }
      failure.one.module = side_by_side(parts);
      failure.one.options.target = *target::parse_target(target);
      failures.push_back(std::move(failure));
      break;  // one target a case
    }
  }
  return failures;
}

// Larger pieces of real models, with the wrong results that a mutant of each kind gives.
std::vector<Failure> planted_failures(const Arguments& arguments, size_t most) {
  std::vector<Failure> failures;
  for (const std::string& path : arguments.pieces) {
    const auto module = hlo::read_module(path);
    if (!module || !hlo::verify(*module)) continue;
    std::vector<isolate::Piece> pieces = isolate::cut(*module, {.granularity = isolate::Granularity::Region}).pieces;
    std::erase_if(pieces, [](const isolate::Piece& piece) {
      int64_t elements = 0;
      hlo::for_each_instruction(piece.module, [&](const Computation&, const Instruction& instruction) {
        elements += instruction.shape.element_count();
      });
      return piece.module.instruction_count() < 15 || elements > 3'000'000;
    });
    const size_t each = std::max<size_t>(1, most / arguments.pieces.size());
    for (const isolate::Plant& plant : isolate::choose_plants(pieces, each)) {
      const auto piece = std::ranges::find(pieces, plant.fingerprint, &isolate::Piece::fingerprint);
      const auto sampled = inputs::sample(piece->module, hlo::fingerprint(piece->module), 0);
      if (!sampled || failures.size() == most) continue;
      Failure failure{.name = fmt::format("{} in {}", plant.kind, fs::path(path).stem().stem().string()),
                      .arguments = *sampled,
                      .plant = plant.kind};
      failure.one.module = piece->module;
      failure.one.options.target = *target::parse_target("cpu");
      failures.push_back(std::move(failure));
    }
  }
  return failures;
}

struct Row {
  Result<Reduction> reduction;
  check::Signature before;
};

Row reduce_once(const Failure& failure, int jobs, const std::string& folder) {
  setenv("PLANTS", ("any=" + failure.plant).c_str(), 1);
  ReduceOptions options;
  options.jobs = jobs;
  options.pool = {.workers = jobs,
                  .compile_seconds = 60,
                  .worker_program = failure.plant.empty() ? SAPPER_BINARY : PLANTING_WORKER};
  options.output = folder + "/reduced";
  check::Case one = failure.one;
  one.options.evaluation.time_limit_seconds = 60;
  std::vector<check::InputSet> sets(1);
  sets[0].arguments = failure.arguments;
  if (const Status written = check::write_case(folder + "/given", one, sets); !written)
    return {tl::unexpected(written.error()), {}};
  one.options.inputs = folder + "/given/inputs.npz";
  check::Signature before;
  {
    target::CompilerPool pool(options.pool);
    before = check::signature_of(check_module(pool, one.module, "given", one.options));
  }
  return {reduce(one, "given", options, nullptr), before};
}

int run(const Arguments& arguments) {
  std::vector<Failure> failures = real_failures(arguments);
  if (failures.size() > arguments.most / 2) {  // spread over the zoo
    std::vector<Failure> some;
    for (size_t k = 0; k < arguments.most / 2; ++k)
      some.push_back(failures[k * failures.size() / (arguments.most / 2)]);
    failures = std::move(some);
  }
  for (Failure& planted : planted_failures(arguments, arguments.most - failures.size()))
    failures.push_back(std::move(planted));
  const std::string folder = fs::temp_directory_path() / fmt::format("reduce_table_{}", getpid());
  std::vector<int64_t> sizes;
  int alike = 0;
  double parallel = 0;
  double sequential = 0;
  fmt::print("{:<46} {:>7} {:>5} {:>9} {:>8} {:>6} {:>7} {:>9} {:>9}  reason\n", "failure", "before", "after",
             "elements", "elements", "steps", "tried", "seconds", "--jobs 1");
  for (const Failure& failure : failures) {
    const Row many = reduce_once(failure, arguments.jobs, folder);
    const Row one = reduce_once(failure, 1, folder);
    if (!many.reduction || !one.reduction) {
      const Error& error = many.reduction ? one.reduction.error() : many.reduction.error();
      fmt::print("{:<46} {}\n", failure.name, error.describe());
      continue;
    }
    const bool same = same_reason(many.before, many.reduction->reduced.expected);
    const bool deterministic =
        hlo::to_text(many.reduction->reduced.module) == hlo::to_text(one.reduction->reduced.module);
    alike += same ? 1 : 0;
    sizes.push_back(many.reduction->after.instructions);
    parallel += many.reduction->seconds;
    sequential += one.reduction->seconds;
    fmt::print("{:<46} {:>7} {:>5} {:>9} {:>8} {:>6} {:>7} {:>9.1f} {:>9.1f}  {}{}{}\n", failure.name,
               many.reduction->before.instructions, many.reduction->after.instructions, many.reduction->before.elements,
               many.reduction->after.elements, many.reduction->steps.size(), many.reduction->tried,
               many.reduction->seconds, one.reduction->seconds, to_text(many.before),
               same ? "" : "  ANOTHER REASON: " + to_text(many.reduction->reduced.expected),
               deterministic ? "" : "  ANOTHER RESULT WITH --jobs 1");
    std::fflush(stdout);
  }
  std::error_code error;
  fs::remove_all(folder, error);
  if (sizes.empty()) return 1;
  std::ranges::sort(sizes);
  fmt::print(
      "{} failures reduced of {}: median {} instructions, largest {}; same reason in {}; {:.0f} s with {} jobs, "
      "{:.0f} s with one\n",
      sizes.size(), failures.size(), sizes[sizes.size() / 2], sizes.back(), alike, parallel, arguments.jobs,
      sequential);
  return 0;
}

}  // namespace
}  // namespace sapper::reduce

int main(int argc, char** argv) {
  sapper::reduce::Arguments arguments;
  CLI::App app("Reduces real and planted failures");
  app.add_option("--zoo", arguments.zoo);
  app.add_option("--hosts", arguments.hosts);
  app.add_option("--pieces", arguments.pieces);
  app.add_option("--on", arguments.on);
  app.add_option("--jobs", arguments.jobs);
  app.add_option("--most", arguments.most);
  CLI11_PARSE(app, argc, argv);
  return sapper::reduce::run(arguments);
}
