#include "target/dump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace sapper::target {
namespace {

TEST(DumpName, SaysPipelineAndPass) {
  const auto name =
      parse_dump_name("module_0001.jit_f.0042.simplification.after_algsimp.before_dce.hlo.pb", "module_0001.jit_f");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->number, 42);
  EXPECT_EQ(name->pipeline, "simplification");
  EXPECT_EQ(name->pass, "algsimp");
}

TEST(DumpName, WithDotsInNamesAndWithoutNext) {
  const auto name =
      parse_dump_name("module_0000.f.1.cl_7.10000.copy.insertion.after_adding_copies.hlo.pb", "module_0000.f.1.cl_7");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->number, 10000);
  EXPECT_EQ(name->pipeline, "copy.insertion");
  EXPECT_EQ(name->pass, "adding_copies");
}

TEST(DumpName, FilesThatNoPassMade) {
  for (const char* file :
       {"module_0000.f.before_optimizations.hlo.pb", "module_0000.f.after_optimizations.hlo.pb",
        "module_0000.f.0029.rewriter.before_tiling.hlo.pb", "module_0000.f.0001.p.after_q.txt", "module_0000.f",
        "module_0000.f.0001.hlo.pb", "module_0000.f.0001after_x.hlo.pb", "module_0000.g.0001.p.after_q.hlo.pb", ""})
    EXPECT_FALSE(parse_dump_name(file, "module_0000.f")) << file;
}

TEST(DumpFolder, IsRemovedWithAllItHolds) {
  std::string path;
  {
    const auto folder = DumpFolder::create();
    ASSERT_TRUE(folder);
    path = folder->path();
    ASSERT_TRUE(write_file(path + "/x", "1"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DumpFolder, OfAKilledProcessIsRemovedAndNoOther) {
  namespace fs = std::filesystem;
  const auto mine = DumpFolder::create();
  ASSERT_TRUE(mine);
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitpid(ended, nullptr, 0), ended);
  const fs::path parent = fs::path(mine->path()).parent_path();
  const fs::path abandoned = parent / fmt::format("sapper-dump-{}-aaaaaa", ended);
  const fs::path elsewhere = parent / fmt::format("sapper-dump-{}-bbbbbb", ended);  // as in another container
  for (const fs::path& path : {abandoned, elsewhere}) {
    fs::create_directory(path);
    ASSERT_TRUE(write_file(path / "x", "1"));
  }
  {
    const Descriptor lock(open(elsewhere.c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    remove_abandoned_dumps();
    EXPECT_FALSE(fs::exists(abandoned));
    EXPECT_TRUE(fs::exists(elsewhere / "x"));
    EXPECT_TRUE(fs::exists(mine->path()));
  }
  remove_abandoned_dumps();
  EXPECT_FALSE(fs::exists(elsewhere));
}

TEST(ReadStages, OrderedAndOfTheModuleGivenOnly) {
  const auto folder = DumpFolder::create();
  ASSERT_TRUE(folder);
  const auto put = [&](const std::string& name, std::string_view bytes) {
    ASSERT_TRUE(write_file(folder->path() + "/" + name, bytes));
  };
  put("module_0005.f.before_optimizations.hlo.pb", "in");
  put("module_0005.f.0010.p.after_c.before_d.hlo.pb", "c");
  put("module_0005.f.0009.p.after_b.before_c.hlo.pb", "b");
  put("module_0005.f.10000.p.after_z.before_y.hlo.pb", "z");
  put("module_0005.f.after_optimizations.hlo.pb", "out");
  put("module_0006.f_sub.before_optimizations.hlo.pb", "other");
  put("module_0006.f_sub.0001.p.after_b.before_c.hlo.pb", "other");
  const auto stages = read_stages(folder->path());
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->size(), 4);
  const char* passes[] = {"input", "b", "c", "z"};
  const char* modules[] = {"in", "b", "c", "z"};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ((*stages)[i].index, i);
    EXPECT_EQ((*stages)[i].pass, passes[i]);
    EXPECT_EQ((*stages)[i].module, modules[i]);
  }
}

TEST(ReadStages, NothingDumpedGivesNone) {
  const auto folder = DumpFolder::create();
  EXPECT_TRUE(read_stages(folder->path())->empty());
  EXPECT_FALSE(read_stages(folder->path() + "/absent"));
}

}  // namespace
}  // namespace sapper::target
