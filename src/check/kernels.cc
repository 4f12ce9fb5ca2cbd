#include "check/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "base/stopwatch.h"
#include "check/litmus.h"
#include "check/open_elements.h"
#include "check/single_instruction.h"
#include "llo/invariants.h"
#include "llo/kernel.h"
#include "llo/pass_walk.h"
#include "llo/text.h"

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;

std::string difference_text(const Literal& a, const Literal& b, numerics::Element element) {
  const auto [leaf, index] = element;
  return fmt::format("result {} differs at element {}: {} and {}", leaf, index, hlo::leaves(a)[leaf].real_at(index),
                     hlo::leaves(b)[leaf].real_at(index));
}

// Why a judgement is what it is, in one line.
std::string reason_of(const Judgement& judgement) {
  return judgement.reason.empty() ? worst_of(judgement.outputs, judgement.verdict) : judgement.reason;
}

// A fusion or the like that nobody but a kernel computes on a TPU.
bool needs_kernel(const Instruction& instruction) {
  switch (instruction.opcode) {
    case hlo::Opcode::Fusion:
    case hlo::Opcode::Convolution:
    case hlo::Opcode::Dot:
    case hlo::Opcode::Reduce:
    case hlo::Opcode::ReduceWindow:
    case hlo::Opcode::Sort:
    case hlo::Opcode::Gather:
    case hlo::Opcode::Scatter: return true;
    default: return false;
  }
}

// What a finding says of the kernel. An address or branch that depends on undefined data may be harmless, where all
// that the data can do is bounded: a run proves neither. Alignment and some invariants are as measured, not as
// documented.
Verdict verdict_of(llo::FindingKind kind) {
  switch (kind) {
    case llo::FindingKind::UndefinedControl:
    case llo::FindingKind::Misaligned:
    case llo::FindingKind::BrokenInvariant: return Verdict::Undetermined;
    default: return Verdict::Mismatch;
  }
}

class KernelsRun {
 public:
  KernelsRun(const Module& module, const llo::ModuleDump& dump, const KernelOptions& options)
      : module_(module), dump_(dump), options_(options) {}

  KernelsReport run(const std::vector<Literal>& arguments) {
    eval::Options evaluation = options_.evaluation;
    evaluation.substitute.covers = [this](const Computation& computation, const Instruction& instruction) {
      return covers(computation, instruction);
    };
    evaluation.substitute.run = [this](const Computation& computation, const Instruction& instruction,
                                       std::vector<Literal> operands) {
      return run(computation, instruction, std::move(operands));
    };
    Result<Literal> output = eval::evaluate(module_, arguments, evaluation);
    KernelsReport report;
    for (KernelReport& kernel : reports_) {
      if (severity(kernel.verdict) > severity(report.verdict)) {
        report.verdict = kernel.verdict;
        report.reason = fmt::format("kernel {}: {}", kernel.instruction, kernel.reason);
      }
    }
    if (!output && severity(report.verdict) < severity(Verdict::Undetermined)) {
      report.verdict = Verdict::Undetermined;
      report.reason = output.error().describe();
    }
    report.without_dump.assign(without_dump_.begin(), without_dump_.end());
    report.kernels = static_cast<int64_t>(reports_.size() + report.without_dump.size());
    report.from_llo = static_cast<int64_t>(std::ranges::count_if(
        reports_, [this](const KernelReport& kernel) { return from_llo_.contains(kernel.instruction); }));
    report.reports = std::move(reports_);
    if (output) report.output = std::move(*output);
    return report;
  }

 private:
  bool covers(const Computation& computation, const Instruction& instruction) {
    if (computation.is_fusion || is_uninitialized(instruction)) return false;
    if (dump_.kernel_of(instruction.name) != nullptr) return true;
    if (needs_kernel(instruction)) without_dump_.insert(instruction.name);
    return false;
  }

  // The report of an instruction, made when it runs first.
  KernelReport& report_of(const Instruction& instruction, const llo::KernelDump& kernel) {
    const auto [place, fresh] = position_.try_emplace(instruction.name, reports_.size());
    if (fresh) reports_.push_back({.instruction = instruction.name, .kernel = kernel.kernel});
    return reports_[place->second];
  }

