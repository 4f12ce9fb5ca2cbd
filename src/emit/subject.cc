#include "emit/subject.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>

#include "bounds/bounded.h"
#include "check/inputs_for.h"
#include "check/policy.h"
#include "emit/emit.h"

namespace sapper::emit {
namespace {

constexpr int64_t most_elements = int64_t{1} << 18;  // of arguments and results: numbers in a test's text

std::vector<double> tolerance_of(const hlo::Literal& deviation) {
  if (!deviation.shape().is_array()) return {0};
  std::vector<double> tolerance;
  for (int64_t i = 0; i < deviation.element_count(); ++i) {
    const double one = deviation.real_at(i);
    tolerance.push_back(std::isnan(one) ? std::numeric_limits<double>::infinity() : one);
  }
  const bool all_alike = std::ranges::all_of(tolerance, [&](const double one) { return one == tolerance[0]; });
  return all_alike && !tolerance.empty() ? std::vector<double>{tolerance[0]} : tolerance;
}

int64_t elements_of(const Run& run) {
  int64_t all = 0;
  for (const hlo::Literal& argument : run.arguments) all += argument.element_count();
  for (const Output& output : run.outputs) all += output.expected.element_count();
  return all;
}

Result<Run> run_on(const bounds::BoundedModule& bounded, const check::InputSet& inputs, const eval::Options& options) {
  SAPPER_TRY(bounds::Bounded value, bounds::evaluate(bounded, inputs.arguments, options));
  Run run{inputs.label, inputs.arguments, {}};
  const std::vector<hlo::Literal> results = hlo::leaves(value.value);
  for (size_t k = 0; k < results.size(); ++k) {
    if (!results[k].shape().is_array())
      return fail(ErrorKind::Unsupported, "result {} is no array: there is nothing to compare", k);
    run.outputs.push_back({results[k], tolerance_of(value.deviations[k])});
  }
  if (elements_of(run) > most_elements)
    return fail(
        ErrorKind::Unsupported,
        "{} elements of arguments and results are too many for a test's text (at most {}): reduce the case first",
        elements_of(run), most_elements);
  return run;
}

}  // namespace

std::string name_of(const std::string& folder) {
  std::string name;
  for (const unsigned char c : std::filesystem::absolute(folder + "/").parent_path().filename().string())
    name += std::isalnum(c) != 0 ? static_cast<char>(c) : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "case_" + name;
  return name;
}

Status write_as_case(const Subject& subject, const std::string& folder) {
  std::vector<check::InputSet> sets;
  for (const Run& run : subject.runs) sets.push_back({run.label, 0, "", run.arguments});
  return check::write_case(std::filesystem::path(folder) / subject.name, subject.one, sets);
}

Result<Subject> subject_of(const std::string& folder) {
  SAPPER_TRY(check::Case one, check::read_case(folder));
  SAPPER_TRY(const std::vector<check::InputSet> sets,
             inputs_for(one.module, one.options.inputs, one.options.input_set, one.options.sampling));
  SAPPER_TRY(const bounds::BoundedModule bounded,
             in_file(bounds::with_bounds(one.module, check::widest_contract(one.module, check::policy_of(one.options))),
                     folder));
  Subject subject{name_of(folder), std::move(one), {}};
  for (const check::InputSet& inputs : sets) {
    SAPPER_TRY(Run run, in_file(run_on(bounded, inputs, subject.one.options.evaluation), folder));
    subject.runs.push_back(std::move(run));
  }
  return subject;
}

}  // namespace sapper::emit
