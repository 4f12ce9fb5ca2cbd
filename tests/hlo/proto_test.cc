// The proto form: exact round trips over the corpus, and clear errors for what is no module.
#include "hlo/proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace sapper::hlo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus(const std::string& folder) {
  const fs::path path = fs::path(SAPPER_SOURCE_DIR) / "../shared/corpus" / folder;
  std::vector<std::string> files;
  if (!fs::exists(path)) return files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".pb" || entry.path().extension() == ".zst") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The same message with the entries of maps sorted: optimized modules come with them in no particular order.
std::string canonical(const std::string& bytes) {
  proto::HloModuleProto message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  std::string sorted;
  google::protobuf::io::StringOutputStream stream(&sorted);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializeToCodedStream(&coded));
  coded.Trim();
  return sorted;
}

class CorpusTest : public testing::TestWithParam<const char*> {};

TEST_P(CorpusTest, RoundTripsExactly) {
  const std::vector<std::string> files = corpus(GetParam());
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto bytes = read_file(file);
    ASSERT_TRUE(bytes) << bytes.error().describe();
    const auto module = parse_proto(*bytes);
    ASSERT_TRUE(module) << module.error().describe();
    const std::string written = to_proto(*module);
    EXPECT_TRUE(written == *bytes || written == canonical(*bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Proto, CorpusTest, testing::Values("ops", "ops2", "models", "models/opt"));

}  // namespace
}  // namespace sapper::hlo