  static void worsen(KernelReport& report, Verdict verdict, std::string reason) {
    if (severity(verdict) <= severity(report.verdict)) return;
    report.verdict = verdict;
    report.reason = std::move(reason);
  }

  Result<Literal> run(const Computation& computation, const Instruction& instruction, std::vector<Literal> operands) {
    const llo::KernelDump& kernel = *dump_.kernel_of(instruction.name);
    KernelReport& report = report_of(instruction, kernel);
    ++report.runs;
    const Module single = single_instruction_module(module_, computation, instruction);
    Judge judge(single, operands, options_.evaluation, options_.tolerance, options_.policy);
    const Status prepared = judge.prepare();
    llo::Elements open;
    if (prepared) open = open_elements(single, operands, judge.reference(), options_.evaluation);

    const auto before = std::pair(report.verdict, report.reason);
    std::optional<Literal> value;  // of the first stage that stayed in its memory, or of the last one
    for (const std::string& stage : options_.stages) {
      Result<llo::KernelRun> run = run_stage(kernel, stage, computation, instruction, operands, open, report);
      if (!run) {
        worsen(report, Verdict::Undetermined, fmt::format("{}: {}", stage, run.error().describe()));
        break;
      }
      run->output = closed(std::move(run->output), judge.reference(), open);
      const bool is_last = &stage == &options_.stages.back();
      if (is_last && run->findings.empty()) undo_findings(report);
      if (!value && !is_last && left_memory(*run)) continue;
      if (!value || rounds_otherwise(kernel)) {
        if (prepared) judge_output(judge, run->output, report);
        if (value) continue;
        report.emitted_wrong = report.emitted_wrong || report.verdict == Verdict::Mismatch;
        value = std::move(run->output);
      } else {
        compare_stages(*value, stage, run->output, report);
      }
    }
    for (const KernelFinding& finding : report.findings) {
      if (finding.undone) continue;
      worsen(report, verdict_of(finding.kind),
             fmt::format("{} line {}: {}: {}", finding.stage, finding.line, to_string(finding.kind), finding.message));
    }
    if (report.verdict == Verdict::Mismatch && before.first != Verdict::Mismatch) {
      // What is called with what it is not made for may do anything.
      if (const auto without_meaning = open_meaning_on(single, operands, options_.evaluation)) {
        std::tie(report.verdict, report.reason) = before;
        worsen(report, Verdict::Undetermined, without_meaning->why);
      }
    }
    if (!prepared) worsen(report, Verdict::Undetermined, prepared.error().describe());
    if ((report.verdict == Verdict::Mismatch || options_.keep_calls) && !report.call) {
      report.call = {operands, operand_shapes(computation, instruction), instruction.shape};
    }
    if (value) {
      from_llo_.insert(instruction.name);
      return *value;
    }
    if (!prepared) return fail(prepared.error());
    return judge.reference();
  }

  // `first`, the value of the first stage, with that of a later one.
  void compare_stages(const Literal& first, const std::string& stage, const Literal& later, KernelReport& report) {
    const auto element = numerics::first_different_bits(first, later);
    if (!element) return;
    if (!options_.policy.strict && numerics::same_bits(first, later, numerics::Alike::Zeros)) {
      worsen(report, Verdict::Policy, "passes fold 0 + x to x: zeros have other signs");
    } else if (!options_.policy.strict && numerics::same_bits(first, later, numerics::Alike::FlushedSubnormals)) {
      worsen(report, Verdict::Policy, "passes fold 0 + x to x: subnormals are not flushed to zero");
    } else {
      worsen(report, Verdict::Mismatch,
             fmt::format("{} and {}: {}", options_.stages[0], stage, difference_text(first, later, *element)));
    }
  }

  // It went on no further.
  static bool left_memory(const llo::KernelRun& run) {
    return std::ranges::find(run.findings, llo::FindingKind::OutOfBounds, &llo::Finding::kind) != run.findings.end();
  }

  static void undo_findings(KernelReport& report) {
    for (KernelFinding& finding : report.findings) finding.undone = true;
  }

