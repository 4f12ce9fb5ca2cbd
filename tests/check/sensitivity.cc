// Development: how much the judge sees. Wrong compilers are made of modules (hlo_mutants.h), and their results judged
// by bounds and, side by side, by a fixed tolerance of 0.01 absolute and 0.1 relative.
//   sensitivity FILE... [--seeds N] [--most N] [--missed]
// Prints JSON: for each kind of change how many have an effect on some input, and how many of those each way sees.
// Apart are changes that are none in real arithmetic, such as another shift of the exponents of a softmax: with all
// floats widened to f64 the results are the same up to 1e-9.
#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "check/inputs_for.h"
#include "check/judge.h"
#include "check/widen.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "tests/check/hlo_mutants.h"

namespace sapper::check {
namespace {

constexpr numerics::Tolerance fixed_tolerance{.absolute = 0.01, .relative = 0.1};
constexpr numerics::Tolerance same_in_f64{.absolute = 0, .relative = 1e-9, .scaled = 1e-9};
constexpr double suspicious = 4;

struct Seen {
  bool effect = false;     // some bit of some output differs
  bool in_f64 = false;     // also with all floats widened
  bool suspicion = false;  // it agrees, farther off than chance makes it
  bool mismatch = false;   // by bounds
  bool policy = false;     // a difference that policy allows
  bool doubt = false;      // undetermined
  bool tolerance = false;  // the fixed tolerance sees it
};

struct Counts {
  int made = 0, effective = 0, real = 0, mismatch = 0, policy = 0, undetermined = 0, suspicion = 0, agree = 0;
  int tolerance = 0;
  void add(const Seen& seen) {
    ++made;
    if (!seen.effect) return;
    ++effective;
    if (!seen.mismatch && !seen.in_f64) return;
    ++real;
    tolerance += seen.tolerance ? 1 : 0;
    ++(seen.mismatch    ? mismatch
       : seen.policy    ? policy
       : seen.doubt     ? undetermined
       : seen.suspicion ? suspicion
                        : agree);
  }
};

struct Reference {
  const hlo::Module* module;
  InputSet set;
  std::unique_ptr<Judge> judge;
  std::optional<Result<hlo::Literal>> widened = std::nullopt;  // when first needed
};

class Study {
 public:
  Study(int seeds, size_t most, bool shows_missed) : most_(most), shows_missed_(shows_missed) {
    sampling_.seeds = seeds;
    sampling_.kinds.assign(std::begin(inputs::kinds), std::end(inputs::kinds));
    evaluation_.time_limit_seconds = 10;
    evaluation_.memory_limit_bytes = int64_t{4} << 30;
  }

  Status module(const std::string& path) {
    SAPPER_TRY(const hlo::Module original, hlo::read_module(path));
    SAPPER_CHECKED(hlo::verify(original));
    SAPPER_TRY(std::vector<InputSet> sets, inputs_for(original, "", std::nullopt, sampling_));
    std::vector<Reference> references;
    references.reserve(sets.size());
    for (InputSet& set : sets) references.push_back({&original, std::move(set), nullptr});
    for (Reference& reference : references) {
      reference.judge = std::make_unique<Judge>(original, reference.set.arguments, evaluation_, std::nullopt, Policy{});
      SAPPER_CHECKED(reference.judge->prepare());
    }
    for (const HloMutant& mutant : mutants_of(original, most_)) {
      const Seen seen = look(mutant, references);
      counts_[mutant.kind].add(seen);
      if (shows_missed_ && seen.effect && seen.in_f64 && !seen.mismatch)
        fmt::print(stderr, "{}: {} {}: {}{}\n", path, mutant.kind, mutant.instruction,
                   seen.policy      ? "policy"
                   : seen.doubt     ? "undetermined"
                   : seen.suspicion ? "suspicious"
                                    : "agree",
                   seen.tolerance ? ", seen by the tolerance" : "");
    }
    return {};
  }

  [[nodiscard]] nlohmann::ordered_json report() const {
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    for (const std::string_view kind : hlo_mutant_kinds()) {
      const auto found = counts_.find(kind);
      if (found == counts_.end()) continue;
      const Counts& c = found->second;
      kinds.push_back({{"kind", kind},
                       {"made", c.made},
                       {"effective", c.effective},
                       {"real", c.real},
                       {"mismatch", c.mismatch},
                       {"policy", c.policy},
                       {"undetermined", c.undetermined},
                       {"suspicious", c.suspicion},
                       {"agree", c.agree},
                       {"tolerance", c.tolerance}});
    }
    return kinds;
  }

