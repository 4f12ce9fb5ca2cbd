// Cases: what is written is read back, what is checked again says whether it still holds, and options survive the way
// through JSON and through a command line.
#include "check/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/batch.h"
#include "check/recorded_options.h"
#include "hlo/text.h"

namespace sapper::check {
namespace {

using ::testing::HasSubstr;

// The sum of four bits forgets to wrap in every release of XLA:CPU here.
constexpr const char* wrong = R"(HloModule int4
ENTRY e {
  x = s8[16]{0} parameter(0)
  four = s4[16]{0} convert(x)
  sum = s4[16]{0} add(four, four)
  ROOT wide = s8[16]{0} convert(sum)
})";

CheckOptions every_option() {
  CheckOptions options;
  options.target = *target::parse_target("tpu:v5e");
  options.level = Level::All;
  options.configuration.options = {{"xla_a", true}, {"xla_b", int64_t{3}}, {"xla_c", 0.5}, {"xla_d", std::string("1")}};
  options.configuration.init_flags = "--xla_e=1 --xla_f='a b'";
  options.machine.perturb_transcendentals = 8;
  options.machine.flush_subnormals = false;
  options.machine.round_matmul_operands = false;
  options.machine.matrix_sum = llo::MatrixSum::Single;
  options.sampling = {7, 2, {inputs::Kind::Edges}};
  options.strict = true;
  options.tolerance = numerics::Tolerance{.absolute = 0.25, .relative = 0.5, .ulps = 2};
  options.evaluation.time_limit_seconds = 60;
  return options;
}

class CaseFolder : public ::testing::Test {
 protected:
  std::string folder = testing::TempDir() + fmt::format("case_test_{}", getpid());
  ~CaseFolder() override { std::filesystem::remove_all(folder); }
};

TEST(RecordedOptions, ComeBackFromJson) {
  const nlohmann::ordered_json json = to_json(every_option());
  const auto read = options_from_json(json);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(to_json(*read), json);
  EXPECT_EQ(read->configuration.options, every_option().configuration.options) << "types too: '1' is no number";
  EXPECT_THAT(json["target"], HasSubstr("tpu:v5e@")) << "the default release of today";
}

TEST(RecordedOptions, AsACommand) {
  EXPECT_EQ(
      command_of(every_option(), "a b.hlo"),
      "sapper check 'a b.hlo' --on tpu:v5e --level all --seed 7 --seeds 2 --inputs-kind edges --option xla_a=true "
      "--option xla_b=3 --option xla_c=0.5 --option xla_d=1 --init-flags '--xla_e=1 --xla_f='\\''a b'\\''' "
      "--strict --tolerance abs=0.25,rel=0.5,ulp=2 --eup perturb --subnormals keep --matmul-operands f32 "
      "--matmul-sums single");
}

TEST(RecordedOptions, NonsenseIsToldNotSuffered) {
  for (const char* text : {"3", "{}", R"({"target": 3})", R"({"target": "cpu", "level": "deep"})",
                           R"({"target": "cpu", "kinds": ["big"]})", R"({"target": "cpu", "seeds": []})",
                           R"({"target": "cpu", "configuration": {"options": {"a": []}}})"})
    EXPECT_FALSE(options_from_json(nlohmann::ordered_json::parse(text))) << text;
}

TEST(Signatures, CrashesAreAlikeButForNumbers) {
  Report one{.verdict = Verdict::Crash};
  one.error = Error{ErrorKind::Crash, "signal 6: check failed at 0x7f31c0de in f32[4,8]\nmore", {}};
  Report other = one;
  other.error->message = "signal 6: check failed at 0x55aa9 in f32[16,2]";
  EXPECT_TRUE(same_reason(signature_of(one), signature_of(other))) << signature_of(other).symptom;
  other.error->message = "signal 11: check failed at 0x55aa9 in s8[16,2]";
  EXPECT_FALSE(same_reason(signature_of(one), signature_of(other)));
}

TEST(Signatures, CrashesAreToldApartByWhatTheirLastWordsSayOfTheReason) {
  Report report{.verdict = Verdict::Crash};
  report.error = Error{ErrorKind::Crash,
                       "the compiler crashed: killed by SIGABRT (Aborted). Its last words:\n"
                       "  I0000 00:00:1796060943.301568   19470 dump.cc:584] HloModule dump enabled\n"
                       "  F0000 00:00:1796060943.301568   19470 ir_array.cc:90] Check failed: offset != nullptr\n",
                       {}};
  EXPECT_EQ(signature_of(report).symptom,
            "the compiler crashed: killed by SIGABRT (Aborted): ir_array.cc:#] Check failed: offset != nullptr");
  report.error->message = "the compiler crashed: killed by SIGSEGV (Segmentation fault)";
  EXPECT_EQ(signature_of(report).symptom, report.error->message);
}

TEST(Signatures, AnotherPassOrAnotherSymptomIsAnotherReason) {
  Report one{.verdict = Verdict::Mismatch, .outputs = {{.name = "out", .verdict = Verdict::Mismatch}}};
  one.guilty = Guilty{.level = "hlo", .pass = "algsimp"};
  one.outputs[0].difference.got = "2";
  one.outputs[0].difference.expected = "3";
  Report other = one;
  EXPECT_TRUE(same_reason(signature_of(one), signature_of(other)));
  other.outputs[0].difference.got = "nan";
  EXPECT_EQ(signature_of(other).symptom, "NaN for a number");
  EXPECT_FALSE(same_reason(signature_of(one), signature_of(other)));
  other = one;
  other.guilty->pass = "dce";
  EXPECT_FALSE(same_reason(signature_of(one), signature_of(other)));
}

TEST_F(CaseFolder, IsReadAsItWasWritten) {
  Case one;
  one.module = *hlo::parse_text(wrong);
  one.options = every_option();
  one.expected = {.verdict = Verdict::Mismatch, .level = "hlo", .pass = "p", .symptom = "another number"};
  one.about = "a test";
  InputSet set;
  set.arguments.emplace_back(hlo::Shape::array(hlo::ElementType::S8, {16}));
  set.arguments[0].set_integer(3, 5);
  ASSERT_TRUE(write_case(folder, one, {set}));
  const auto read = read_case(folder);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(hlo::to_text(read->module), hlo::to_text(one.module));
  EXPECT_EQ(to_json(read->options), to_json(one.options));
  EXPECT_EQ(to_json(read->expected), to_json(one.expected));
  EXPECT_EQ(read->about, "a test");
  const auto inputs = inputs_for(read->module, read->options.inputs, read->options.input_set, read->options.sampling);
  ASSERT_TRUE(inputs) << inputs.error().describe();
  EXPECT_EQ((*inputs)[0].arguments[0], set.arguments[0]);
}

TEST_F(CaseFolder, ABrokenOneNamesItsFile) {
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/case.json", "{\"check\": 3, \"expected\": {}}"));
  const auto read = read_case(folder);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(read.error().describe(), HasSubstr("case.json"));
}

