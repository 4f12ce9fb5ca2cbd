#include "inspect/native.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/stopwatch.h"
#include "check/single_instruction.h"
#include "hlo/proto.h"
#include "inspect/kernel_graph.h"
#include "inspect/native_buffers.h"
#include "inspect/native_code.h"
#include "inspect/native_guilty.h"
#include "inspect/native_match.h"
#include "inspect/native_report.h"

namespace sapper::inspect {
namespace {

using hlo::Literal;
using hlo::Module;

constexpr size_t most_kernels_tried = 64;

// One kernel, run.
struct Run {
  Module kernel;  // its instruction, operands as parameters
  std::string name;
  target::Trace trace;
  KernelBuffers buffers;
  check::Judgement judgement;
};

class NativeInspection {
 public:
  NativeInspection(target::CompilerPool& pool, const Module& module, const std::vector<Literal>& arguments,
                   const NativeOptions& options)
      : pool_(pool),
        module_(module),
        proto_(hlo::to_compilable_proto(module)),
        arguments_(arguments),
        options_(options) {}

  Result<Inspection> run() {
    const Stopwatch watch;
    target::CompileRequest request{.module = proto_, .configuration = options_.configuration};
    SAPPER_TRY(const target::CompileResult compiled, pool_.compile(options_.target, request));
    SAPPER_TRY(optimized_, hlo::parse_proto(compiled.optimized));
    SAPPER_TRY(Run run, chosen());
    if (run.judgement.verdict == check::Verdict::Agree) SAPPER_CHECKED(look_at_given(run));
    SAPPER_TRY(Inspection inspection, inspect(std::move(run)));
    inspection.seconds = watch.seconds();
    return inspection;
  }

 private:
  // Instructions that have code of their own.
  [[nodiscard]] std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const hlo::Computation& computation : optimized_.computations)
      for (const hlo::Instruction& instruction : computation.instructions)
        if (!computation.is_fusion && instruction.opcode == hlo::Opcode::Fusion) names.push_back(instruction.name);
    return names;
  }

  Result<Run> chosen() {
    if (!options_.kernel.empty()) return run_kernel(options_.kernel);
    const std::vector<std::string> names = kernels();
    if (names.empty())
      return fail(ErrorKind::Unsupported, "the compiled program has no fusion, whose code could be stepped");
    std::optional<Run> longest;
    std::optional<Error> error;
    for (size_t i = 0; i < names.size() && i < most_kernels_tried; ++i) {
      Result<Run> run = run_kernel(names[i]);
      if (!run) {
        if (run.error().kind == ErrorKind::Crash) return run;
        error = run.error();
        continue;
      }
      if (run->judgement.verdict == check::Verdict::Mismatch) return run;
      if (!longest || longest->trace.header().steps < run->trace.header().steps) longest = std::move(*run);
    }
    if (longest) return std::move(*longest);
    return tl::unexpected(*error);
  }

  Result<Run> run_kernel(const std::string& name) {
    Run run{.name = name};
    const hlo::Instruction* instruction = nullptr;
    for (const hlo::Computation& computation : optimized_.computations) {
      const auto found = std::ranges::find(computation.instructions, name, &hlo::Instruction::name);
      if (computation.is_fusion || found == computation.instructions.end()) continue;
      instruction = &*found;
      run.kernel = check::single_instruction_module(optimized_, computation, *found);
    }
    if (instruction == nullptr)
      return fail(ErrorKind::BadInput, "no kernel is named {}; there are {}", name, fmt::join(kernels(), ", "));
    target::StepRequest request{.module = proto_,
                                .configuration = options_.configuration,
                                .arguments = arguments_,
                                .kernel = instruction->opcode == hlo::Opcode::Fusion ? name : name + "_kernel",
                                .patches = options_.patches};
    SAPPER_TRY(target::StepResult stepped, pool_.step(options_.target, request));
    if (stepped.end) return crashed(stepped);
    if (stepped.differs)
      return fail(ErrorKind::Internal, "instrumentation failed: {} gives other results when it is stepped", name);
    run.trace = std::move(stepped.trace);
    SAPPER_TRY(run.buffers, read_buffers(run.kernel, run.trace));
    SAPPER_TRY(run.judgement, judge(run));
    return run;
  }

  static tl::unexpected<Error> crashed(const target::StepResult& stepped) {
    Error error = *stepped.end;
    target::TraceReader reader(stepped.trace);
    uint32_t offset = 0;
    for (target::TraceEvent event; reader.next(event);)
      if (event.kind == target::RecordKind::Step) offset = event.offset;
    const NativeCode code = disassemble(stepped.trace.code());
    if (const auto line = code.line_at.find(offset); line != code.line_at.end())
      error.message += fmt::format("; it died at {:#x}: {}", offset, code.lines[line->second].text);
    return fail(std::move(error));
  }

  Result<check::Judgement> judge(const Run& run) const {
    check::Judge judge(run.kernel, run.buffers.operands, options_.evaluation, std::nullopt, options_.policy);
    SAPPER_CHECKED(judge.prepare());
    const bool is_tuple = run.kernel.entry_computation().root_instruction().shape.is_tuple();
    return judge.judge(is_tuple ? Literal::tuple(run.buffers.results) : run.buffers.results[0], check::Origin::Device);
  }

