#include "reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/stopwatch.h"
#include "check/batch.h"
#include "check/inputs_for.h"
#include "eval/evaluator.h"
#include "reduce/predicates.h"

namespace sapper::reduce {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A program may take ten times as long as the first one did; no less than this.
constexpr double patience = 10;
constexpr double least_seconds = 10;

// Iterations of loops that a program may take: an edit easily makes a loop endless.
int64_t iteration_limit(const Program& program, const eval::Options& options) {
  eval::Options limited = options;
  for (limited.iteration_limit = 10'000; limited.iteration_limit < 1'000'000'000; limited.iteration_limit *= 100)
    if (eval::evaluate(program.module, program.arguments, limited)) return limited.iteration_limit;
  return 0;
}

// The inputs on which the check failed.
Result<check::InputSet> decisive_inputs(const check::Case& one, const check::Report& report) {
  SAPPER_TRY(std::vector<check::InputSet> sets,
             inputs_for(one.module, one.options.inputs, one.options.input_set, one.options.sampling));
  const auto decisive = std::ranges::find(sets, report.input_set, &check::InputSet::label);
  return std::move(decisive == sets.end() ? sets.front() : *decisive);
}

class Reducer {
 public:
  Reducer(const check::Case& one, const std::string& path, const ReduceOptions& options)
      : given_(one), path_(path), options_(options) {}

  Result<Reduction> run(const std::function<void(const SearchProgress&)>& on_progress) {
    SAPPER_TRY(Program program, find_failure());
    iterations_ = iteration_limit(program, given_.options.evaluation);
    target::PoolOptions limits = options_.pool;
    limits.compile_seconds = std::min(limits.compile_seconds, time_limit_);
    target::CompilerPool pool(limits);
    const Interesting interesting = options_.command.empty() ? fails_alike(pool, check_options(), signature_)
                                                             : satisfies(options_.command, time_limit_);
    SAPPER_TRY(const int tries, tries_for(program, interesting));
    Reduction reduction;
    reduction.before = size_of(program);
    Status written;
    SearchOptions search_options{.jobs = options_.jobs, .tries = tries, .on_progress = on_progress};
    search_options.on_step = [&](const Step& step, const Program& at) {
      if (written) written = keep(step, at);
    };
    Searched searched = search(std::move(program), interesting, search_options);
    SAPPER_CHECKED(std::move(written));
    reduction.after = size_of(searched.program);
    reduction.steps = std::move(searched.steps);
    reduction.tried = searched.tried;
    reduction.tries = tries;
    reduction.seconds = searched.seconds;
    const check::Report report =
        check_module(pool, searched.program.module, check::case_module_path(options_.output),
                     options_for(searched.program, check_options()), inputs_of(searched.program));
    reduction.reduced = as_case(searched.program, check::signature_of(report));
    SAPPER_CHECKED(check::write_case(options_.output, reduction.reduced, inputs_of(searched.program)));
    return reduction;
  }

 private:
  // The program with the inputs on which it fails, and how it does.
  Result<Program> find_failure() {
    target::CompilerPool pool(options_.pool);
    const Stopwatch clock;
    const check::Report report = check_module(pool, given_.module, path_, given_.options);
    time_limit_ = std::max(least_seconds, patience * clock.seconds());
    if (options_.command.empty() && report.error && report.error->kind == ErrorKind::BadInput)
      return tl::unexpected(*report.error);
    if (options_.command.empty() && check::exit_code(report.verdict) != 1)
      return fail(ErrorKind::BadInput, "{}: nothing to reduce: {} on {}{}", path_, to_string(report.verdict),
                  report.target, report.reason.empty() ? "" : ": " + report.reason);
    signature_ = check::signature_of(report);
    SAPPER_TRY(const check::InputSet inputs, decisive_inputs(given_, report));
    seed_ = inputs.seed;
    return normalized(given_.module, inputs.arguments, given_.options.configuration);
  }

