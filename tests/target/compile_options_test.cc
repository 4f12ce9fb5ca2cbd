#include "target/compile_options.h"

#include <gtest/gtest.h>

namespace sapper::target {
namespace {

TEST(ParseOption, GuessesTheType) {
  EXPECT_EQ(parse_option("a=true")->second, OptionValue(true));
  EXPECT_EQ(parse_option("a=false")->second, OptionValue(false));
  EXPECT_EQ(parse_option("a=-12")->second, OptionValue(int64_t{-12}));
  EXPECT_EQ(parse_option("a=1e-3")->second, OptionValue(1e-3));
  EXPECT_EQ(parse_option("a=12x")->second, OptionValue(std::string("12x")));
  EXPECT_EQ(parse_option("a=")->second, OptionValue(std::string()));
  EXPECT_EQ(parse_option("a=b=c")->second, OptionValue(std::string("b=c")));
  EXPECT_EQ(parse_option("--xla_a=1")->first, "xla_a");
}

TEST(ParseOption, WantsNameAndValue) {
  for (const char* text : {"", "=", "=1", "--=1", "xla_a"}) {
    const auto option = parse_option(text);
    ASSERT_FALSE(option) << text;
    EXPECT_EQ(option.error().kind, ErrorKind::BadInput);
  }
}

// XLA takes any type but bool as a string, and refuses an integer where the option is a real number.
TEST(CompileOptions, OnlySwitchesAreNotStrings) {
  Configuration configuration;
  configuration.options = {{"b", true}, {"i", int64_t{7}}, {"r", 0.5}, {"s", std::string("x,y")}};
  const proto::CompileOptionsProto options = to_compile_options(configuration);
  const auto& overrides = options.env_option_overrides();
  EXPECT_TRUE(overrides.at("b").bool_field());
  EXPECT_EQ(overrides.at("i").string_field(), "7");
  EXPECT_EQ(overrides.at("r").string_field(), "0.5");
  EXPECT_EQ(overrides.at("s").string_field(), "x,y");
  EXPECT_EQ(options.executable_build_options().num_replicas(), 1);
  EXPECT_EQ(options.executable_build_options().num_partitions(), 1);
}

}  // namespace
}  // namespace sapper::target
