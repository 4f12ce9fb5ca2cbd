#include "llo/pass_walk.h"

#include <algorithm>
#include <array>

#include "llo/text.h"
#include "numerics/compare.h"

namespace sapper::llo {

namespace {

// A pass that legally changes bits of kernels with an opcode that begins so.
struct Exempt {
  std::string_view pass;
  std::string_view opcode;
  std::string_view why;
};
// Found by running every pass of the corpus.
constexpr std::array<Exempt, 3> kMayChangeBits = {{
    {"post-decomposer", "vpow.f32", "a power becomes a logarithm, a product and an exponential"},
    {"post-MXU-assigner", "vpop.f32.mrb", "sums in the result buffer are split over the matrix units"},
    {"post-MXU-assigner", "vmatprep.subr.bf16", "sums are split over the two matrix units (v6e)"},
}};

bool has_opcode(const Program& program, std::string_view beginning) {
  return std::ranges::any_of(program.instructions,
                             [&](const Instruction& instruction) { return instruction.opcode.starts_with(beginning); });
}

}  // namespace

std::string_view may_change_bits(std::string_view pass, const Program& first) {
  for (const Exempt& exempt : kMayChangeBits)
    if (exempt.pass == pass && has_opcode(first, exempt.opcode)) return exempt.why;
  return {};
}

std::string_view may_change_bits(const Program& first) {
  for (const Exempt& exempt : kMayChangeBits)
    if (has_opcode(first, exempt.opcode)) return exempt.why;
  return {};
}

bool is_what_if(std::string_view pass) { return pass.ends_with("-no-ra-deps") || pass.ends_with("-no-spills-fills"); }

Result<PassWalk> walk_passes(const KernelDump& dump, const KernelCall& call) {
  PassWalk walk;
  Program first;                       // declares the allocations
  Program last;                        // the last program that ran
  bool scheduled = false;              // a pass with bundles was seen
  std::optional<hlo::Literal> output;  // of it
  for (const StageText& stage : dump.stages) {
    if (is_what_if(stage.pass)) continue;
    PassOutcome outcome{.index = stage.index, .pass = stage.pass};
    const auto run = [&]() -> Result<KernelRun> {
      SAPPER_TRY(Program program, parse_program(stage.text, dump.kernel + "-" + stage.pass));
      outcome.instructions = program.instructions.size();
      outcome.bundles = program.bundles.size();
      if (scheduled && program.bundles.empty())
        return fail(ErrorKind::Unsupported, "dumped by lines, which do not show what stands in the delay slots");
      scheduled = scheduled || !program.bundles.empty();
      const Program* declarations = output ? &first : &program;
      SAPPER_TRY(KernelRun done,
                 run_kernel(program, declarations, call.operands, call.operand_shapes, call.result, call.options));
      const bool changed = output && !numerics::same_bits(done.output, *output, numerics::Alike::FlushedSubnormals);
      if (changed) outcome.result = PassOutcome::Result::Changed;
      if (!output) {
        first = program;
      } else if (changed && !walk.guilty && may_change_bits(stage.pass, first).empty()) {
        walk.guilty = walk.passes.size();
        KernelCall again = call;
        again.declarations = &first;
        SAPPER_TRY(walk.divergence, first_divergence(last, program, again));
      }
      if (!walk.guilty) last = std::move(program);
      return done;
    };
    Result<KernelRun> done = run();
    if (!done) {
      if (!output) return tl::unexpected<Error>(done.error());
      outcome.result = PassOutcome::Result::NotRun;
      outcome.reason = done.error().describe();
      walk.passes.push_back(std::move(outcome));
      continue;
    }
    outcome.findings = std::move(done->findings);
    output = std::move(done->output);
    if (!walk.guilty) walk.before = walk.passes.size();
    walk.passes.push_back(std::move(outcome));
  }
  if (!walk.guilty) walk.before.reset();
  return walk;
}

}  // namespace sapper::llo
