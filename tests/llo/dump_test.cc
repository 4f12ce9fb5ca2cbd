// Dump folders: names of files, what is a program, which kernel serves which instruction.
#include "llo/dump.h"

#include <gtest/gtest.h>

namespace sapper::llo {
namespace {

TEST(LloDump, NamesOfStages) {
  const auto name = parse_dump_name("1795997623130739477-online-softmax-02-final_bundles.txt");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->kernel, "online-softmax");
  EXPECT_EQ(name->index, 2);
  EXPECT_EQ(name->pass, "final_bundles");
  EXPECT_EQ(parse_dump_name("17-fusion.1-12-DGO-post-late-decomposer-2.txt")->pass, "DGO-post-late-decomposer-2");
  EXPECT_EQ(parse_dump_name("17-copy-10-done-07-post-CP.txt")->kernel, "copy-10-done");
  EXPECT_EQ(parse_dump_name("17-<late-finalization>-00-original.txt")->kernel, "<late-finalization>");
  EXPECT_EQ(parse_dump_name("17-TLP-101-original.txt")->index, 101);
}

TEST(LloDump, OldReleasesDoNotNameTheTopLevelProgram) {
  EXPECT_EQ(parse_dump_name("1795999646135955245-03-original.txt")->kernel, "TLP");
}

TEST(LloDump, OtherNames) {
  for (const char* file : {"", "a.txt", "17-TLP-hlo.txt", "17-TLP-03-report.html", "x-fusion-00-original.txt",
                           "17-.txt", "17-fusion-0-original.txt", "17-fusion-00-.txt", "17--00-original.txt", "17.txt",
                           "17-fusion-00000-original.txt"}) {
    EXPECT_FALSE(parse_dump_name(file)) << file;
  }
}

const std::string kProgram = "$region0:\n  %1 = vnop\n";

TEST(LloDump, KernelsWithTheirProgramsInOrder) {
  const ModuleDump dump = read_dump({
      {"20-fusion.1-02-post-CP.txt", kProgram},
      {"20-fusion.1-10-final_bundles.txt", "= control target key start\nLB: loop body\n= control target key end\n"},
      {"20-fusion.1-09-schedule-analysis_final_bundles.txt", "Schedule analysis:\n  total 3\n"},
      {"20-fusion.1-03-DGO-post-critical-path-scheduler.txt", "\n%1 = vnop\n"},
      {"20-fusion.1-04-DGO-vliw-packed-bundles.txt", "   0   :  { %1 = vnop }\n"},
      {"20-fusion.1-05-critical-path.txt", "\nNew basic block in region: region0\n"},
      {"20-fusion.1-06-fingerprints.txt", "0 AbC=:i=1 original\n"},
      {"20-fusion.1-01-original.txt", "// [Enable stack traces]\n" + kProgram},
      {"20-fusion.1-00-pre-auto-mxu-assigner.txt", kProgram},
      {"10-TLP-00-original.txt", kProgram},
      {"10-<late-initialization>-00-original.txt", kProgram},
      {"10-continuation_tailcall-00-original.txt", kProgram},
      {"10-TLP-hlo.txt", "HloModule m\n"},
      {"30-copy-00-original.txt", kProgram},
  });
  ASSERT_EQ(dump.kernels.size(), 2);
  EXPECT_EQ(dump.kernels[0].kernel, "copy");
  const KernelDump& fusion = dump.kernels[1];
  std::vector<std::string> passes;
  for (const StageText& stage : fusion.stages) passes.push_back(stage.pass);
  EXPECT_EQ(passes, (std::vector<std::string>{"original", "post-CP", "DGO-post-critical-path-scheduler",
                                              "DGO-vliw-packed-bundles", "final_bundles"}));
  EXPECT_EQ(fusion.stage("post-CP")->text, kProgram);
  EXPECT_EQ(fusion.stage("post-GVN"), nullptr);
}

TEST(LloDump, TheLastCompilationOfAKernelCounts) {
  const ModuleDump dump = read_dump({{"11-fusion-01-original.txt", "$region2:\n"},
                                     {"10-fusion-00-post-CP.txt", kProgram},
                                     {"10-fusion-01-original.txt", kProgram}});
  ASSERT_EQ(dump.kernels.size(), 1);
  ASSERT_EQ(dump.kernels[0].stages.size(), 1);
  EXPECT_EQ(dump.kernels[0].stages[0].text, "$region2:\n");
}

TEST(LloDump, OneKernelMayServeSeveralInstructions) {
  const std::string map =
      "key:<top-inlining-caller>\nordinal:0\nequivalent_hlos[size=0]:\n"
      "key:fusion.1\nordinal:3\nequivalent_hlos[size=2]:\n  fusion.1\n  fusion.7\n";
  EXPECT_EQ(parse_deduplication_map(map),
            (std::map<std::string, std::string, std::less<>>{{"fusion.1", "fusion.1"}, {"fusion.7", "fusion.1"}}));
  const ModuleDump dump = read_dump({{"10-TLP-00-deduplication-map.txt", map},
                                     {"20-fusion.1-00-original.txt", kProgram},
                                     {"20-add-00-original.txt", kProgram}});
  ASSERT_NE(dump.kernel_of("fusion.7"), nullptr);
  EXPECT_EQ(dump.kernel_of("fusion.7")->kernel, "fusion.1");
  EXPECT_EQ(dump.kernel_of("add")->kernel, "add");
  EXPECT_EQ(dump.kernel_of("zzz"), nullptr);
}

TEST(LloDump, MalformedMapsServeNothing) {
  EXPECT_TRUE(parse_deduplication_map("").empty());
  EXPECT_TRUE(parse_deduplication_map("  a\nkey:\n  b").empty());
}

}  // namespace
}  // namespace sapper::llo