  // How often each program is to be tried, by how often the first one fails; an error where it does not.
  Result<int> tries_for(const Program& program, const Interesting& interesting) {
    constexpr int first = 3;
    constexpr int more = 9;
    constexpr double missed = 0.01;  // how often an interesting program may be taken for an uninteresting one
    int failures = 0;
    for (int k = 0; k < first; ++k) failures += interesting(program) ? 1 : 0;
    if (failures == first) return 1;
    for (int k = 0; k < more; ++k) failures += interesting(program) ? 1 : 0;
    if (failures == 0)
      return fail(
          ErrorKind::BadInput,
          "{}: not reduced: by itself, on the inputs that showed it ({}), it does not fail in the same way again",
          path_, options_.command.empty() ? to_text(signature_) : options_.command);
    const double rate = static_cast<double>(failures) / (first + more);
    return std::max(2, static_cast<int>(std::ceil(std::log(missed) / std::log(1 - std::min(rate, 0.9)))));
  }

  [[nodiscard]] check::CheckOptions check_options() const {
    check::CheckOptions options = given_.options;
    options.evaluation.time_limit_seconds = time_limit_;
    options.evaluation.iteration_limit = iterations_;
    options.sampling.seed = seed_;
    options.sampling.seeds = 1;
    return options;
  }

  [[nodiscard]] check::Case as_case(const Program& program, const check::Signature& signature) const {
    check::Case one{.module = program.module, .expected = signature, .made_by = options_.made_by};
    one.options = options_for(program, check_options());
    one.options.evaluation.time_limit_seconds = given_.options.evaluation.time_limit_seconds;
    one.about =
        given_.about.empty() ? fmt::format("reduced from {}", fs::path(path_).filename().string()) : given_.about;
    return one;
  }

  // A step's program as a case in the history, and as what is reduced so far.
  [[nodiscard]] Status keep(const Step& step, const Program& program) {
    const check::Case one = as_case(program, signature_);
    SAPPER_CHECKED(check::write_case(options_.output, one, inputs_of(program)));
    const fs::path history = fs::path(options_.output) / "history";
    std::error_code error;
    if (kept_ == 0) fs::remove_all(history, error);  // of another reduction into the same folder
    SAPPER_CHECKED(check::write_case(history / fmt::format("{:04}-{}", ++kept_, step.pass), one, inputs_of(program)));
    log_ += fmt::format("{:04} {:>8.2f} s  {:>6} instructions  {:>10} elements  {:<10} {}\n", kept_, step.seconds,
                        step.size.instructions, step.size.elements, step.pass, step.what);
    return write_file(history / "log.txt", log_);
  }

  const check::Case& given_;
  const std::string& path_;
  const ReduceOptions& options_;
  check::Signature signature_;
  uint64_t seed_ = 0;
  double time_limit_ = 0;
  int64_t iterations_ = 0;
  int kept_ = 0;
  std::string log_;
};

Json size_json(const Size& size) {
  return {{"instructions", size.instructions}, {"elements", size.elements}, {"flags", size.flags}};
}

}  // namespace

Result<Reduction> reduce(const check::Case& one, const std::string& path, const ReduceOptions& options,
                         const std::function<void(const SearchProgress&)>& on_progress) {
  return Reducer(one, path, options).run(on_progress);
}

std::string to_json(const Reduction& reduction) {
  Json json{{"target", reduction.reduced.options.target.to_string()},
            {"signature", to_json(reduction.reduced.expected)},
            {"before", size_json(reduction.before)},
            {"after", size_json(reduction.after)},
            {"steps", Json::array()},
            {"tried", reduction.tried},
            {"tries", reduction.tries},
            {"seconds", reduction.seconds}};
  for (const Step& step : reduction.steps)
    json["steps"].push_back({{"pass", step.pass},
                             {"what", step.what},
                             {"instructions", step.size.instructions},
                             {"elements", step.size.elements},
                             {"seconds", step.seconds}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sapper::reduce