TEST_F(CaseFolder, SaysWhetherItStillHolds) {
  if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no plugin for cpu";
  Case one;
  one.module = *hlo::parse_text(wrong);
  one.options.target = *target::parse_target("cpu");
  one.expected = {
      .verdict = Verdict::Mismatch, .level = "hlo", .pass = "float-normalization-s4", .symptom = "another number"};
  ASSERT_TRUE(write_case(folder + "/int4", one));
  const auto tasks = tasks_for({folder}, std::nullopt, std::nullopt);  // found in a folder of cases
  ASSERT_TRUE(tasks) << tasks.error().describe();
  ASSERT_EQ(tasks->size(), 1U);
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const auto check_it = [&](const std::vector<Task>& these) {
    Report last;
    check_all(
        pool, these, 1, [&](const Report& report) { last = report; }, [](const BatchProgress&) {});
    return last;
  };
  const Report report = check_it(*tasks);
  ASSERT_TRUE(report.expected);
  EXPECT_TRUE(same_reason(*report.expected, signature_of(report))) << to_text(signature_of(report));

  one.expected.pass = "another";
  ASSERT_TRUE(write_case(folder + "/int4", one));
  const Report other = check_it(*tasks_for({folder + "/int4"}, std::nullopt, std::nullopt));
  EXPECT_FALSE(same_reason(*other.expected, signature_of(other)));
}

}  // namespace
}  // namespace sapper::check