  Result<Inspection> inspect(Run run) const {
    SAPPER_TRY(const KernelGraph graph, graph_of(run.kernel));
    SAPPER_TRY(const std::vector<Literal> expected,
               expected_values(run.kernel, graph, run.buffers.operands, options_.evaluation, options_.memory_bytes));
    TagTable tags(run.buffers.elements);
    const IndexInput indexing{run.kernel, graph, expected, run.buffers.operand_of, options_.evaluation};
    const std::vector<ElementTags> element_tags_of = element_tags(indexing, tags);
    SAPPER_TRY(const std::vector<Site> sites, find_sites(run.trace, run.buffers.places, tags));
    const std::vector<Literal> results = results_of_roots(graph, run.buffers.results);
    const MatchInput input{run.kernel, graph, expected, element_tags_of, sites, results, options_.evaluation};
    std::vector<Match> matches = Matcher(input).run();
    std::optional<Guilty> guilty;
    if (run.judgement.verdict == check::Verdict::Mismatch) guilty = guilty_of(input, indexing, matches);

    Inspection inspection{.target = options_.target.to_string(), .stage = "native", .kernel = run.name};
    const std::string policy = run.judgement.verdict == check::Verdict::Policy ? run.judgement.reason : "";
    report({input, matches, guilty, policy, options_.window, options_.memory_bytes}, disassemble(run.trace.code()),
           inspection);
    if (run.judgement.verdict != check::Verdict::Agree)
      inspection.notes.push_back(fmt::format("the kernel's result: {}{}{}", check::to_string(run.judgement.verdict),
                                             run.judgement.reason.empty() ? "" : ": ", run.judgement.reason));
    if (run.trace.header().by == target::SteppedBy::Tracer)
      inspection.notes.emplace_back("stepped by a process that traces the compiler's: breakpoints could not be set");
    inspection.steps = run.trace.header().steps;
    inspection.module = std::move(run.kernel);
    return inspection;
  }

  static std::vector<Literal> results_of_roots(const KernelGraph& graph, const std::vector<Literal>& leaves) {
    std::vector<Literal> results;
    auto leaf = leaves.begin();
    for (const NodeIndex root : graph.roots) {
      const auto count = static_cast<std::ptrdiff_t>(hlo::leaf_count(graph.nodes[root].it->shape));
      results.push_back(graph.nodes[root].it->shape.is_tuple() ? Literal::tuple({leaf, leaf + count}) : *leaf);
      leaf += count;
    }
    return results;
  }

  // Looks closer until something differs: what is wrong by little would pass for an approximation.
  static std::optional<Guilty> guilty_of(const MatchInput& input, const IndexInput& indexing,
                                         std::vector<Match>& matches) {
    for (const double tightness : {1.0, 0.1, 0.01, 0.001}) {
      Matcher matcher(input, tightness);
      if (tightness < 1) matches = matcher.run();
      if (auto guilty = find_guilty(matcher, input, indexing, matches)) return guilty;
    }
    return std::nullopt;
  }

  // Where the kernel is right, but the program as it was given is not, or only by policy, and the whole of it became
  // this one kernel: the program as given is laid beside the code. Passes before have taken its roundings out.
  Status look_at_given(Run& run) const {
    std::optional<Run> given = as_given(run);
    if (!given) return {};
    SAPPER_TRY(given->judgement, judge(*given));
    if (given->judgement.verdict != check::Verdict::Policy && given->judgement.verdict != check::Verdict::Mismatch)
      return {};
    given->trace = std::move(run.trace);
    run = std::move(*given);
    return {};
  }

  [[nodiscard]] std::optional<Run> as_given(const Run& run) const {
    const hlo::Computation& compiled = optimized_.entry_computation();
    const hlo::Instruction& kernel = compiled.root_instruction();
    const hlo::Computation& entry = module_.entry_computation();
    if (kernel.name != run.name || !kernel.shape.same_ignoring_layout(entry.root_instruction().shape) ||
        module_.computations.size() != module_.entry + 1)
      return std::nullopt;
    Run given{.kernel = module_, .name = run.name, .buffers = run.buffers};
    given.buffers.operands = arguments_;
    given.buffers.operand_of.assign(arguments_.size(), 0);
    for (size_t p = 0; p < arguments_.size(); ++p) {
      if (!arguments_[p].shape().is_array()) return std::nullopt;
      // Of an operand that the kernel does not have, no tag is ever seen.
      given.buffers.operand_of[p] = given.buffers.elements.size();
      given.buffers.elements.push_back(arguments_[p].element_count());
    }
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
      const hlo::Instruction& operand = compiled.instructions[kernel.operands[k]];
      if (operand.opcode != hlo::Opcode::Parameter) return std::nullopt;
      given.buffers.operand_of[static_cast<size_t>(operand.parameter_number)] = run.buffers.operand_of[k];
    }
    hlo::Computation whole{.name = "whole"};
    hlo::Instruction fusion{.opcode = hlo::Opcode::Fusion, .name = run.name, .shape = entry.root_instruction().shape};
    for (const hlo::InstructionIndex parameter : entry.parameters()) {
      fusion.operands.push_back(static_cast<hlo::InstructionIndex>(whole.instructions.size()));
      whole.instructions.push_back(entry.instructions[parameter]);
    }
    fusion.called = {module_.entry};
    fusion.edit_attributes().set_fusion_kind("kLoop");
    whole.root = static_cast<hlo::InstructionIndex>(whole.instructions.size());
    whole.instructions.push_back(std::move(fusion));
    given.kernel.computations[module_.entry].is_fusion = true;
    given.kernel.computations.push_back(std::move(whole));
    given.kernel.entry = module_.entry + 1;
    given.kernel.has_entry_layout = false;
    return given;
  }

  target::CompilerPool& pool_;
  const Module& module_;
  std::string proto_;
  const std::vector<Literal>& arguments_;
  const NativeOptions& options_;
  Module optimized_;
};

}  // namespace

Result<Inspection> inspect_native(target::CompilerPool& pool, const Module& module,
                                  const std::vector<Literal>& arguments, const NativeOptions& options) {
  return NativeInspection(pool, module, arguments, options).run();
}

}  // namespace sapper::inspect
