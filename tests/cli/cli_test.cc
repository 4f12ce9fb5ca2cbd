// The binary as people run it: exit codes, what is on stdout and stderr, and that bad input is told, not suffered.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/case.h"
#include "hlo/text.h"

namespace sapper::cli {
namespace {

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  std::string folder = testing::TempDir() + fmt::format("cli_test_{}", getpid());
  Cli() { std::filesystem::create_directories(folder); }
  ~Cli() override { std::filesystem::remove_all(folder); }

  Outcome run(const std::string& arguments, const std::string& environment = "") const {
    const std::string err_path = folder + "/stderr";
    const std::string command = fmt::format("{} {} {} 2>{}", environment, SAPPER_BINARY, arguments, err_path);
    FILE* const pipe = popen(command.c_str(), "r");
    Outcome outcome;
    std::array<char, 4096> buffer{};
    for (size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      outcome.out.append(buffer.data(), got);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    outcome.err = read_file(err_path).value_or("");
    return outcome;
  }

  std::string write(const std::string& name, const std::string& bytes) const {
    EXPECT_TRUE(write_file(folder + "/" + name, bytes).has_value());
    return folder + "/" + name;
  }
};

const std::string add = "HloModule add\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x, x)\n}\n";

TEST_F(Cli, HelpHasAnExampleForEveryCommand) {
  for (const std::string command :
       {"check", "eval", "show", "stages", "targets", "doctor", "bisect", "ranges", "isa", "reduce", "emit"}) {
    const Outcome help = run(command + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.out.find("Example: sapper " + command), std::string::npos) << command << help.out;
  }
  EXPECT_EQ(run("--version").out, "sapper 0.1.0\n");
}

TEST_F(Cli, OutputGoesThroughLinksAndIntoNothingElse) {
  const std::string module = write("add.hlo", add);
  const std::string target = write("target.npz", "old");
  std::filesystem::create_symlink(target, folder + "/link.npz");
  EXPECT_EQ(run(fmt::format("eval {} --output {}/link.npz", module, folder)).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/link.npz"));
  EXPECT_NE(read_file(target).value_or("old"), "old");
  EXPECT_EQ(run(fmt::format("stages {} --on cpu --output {}", module, target)).code, 2);
}

TEST_F(Cli, TimeLimitsAreNumbersOfSeconds) {
  const std::string module = write("add.hlo", add);
  for (const char* limit : {"nan", "0", "1e300", "-1"})
    EXPECT_EQ(run(fmt::format("check {} --on cpu --time-limit {}", module, limit)).code, 2) << limit;
}

TEST_F(Cli, BoundsOfCopiedTuplesAndOfDeepCallsAreNoCrash) {
  const std::string copied =
      "HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n  t = (f32[], f32[]) tuple(p, p)\n"
      "  ROOT r = (f32[], f32[]) copy(t)\n}\n";
  EXPECT_EQ(run("eval --bounds " + write("copied.hlo", copied)).code, 0);
  std::string deep = "HloModule m\nc0 {\n  ROOT p = f32[] parameter(0)\n}\n";
  for (int i = 1; i <= 5000; ++i)
    deep += fmt::format("c{} {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=c{}\n}}\n", i, i - 1);
  deep += "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=c5000\n}\n";
  EXPECT_EQ(run("eval --bounds " + write("deep.hlo", deep)).code, 3);
}

TEST_F(Cli, OutputThatCannotBeWrittenIsTwo) {
  const Outcome full = run("isa >/dev/full");
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, ::testing::HasSubstr("cannot write to standard output"));
  EXPECT_THAT(run("isa | head -1 >/dev/null; true").err, ::testing::IsEmpty());
}

TEST_F(Cli, BadUsageIsTwo) {
  EXPECT_EQ(run("").code, 2);
  EXPECT_EQ(run("frobnicate").code, 2);
  EXPECT_EQ(run("check").code, 2);
  EXPECT_EQ(run("check x.hlo --on cpu").code, 2);
  const Outcome target = run("check " + write("a.hlo", add) + " --on tpu:v99");
  EXPECT_EQ(target.code, 2);
  EXPECT_NE(target.err.find("v5e"), std::string::npos) << "the error lists what exists: " << target.err;
  EXPECT_EQ(run("check " + folder + "/a.hlo --on cpu --tolerance abs=x").code, 2);
}

TEST_F(Cli, CasesOfOneNameAreNotWrittenOverEachOther) {
  const Outcome emit = run(fmt::format("emit {0}/a/wrong {0}/b/wrong --as hlo --output {0}/out", folder));
  EXPECT_EQ(emit.code, 2);
  EXPECT_THAT(emit.err, ::testing::HasSubstr("b/wrong: would be written as wrong"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
}

TEST_F(Cli, SeedsAreNotNegativeAndSetsNeedAFile) {
  const std::string module = write("add.hlo", add);
  EXPECT_EQ(run("check " + module + " --on cpu --seed -1").code, 2);
  EXPECT_EQ(run("eval " + module + " --seed -1").code, 2);
  EXPECT_EQ(run("eval " + module + " --input-set 0").code, 2);
  EXPECT_EQ(run("eval " + module + " --seed 18446744073709551615").code, 0);
}

TEST_F(Cli, InputsBeyondTheMachineAreNotDrawn) {
  const std::string module = write(
      "large.hlo",
      "HloModule m\nENTRY e {\n  p = f32[4000000000000] parameter(0)\n  ROOT n = f32[4000000000000] negate(p)\n}\n");
  const Outcome eval = run("eval " + module);
  EXPECT_EQ(eval.code, 3);
  EXPECT_NE(eval.err.find("memory"), std::string::npos) << eval.err;
}

TEST_F(Cli, LloRunExecutesADumpByItself) {
  const std::string head = R"($region0: #{k}
  %s0 = inlined_call_operand.<no memory space> [shape: s32[], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.smem [shape: s32[2]{0}, index: 1, kind: output, shape index: {}]
  %2 = sst [smem:[%s1]] 40
)";
  const std::string good = write("good.txt", head + "  %3 = sst [smem:[%s1 + $0x1]] 2\n");
  const Outcome ran = run("llo run " + good);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("out0 = s32[2] {40, 2}"), std::string::npos) << ran.out;
  const Outcome written = run("llo run " + good + " --out " + folder + "/out.npz");
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_TRUE(std::filesystem::exists(folder + "/out.npz"));
  const Outcome undefined = run("llo run " + write("undefined.txt", head) + " --json");
  EXPECT_EQ(undefined.code, 1);
  const auto json = nlohmann::json::parse(undefined.out);
  EXPECT_EQ(json["findings"][0]["kind"], "undefined-output");
  EXPECT_EQ(json["steps"], 3);
  const Outcome unknown = run("llo run " + write("unknown.txt", head + "  %3 = frobnicate\n"));
  EXPECT_EQ(unknown.code, 3);
  EXPECT_NE(unknown.err.find("unknown.txt:5"), std::string::npos) << unknown.err;
  EXPECT_EQ(run("llo run " + folder + "/missing.txt").code, 2);
}

TEST_F(Cli, BadModulesAreTwoAndNameThePlace) {
  const Outcome garbage = run("show " + write("garbage.hlo", "\x01\x02 this is no module"));
  EXPECT_EQ(garbage.code, 2);
  EXPECT_NE(garbage.err.find("garbage.hlo"), std::string::npos) << garbage.err;
  const Outcome opcode = run("eval " + write("op.hlo", "HloModule m\nENTRY e {\n  ROOT y = f32[3] frobnicate()\n}\n"));
  EXPECT_EQ(opcode.code, 2);
  EXPECT_NE(opcode.err.find("op.hlo:3:"), std::string::npos) << opcode.err;
  const Outcome shape =
      run("eval " +
          write("shape.hlo", "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[4] add(x, x)\n}\n"));
  EXPECT_EQ(shape.code, 2);
  EXPECT_NE(shape.err.find("shape.hlo:4:"), std::string::npos) << shape.err;
  const Outcome operands =
      run("eval " + write("n.hlo", "HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x)\n}\n"));
  EXPECT_EQ(operands.code, 2);
  EXPECT_EQ(run("eval " + write("empty.hlo", "")).code, 2);
}

TEST_F(Cli, HugeShapesAreUndeterminedNotACrash) {
  const std::string path = write("huge.hlo",
                                 "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  y = f32[1000000000,1000] "
                                 "broadcast(x), dimensions={}\n  ROOT z = f32[1000000000,1000] negate(y)\n}\n");
  const Outcome outcome = run("eval " + path);
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("bytes"), std::string::npos) << outcome.err;
}

TEST_F(Cli, EvalWritesWhatItComputes) {
  const std::string path = write("a.hlo", add);
  const Outcome json = run("eval " + path + " --output " + folder + "/out.npz --json");
  EXPECT_EQ(json.code, 0) << json.err;
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_EQ(object["outputs"][0]["shape"], "f32[3]");
  EXPECT_TRUE(std::filesystem::exists(folder + "/out.npz"));
  const Outcome missing = run("eval " + path + " --inputs " + folder + "/none.npz");
  EXPECT_EQ(missing.code, 2);
}

TEST_F(Cli, ShowCountsAndConverts) {
  const std::string path = write("a.hlo", add);
  const auto object = nlohmann::json::parse(run("show " + path + " --json").out);
  EXPECT_EQ(object["instructions"], 2);
  EXPECT_EQ(object["opcodes"]["add"], 1);
  const std::string again = write("b.hlo", run("show " + path + " --text").out);
  EXPECT_EQ(nlohmann::json::parse(run("show " + again + " --json").out)["fingerprint"], object["fingerprint"]);
  EXPECT_EQ(run("show " + path + " --dot").out.substr(0, 7), "digraph");
}

TEST_F(Cli, FixTakesACaseWithItsTargetAndItsOptions) {
  const auto cpu = target::parse_target("cpu");
  if (!target::plugin_present(*cpu)) GTEST_SKIP() << "no plugin for cpu";
  const auto product = hlo::parse_text(*read_file(SAPPER_SOURCE_DIR "/examples/bf16_product.hlo"));
  const check::Case one{.module = *product,
                        .options = {.target = *cpu, .sampling = {.seeds = 1}},
                        .expected = {.verdict = check::Verdict::Policy}};
  ASSERT_TRUE(check::write_case(folder + "/case", one));
  const Outcome outcome = run(fmt::format("fix {0}/case --output {0}/fixed.hlo", folder));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::HasSubstr("p: its rounding is written down"));
  EXPECT_THAT(read_file(folder + "/fixed.hlo").value_or(""), testing::HasSubstr("reduce-precision"));
  // Of several modules none is meant.
  std::filesystem::copy_file(folder + "/fixed.hlo", folder + "/case/other.hlo");
  std::filesystem::remove(folder + "/case/case.json");
  EXPECT_EQ(run(fmt::format("fix {}/case --on cpu", folder)).code, 2);
}

TEST_F(Cli, AMissingPluginOrOneThatIsNoneIsToldWithItsPath) {
  const std::string path = write("a.hlo", add);
  const Outcome missing = run("check " + path + " --on cpu", "SAPPER_PLUGIN_CPU=/no/such/plugin.so");
  EXPECT_EQ(missing.code, 2) << missing.out << missing.err;
  EXPECT_NE((missing.out + missing.err).find("/no/such/plugin.so"), std::string::npos) << missing.out << missing.err;
  const Outcome other = run("check " + path + " --on cpu", "SAPPER_PLUGIN_CPU=" + write("x.so", "this is no library"));
  EXPECT_EQ(other.code, 2) << other.out << other.err;
  EXPECT_NE((other.out + other.err).find("x.so"), std::string::npos) << other.out << other.err;
}

}  // namespace
}  // namespace sapper::cli
