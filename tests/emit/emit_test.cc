// Emitted tests: what is written says what the case does; the C++ and JAX forms are run where there is a compiler and
// jax.
#include "emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/shell.h"
#include "hlo/text.h"
#include "inputs/npz.h"
#include "target/plugins.h"

namespace sapper::emit {
namespace {

using ::testing::HasSubstr;

constexpr const char* right = R"(HloModule right
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,3] parameter(0)
  h = bf16[4] parameter(1)
  n = s64[2] parameter(2)
  z = c64[2] parameter(3)
  zero = f32[] constant(0)
  rows = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
  wide = f32[4] convert(h)
  total = f32[4] add(rows, wide)
  more = s64[2] add(n, n)
  square = c64[2] multiply(z, z)
  ROOT all = (f32[4], s64[2], c64[2]) tuple(total, more, square)
})";

// Four bits that do not wrap in any release of XLA:CPU here.
constexpr const char* wrong = R"(HloModule wrong
ENTRY e {
  x = s8[16] parameter(0)
  four = s4[16] convert(x)
  sum = s4[16] add(four, four)
  ROOT wide = s8[16] convert(sum)
})";

class Emit : public ::testing::Test {
 protected:
  std::string folder = testing::TempDir() + fmt::format("emit_test_{}", getpid());
  ~Emit() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string write(const char* text, const std::string& name) const {
    check::Case one;
    one.module = *hlo::parse_text(text);
    one.options.target = *target::parse_target("cpu");
    one.options.sampling.seeds = 1;
    one.expected = {
        .verdict = check::Verdict::Mismatch, .level = "hlo", .pass = "some-pass", .symptom = "another number"};
    one.about = "a test";
    EXPECT_TRUE(check::write_case(folder + "/" + name, one));
    return folder + "/" + name;
  }
  [[nodiscard]] Subject subject(const char* text, const std::string& name) const {
    auto made = subject_of(write(text, name));
    EXPECT_TRUE(made) << made.error().describe();
    return std::move(*made);
  }
  void put(const std::vector<File>& files) const {
    for (const File& file : files) {
      std::filesystem::create_directories(folder);
      EXPECT_TRUE(write_file(folder + "/" + file.name, file.bytes));
    }
  }
  // Exit code; what was printed goes to `folder`/log.
  [[nodiscard]] int shell(const std::string& command) const {
    const int status = std::system(fmt::format("cd {} && {} >log 2>&1", shell_quoted(folder), command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string log() const { return read_file(folder + "/log").value_or(""); }
};

TEST_F(Emit, TolerancesAreTheBoundsOfPolicy) {
  const Subject made = subject(right, "right");
  ASSERT_EQ(made.runs.size(), 1U);
  const std::vector<Output>& outputs = made.runs[0].outputs;
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].tolerance.size(), 4U);
  EXPECT_GT(outputs[0].tolerance[0], 0) << "a sum in any order";
  EXPECT_LT(outputs[0].tolerance[0], 1e-4);
  EXPECT_EQ(outputs[1].tolerance, std::vector<double>{0}) << "integers are exact";
}

TEST_F(Emit, HloWithItsData) {
  const auto files = as_hlo(subject(right, "right"));
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_TRUE(hlo::parse_text((*files)[0].bytes));
  const auto npz = inputs::parse_npz((*files)[1].bytes, "npz");
  ASSERT_TRUE(npz);
  for (const char* name : {"in0", "in3", "out0", "out2", "tolerance0"}) EXPECT_TRUE(npz->contains(name)) << name;
}

TEST_F(Emit, CasesHaveTheirInputs) {
  ASSERT_TRUE(write_as_case(subject(right, "right"), folder + "/out"));
  const auto read = check::read_case(folder + "/out/right");
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_FALSE(read->options.inputs.empty());
}

// The same harness, the same plugin: one test passes, the other does not.
TEST_F(Emit, CppTestsTellRightFromWrong) {
  const auto cpu = *target::parse_target("cpu");
  if (!target::plugin_present(cpu)) GTEST_SKIP() << "no plugin for cpu";
  const auto good = as_cpp(subject(right, "right"));
  const auto bad = as_cpp(subject(wrong, "wrong"));
  ASSERT_TRUE(good && bad);
  put(*good);
  put(*bad);
  ASSERT_EQ(
      shell(fmt::format("cmake -B build -DPJRT_INCLUDE_DIR={} && cmake --build build", shell_quoted(PJRT_INCLUDE_DIR))),
      0)
      << log();
  const std::string plugin = "PJRT_PLUGIN=" + shell_quoted(*target::plugin_path(cpu));
  EXPECT_EQ(shell(plugin + " build/right_test"), 0) << log();
  EXPECT_EQ(shell(plugin + " build/wrong_test"), 1);
  EXPECT_THAT(log(), HasSubstr("elements of result 0: element"));
  EXPECT_EQ(shell("env -u PJRT_PLUGIN build/right_test"), 1) << "not run is not passed";
  EXPECT_THAT(log(), HasSubstr("set PJRT_PLUGIN"));
}

TEST_F(Emit, JaxProgramsRun) {
  const char* const python = std::getenv("SAPPER_JAX_PYTHON");
  const std::string interpreter = python == nullptr ? "python3" : python;
  std::filesystem::create_directories(folder);
  if (shell(interpreter + " -c 'import jax'") != 0) GTEST_SKIP() << "no jax (SAPPER_JAX_PYTHON names a Python with it)";
  const auto files = as_jax(subject(right, "right"));
  ASSERT_TRUE(files) << files.error().describe();
  put(*files);
  EXPECT_EQ(shell("JAX_PLATFORMS=cpu " + interpreter + " right.py"), 0) << log();
  // With another expected result it fails.
  Subject other = subject(right, "right");
  other.runs[0].outputs[1].expected.set_integer(0, other.runs[0].outputs[1].expected.integer_at(0) + 1);
  put(*as_jax(other));
  EXPECT_EQ(shell("JAX_PLATFORMS=cpu " + interpreter + " right.py"), 1) << log();
}

TEST_F(Emit, JaxSaysWhatItCannotSay) {
  const auto files =
      as_jax(subject("HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n"
                     "  ROOT y = (f32[2], s32[2]) topk(x), k=2, largest=true\n}",
                     "topk"));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(files.error().describe(), HasSubstr("topk"));
  EXPECT_THAT(files.error().describe(), HasSubstr("instruction y"));
}

TEST_F(Emit, WhatIsTooLargeIsNotWrittenDown) {
  const auto made = subject_of(write("HloModule m\nENTRY e {\n  ROOT x = f32[1000,1000] parameter(0)\n}", "large"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Unsupported);
}

TEST_F(Emit, ReportsForContinuousIntegration) {
  const std::string of_case = write(wrong, "wrong");
  const std::string lines = folder + "/reports.jsonl";
  ASSERT_TRUE(
      write_file(lines,
                 "{\"verdict\": \"agree\", \"path\": \"a<b>.hlo\", \"module\": \"m\", \"target\": \"cpu\", "
                 "\"seconds\": 0.5}\n{\"verdict\": \"timeout\", \"path\": \"t.hlo\", \"reason\": \"slow & long\"}\n"));
  const auto outcomes = outcomes_of({of_case, lines});
  ASSERT_TRUE(outcomes) << outcomes.error().describe();
  ASSERT_EQ(outcomes->size(), 3U);
  const auto sarif = nlohmann::json::parse(as_sarif(*outcomes, "1"));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const auto& results = sarif["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2U) << "what agrees is no result";
  EXPECT_EQ(results[0]["ruleId"], "hlo/some-pass");
  EXPECT_EQ(results[0]["level"], "error");
  EXPECT_EQ(results[1]["level"], "note");
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"].size(), 2U);
  const std::string junit = as_junit(*outcomes);
  EXPECT_THAT(junit, HasSubstr("tests=\"3\" failures=\"1\" skipped=\"1\""));
  EXPECT_THAT(junit, HasSubstr("file=\"a&lt;b&gt;.hlo\""));
  EXPECT_THAT(junit, HasSubstr("slow &amp; long"));
  ASSERT_TRUE(write_file(lines, "nonsense\n"));
  EXPECT_FALSE(outcomes_of({lines}));
}

}  // namespace
}  // namespace sapper::emit
