#include "llo/pass_walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "llo/text.h"

namespace sapper::llo {

namespace {

struct Exempt {
  std::string_view pass;
  std::string_view why;
};
// Found by running every pass of the corpus; a pass is named here only with the kernel that showed it.
constexpr std::array<Exempt, 1> kMayChangeBits = {{
    // pow of the corpus: vpow, taken as correctly rounded, becomes a logarithm, a product and an exponential.
    {"post-decomposer", "operations that the hardware lacks are taken apart"},
}};

bool is_nan(const hlo::Literal& array, int64_t i) {
  const hlo::ElementType type = array.shape().element_type();
  if (hlo::is_complex(type)) {
    const std::complex<double> value = array.complex_at(i);
    return std::isnan(value.real()) || std::isnan(value.imag());
  }
  return hlo::is_float(type) && std::isnan(array.real_at(i));
}

bool same_array(const hlo::Literal& a, const hlo::Literal& b) {
  if (a.element_count() != b.element_count()) return false;
  const auto x = a.bytes();
  const auto y = b.bytes();
  if (x.size() != y.size()) return false;
  if (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0) return true;
  const size_t each = x.size() / static_cast<size_t>(a.element_count());
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const size_t at = static_cast<size_t>(i) * each;
    if (std::memcmp(x.data() + at, y.data() + at, each) != 0 && !(is_nan(a, i) && is_nan(b, i))) return false;
  }
  return true;
}

}  // namespace

std::string_view may_change_bits(std::string_view pass) {
  const auto row = std::ranges::find(kMayChangeBits, pass, &Exempt::pass);
  return row == kMayChangeBits.end() ? std::string_view() : row->why;
}

bool is_what_if(std::string_view pass) { return pass.ends_with("-no-ra-deps") || pass.ends_with("-no-spills-fills"); }

bool same_bits(const hlo::Literal& a, const hlo::Literal& b) {
  return std::ranges::equal(hlo::leaves(a), hlo::leaves(b), same_array);
}

Result<PassWalk> walk_passes(const KernelDump& dump, const KernelCall& call) {
  PassWalk walk;
  Program first;                       // declares the allocations
  Program last;                        // the last program that ran
  std::optional<hlo::Literal> output;  // of it
  for (const StageText& stage : dump.stages) {
    if (is_what_if(stage.pass)) continue;
    PassOutcome outcome{.index = stage.index, .pass = stage.pass};
    const auto run = [&]() -> Result<KernelRun> {
      SAPPER_TRY(Program program, parse_program(stage.text, dump.kernel + "-" + stage.pass, stage.pass));
      outcome.instructions = program.instructions.size();
      outcome.bundles = program.bundles.size();
      const Program* declarations = output ? &first : &program;
      SAPPER_TRY(KernelRun done,
                 run_kernel(program, declarations, call.operands, call.operand_shapes, call.result, call.options));
      const bool changed = output && !same_bits(done.output, *output);
      if (!output) {
        first = program;
      } else if (changed && !walk.guilty && may_change_bits(stage.pass).empty()) {
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
    if (output && !same_bits(done->output, *output)) outcome.result = PassOutcome::Result::Changed;
    outcome.findings = std::move(done->findings);
    output = std::move(done->output);
    if (!walk.guilty) walk.before = walk.passes.size();
    walk.passes.push_back(std::move(outcome));
  }
  if (!walk.guilty) walk.before.reset();
  return walk;
}

}  // namespace sapper::llo
