// Which form a file has is told by its content alone, and what is no HLO is called by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>

#include "base/file.h"
#include "hlo/proto.h"
#include "tests/hlo/proto_builder.h"

namespace sapper::hlo {
namespace {

using testing::HasSubstr;

constexpr std::string_view text = "HloModule small\n\nENTRY main {\n  ROOT p = f32[2]{0} parameter(0)\n}\n";

TEST(ModuleFile, FormsAreToldApart) {
  proto::HloModuleProtoWithConfig with_config;
  *with_config.mutable_hlo_module() = small_module();
  with_config.mutable_config()->set_replica_count(2);
  const std::string forms[] = {std::string(text), "\n  // a comment\n" + std::string(text),
                               small_module().SerializeAsString(), with_config.SerializeAsString()};
  for (const std::string& form : forms) {
    const auto module = parse_module(form, "f");
    ASSERT_TRUE(module) << module.error().describe();
    EXPECT_EQ(module->name, "small");
  }
}

std::string error_of(std::string_view bytes) {
  const auto module = parse_module(bytes, "some/file");
  if (module) return "";
  EXPECT_EQ(module.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(module.error().where.file, "some/file");
  return module.error().message;
}

TEST(ModuleFile, OthersAreCalledByTheirName) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of(" \n\t"), HasSubstr("only white space"));
  EXPECT_THAT(error_of("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(error_of("PK\x03\x04zip"), HasSubstr("npz"));
  EXPECT_THAT(error_of("\x7f"
                       "ELF..."),
              HasSubstr("shared library"));
  EXPECT_THAT(error_of("ML\xefR.."), HasSubstr("StableHLO"));
  EXPECT_THAT(error_of("\nmodule @jit_f attributes {"), HasSubstr("StableHLO"));
  EXPECT_THAT(error_of("name: \"jit_f\"\n"), HasSubstr("text form"));
  EXPECT_THAT(error_of("{\"a\": 1}"), HasSubstr("JSON"));
  EXPECT_THAT(error_of(std::string(100, '\0')), HasSubstr("not a protobuf message"));
  EXPECT_THAT(error_of("\x01\x02\x03\x04garbage"), HasSubstr("not a protobuf message"));
}

TEST(ModuleFile, CompressedFilesAreRead) {
  const std::string bytes = small_module().SerializeAsString();
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  const std::string path = testing::TempDir() + fmt::format("module_file_test_{}.pb", getpid());
  ASSERT_TRUE(write_file(path, packed));
  const auto module = read_module(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(module) << module.error().describe();
  EXPECT_EQ(module->name, "small");
}

TEST(ModuleFile, MissingFilesAreNamed) {
  const auto module = read_module("/nowhere/x.pb");
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().describe(), HasSubstr("/nowhere/x.pb"));
}

}  // namespace
}  // namespace sapper::hlo