 private:
  // Until bounds and tolerance have both seen it.
  [[nodiscard]] Seen look(const HloMutant& mutant, std::vector<Reference>& references) const {
    Seen seen;
    for (Reference& reference : references) {
      const auto got = eval::evaluate(mutant.module, reference.set.arguments, evaluation_);
      if (!got) continue;
      if (numerics::same_bits(*got, reference.judge->reference(), numerics::Alike::Zeros)) continue;
      seen.effect = true;
      if (!seen.mismatch) {
        const Judgement judgement = reference.judge->judge(*got, Origin::Device);
        const Verdict verdict = judgement.verdict;
        seen.mismatch = verdict == Verdict::Mismatch;
        for (const OutputReport& output : judgement.outputs)
          seen.suspicion = seen.suspicion || output.suspicion >= suspicious;
        seen.policy = seen.policy || verdict == Verdict::Policy;
        seen.doubt = seen.doubt || verdict == Verdict::Undetermined;
      }
      const std::vector<hlo::Literal> ours = hlo::leaves(*got), right = hlo::leaves(reference.judge->reference());
      for (size_t leaf = 0; leaf < ours.size() && !seen.tolerance; ++leaf)
        seen.tolerance =
            ours[leaf].shape().is_array() && numerics::compare(ours[leaf], right[leaf], fixed_tolerance).mismatches > 0;
      seen.in_f64 = seen.in_f64 || (!seen.mismatch && !same_when_widened(mutant, reference));
      if (seen.mismatch && seen.tolerance) break;
    }
    return seen;
  }

  [[nodiscard]] Result<hlo::Literal> evaluate_widened(const hlo::Module& module,
                                                      const std::vector<hlo::Literal>& arguments) const {
    SAPPER_TRY(const hlo::Module wide, widen(module));
    std::vector<hlo::Literal> wide_arguments;
    wide_arguments.reserve(arguments.size());
    for (const hlo::Literal& argument : arguments) wide_arguments.push_back(widen(argument));
    return eval::evaluate(wide, wide_arguments, evaluation_);
  }

  // Roundings to narrow types are none where nothing is rounded: changes of them count as real.
  [[nodiscard]] bool same_when_widened(const HloMutant& mutant, Reference& reference) const {
    if (mutant.kind == "truncated convert" || mutant.kind == "dropped convert" || mutant.kind == "narrowed terms")
      return false;
    const auto ours = evaluate_widened(mutant.module, reference.set.arguments);
    if (!reference.widened) reference.widened = evaluate_widened(*reference.module, reference.set.arguments);
    const Result<hlo::Literal>& right = *reference.widened;
    if (!ours || !right) return false;
    const std::vector<hlo::Literal> a = hlo::leaves(*ours), b = hlo::leaves(*right);
    for (size_t leaf = 0; leaf < a.size(); ++leaf)
      if (a[leaf].shape().is_array() && numerics::compare(a[leaf], b[leaf], same_in_f64).mismatches > 0) return false;
    return true;
  }

  Sampling sampling_;
  eval::Options evaluation_;
  size_t most_;
  bool shows_missed_;
  std::map<std::string_view, Counts> counts_;
};

int run(const std::vector<std::string>& paths, Study& study) {
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const std::string& path : paths)
    if (const Status status = study.module(path); !status)
      skipped.push_back({{"module", path}, {"reason", status.error().describe()}});
  fmt::print("{}\n", nlohmann::ordered_json{{"kinds", study.report()}, {"skipped", skipped}}.dump(1));
  return 0;
}

}  // namespace
}  // namespace sapper::check

int main(int argc, char** argv) {
  CLI::App app("How many wrong compilers the judge sees");
  std::vector<std::string> paths;
  int seeds = 1;
  size_t most = 4;
  bool missed = false;
  app.add_option("modules", paths)->required();
  app.add_option("--seeds", seeds, "Seeds for each kind of inputs");
  app.add_option("--most", most, "Changes of one kind in one module");
  app.add_flag("--missed", missed, "Lists what the bounds do not see on stderr");
  CLI11_PARSE(app, argc, argv);
  sapper::check::Study study(seeds, most, missed);
  return sapper::check::run(paths, study);
}