  static void judge_output(Judge& judge, const Literal& output, KernelReport& report) {
    Judgement judgement = judge.judge(output, Origin::Device);
    if (report.outputs.empty() || severity(judgement.verdict) > severity(report.verdict)) {
      report.outputs = judgement.outputs;
    }
    worsen(report, judgement.verdict, reason_of(judgement));
  }

  // Whether later stages of the kernel legally compute other bits than the first.
  bool rounds_otherwise(const llo::KernelDump& kernel) {
    const Result<const llo::Program*> first = program_of(kernel, options_.stages[0]);
    return first && !llo::may_change_bits(**first).empty();
  }

  static std::vector<Shape> operand_shapes(const Computation& computation, const Instruction& instruction) {
    std::vector<Shape> shapes;
    for (const hlo::InstructionIndex operand : instruction.operands) {
      shapes.push_back(computation.instructions[operand].shape);
    }
    return shapes;
  }

  Result<llo::KernelRun> run_stage(const llo::KernelDump& kernel, const std::string& stage,
                                   const Computation& computation, const Instruction& instruction,
                                   std::span<const Literal> operands, const llo::Elements& open, KernelReport& report) {
    SAPPER_TRY(const llo::Program* const program, program_of(kernel, stage));
    const llo::Program* declarations = nullptr;
    if (program->form != llo::Form::Ssa) {
      SAPPER_TRY(declarations, program_of(kernel, "original"));
    }
    const std::vector<Shape> shapes = operand_shapes(computation, instruction);
    const Stopwatch stopwatch;
    Result<llo::KernelRun> run =
        llo::run_kernel(*program, declarations, operands, shapes, instruction.shape, options_.machine, open);
    report.seconds += stopwatch.seconds();
    if (!run) return run;
    report.steps += run->steps;
    report.vector_steps += run->vector_steps;
    if (report.runs > 1) return run;
    for (const llo::Violation& violation : llo::check_invariants(*program, options_.machine.generation))
      report.findings.push_back({.kind = llo::FindingKind::BrokenInvariant,
                                 .message = fmt::format("{}: {}", to_string(violation.invariant), violation.message),
                                 .stage = stage,
                                 .line = violation.line});
    for (const llo::Finding& finding : run->findings) add_finding(*program, stage, finding, report);
    return run;
  }

  static void add_finding(const llo::Program& program, const std::string& stage, const llo::Finding& finding,
                          KernelReport& report) {
    KernelFinding found{.kind = finding.kind, .message = finding.message, .stage = stage};
    if (finding.instruction < program.instructions.size()) {
      const llo::Instruction& instruction = program.instructions[finding.instruction];
      found.line = instruction.line;
      found.opcode = instruction.opcode;
      found.hlo_instruction = program.hlo_of(instruction);
    }
    report.findings.push_back(std::move(found));
  }

  // Parsed when first needed.
  Result<const llo::Program*> program_of(const llo::KernelDump& kernel, const std::string& stage) {
    const auto [place, fresh] = programs_.try_emplace({kernel.kernel, stage});
    if (fresh) {
      const llo::StageText* const text = kernel.stage(stage);
      const std::string file = fmt::format("{}-{}", kernel.kernel, stage);
      place->second =
          text == nullptr ? fail(ErrorKind::BadInput, "{} was not dumped", file) : llo::parse_program(text->text, file);
    }
    if (!place->second) return fail(place->second.error());
    return &*place->second;
  }

  const Module& module_;
  const llo::ModuleDump& dump_;
  const KernelOptions& options_;
  std::vector<KernelReport> reports_;
  std::map<std::string, size_t> position_;  // of an instruction's report
  std::set<std::string> from_llo_;
  std::set<std::string> without_dump_;
  std::map<std::pair<std::string, std::string>, Result<llo::Program>> programs_;
};

}  // namespace

const KernelReport* KernelsReport::first_wrong() const {
  const auto wrong = std::ranges::find(reports, Verdict::Mismatch, &KernelReport::verdict);
  return wrong == reports.end() ? nullptr : &*wrong;
}

KernelsReport run_kernels(const Module& optimized, const llo::ModuleDump& dump, const std::vector<Literal>& arguments,
                          const KernelOptions& options) {
  return KernelsRun(optimized, dump, options).run(arguments);
}

}  // namespace sapper::check
