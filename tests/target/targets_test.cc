#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "target/plugins.h"
#include "target/target.h"
#include "tests/target/environment.h"

namespace sapper::target {
namespace {

using testing::HasSubstr;

TEST(Targets, EveryKnownTargetIsReadBack) {
  const std::vector<Target> targets = known_targets();
  EXPECT_EQ(targets.size(), 3 + 7 + 1);
  for (const Target& target : targets) {
    const Result<Target> again = parse_target(target.to_string());
    ASSERT_TRUE(again) << target.to_string();
    EXPECT_EQ(*again, target);
    EXPECT_EQ(topology(target).empty(), target.platform != Platform::Tpu);
  }
}

TEST(Targets, DefaultReleaseIsFilledInAndLeftOut) {
  const Target cpu = parse_target("cpu").value();
  EXPECT_EQ(cpu.release, "0.115");
  EXPECT_EQ(cpu, parse_target("cpu@0.115").value());
  EXPECT_EQ(cpu.to_string(), "cpu");
  EXPECT_EQ(parse_target("cpu@0.81").value().to_string(), "cpu@0.81");
  const Target old = parse_target("tpu:v5e@0.0.41").value();
  EXPECT_EQ(old.generation, "v5e");
  EXPECT_EQ(old.release, "0.0.41");
  EXPECT_EQ(old.to_string(), "tpu:v5e@0.0.41");
}

TEST(Targets, WrongNamesSayWhatExists) {
  for (const char* text : {"", "cp", "cpu:v5e", "tpu", "tpu:", "tpu:v9", "tpu:v5e@", "tpu:v5e@latest", "tpu:v5e@1..2",
                           "tpu:v5e@../..", "cpu@0.82", "cpu@", "gpu@1", "@", ":", "tpu:v5e:v4"}) {
    const Result<Target> target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().kind, ErrorKind::BadInput);
    EXPECT_THAT(target.error().message, HasSubstr("tpu:v5e"));
  }
}

TEST(Plugins, LieInTheCacheFolder) {
  const Environment cache("SAPPER_CACHE", testing::TempDir() + "no-cache");
  EXPECT_EQ(cache_folder(), testing::TempDir() + "no-cache");
  EXPECT_FALSE(plugin_present(parse_target("cpu").value()));
}

TEST(Plugins, VariableOverridesTheDefaultReleaseOnly) {
  const Environment cache("SAPPER_CACHE", testing::TempDir() + "no-cache");
  const Environment offline("PIP_NO_INDEX", "1");
  const Environment plugin("SAPPER_PLUGIN_TPU", "/opt/libtpu.so");
  EXPECT_EQ(plugin_path(parse_target("tpu:v4").value()).value(), "/opt/libtpu.so");
  EXPECT_FALSE(plugin_path(parse_target("tpu:v4@0.0.41").value()));
}

TEST(Plugins, WhatCannotBeFetchedSaysHow) {
  const std::string folder = testing::TempDir() + fmt::format("empty_cache_{}", getpid());
  const Environment cache("SAPPER_CACHE", folder);
  const Environment offline("PIP_NO_INDEX", "1");
  const Result<std::string> path = plugin_path(parse_target("tpu:v5e@0.0.41").value());
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(path.error().message, HasSubstr("libtpu 0.0.41 is not in the cache"));
  EXPECT_THAT(path.error().message, HasSubstr("fetch_plugin.sh " + folder + " libtpu 0.0.41"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/plugins/libtpu-0.0.41"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/plugins/libtpu-0.0.41.partial"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sapper::target
