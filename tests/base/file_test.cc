#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace sapper {
namespace {

class File : public ::testing::Test {
 protected:
  std::string path = testing::TempDir() + fmt::format("file_test_{}", getpid());
  ~File() override { std::filesystem::remove(path); }
};

std::string compressed(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

TEST_F(File, RoundTripsBytes) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(write_file(path, bytes).has_value());
  EXPECT_EQ(*read_file(path), bytes);
}

TEST_F(File, DecompressesByContent) {
  const std::string bytes(1 << 20, 'x');
  ASSERT_TRUE(write_file(path, compressed(bytes)).has_value());
  EXPECT_EQ(*read_file(path), bytes);
}

TEST_F(File, LimitHoldsForCompressedContent) {
  ASSERT_TRUE(write_file(path, compressed(std::string(1 << 20, 'x'))).has_value());
  const auto read = read_file(path, 1 << 16);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::Resource);
}

// A frame of 17 bytes whose header claims a size; nothing of it is there.
std::string claiming(uint64_t size) {
  std::string frame("\x28\xb5\x2f\xfd\xe0", 5);  // one segment, a size of eight bytes
  frame.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return frame + std::string("\x01\x00\x00\x00", 4);
}

TEST_F(File, AClaimedSizeIsRefusedBeyondTheLimitAndNotReservedBelowIt) {
  ASSERT_TRUE(write_file(path, claiming(uint64_t{1} << 62)).has_value());
  EXPECT_EQ(read_file(path).error().kind, ErrorKind::Resource);
  EXPECT_NE(read_file(path).error().message.find("the right file"), std::string::npos);

  ASSERT_TRUE(write_file(path, claiming(uint64_t{1} << 40)).has_value());
  const auto read = read_file(path, size_t{1} << 41);  // reserving it would end the process
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
}

TEST_F(File, TruncatedZstdIsBadInput) {
  const std::string packed = compressed("hello, hello, hello, hello");
  for (size_t size = 4; size < packed.size(); ++size) {
    ASSERT_TRUE(write_file(path, packed.substr(0, size)).has_value());
    const auto read = read_file(path);
    ASSERT_FALSE(read.has_value()) << size;
    EXPECT_EQ(read.error().kind, ErrorKind::BadInput);
  }
}

TEST_F(File, PipesAreReadToTheirEnd) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string bytes(300'000, 'x');
  std::thread writer([&] { std::ofstream(path) << bytes; });
  EXPECT_EQ(read_file(path).value_or(""), bytes);
  writer.join();
  std::signal(SIGPIPE, SIG_IGN);  // the reader stops early
  std::thread longer([&] { std::ofstream(path) << bytes; });
  EXPECT_EQ(read_file(path, 200'000).error().kind, ErrorKind::Resource);
  longer.join();
}

TEST_F(File, MissingFilesAndFoldersAreBadInput) {
  EXPECT_EQ(read_file(path).error().kind, ErrorKind::BadInput);
  EXPECT_NE(read_file(testing::TempDir()).error().message.find("is a folder"), std::string::npos);
  EXPECT_EQ(write_file(path + "/no/such", "x").error().kind, ErrorKind::BadInput);
}

}  // namespace
}  // namespace sapper
