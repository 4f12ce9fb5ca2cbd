// .npz archives: ours read back, NumPy's read, damage reported.
#include "inputs/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "inputs/zip.h"

namespace sapper::inputs {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

class NpzFile : public ::testing::Test {
 protected:
  std::string path = testing::TempDir() + fmt::format("npz_test_{}.npz", getpid());
  ~NpzFile() override { std::filesystem::remove(path); }
};

TEST_F(NpzFile, EveryElementTypeRoundTrips) {
  std::vector<Literal> literals;
  std::vector<Shape> shapes;
  Npz npz;
  for (int i = 1; i < 34; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (!hlo::is_array_type(type)) continue;
    Literal literal(Shape::array(type, {2, 3}));
    for (int64_t e = 0; e < 6; ++e)
      literal.set_real(e, type == ElementType::F8E8M0FNU ? 1 << e : static_cast<double>(e % 2));
    npz[fmt::format("in{}", literals.size())] = to_npy(literal);
    shapes.push_back(literal.shape());
    literals.push_back(literal);
  }
  ASSERT_TRUE(write_npz(path, npz).has_value());
  const auto read = read_npz(path);
  ASSERT_TRUE(read.has_value()) << read.error().describe();
  const auto back = read_literals(*read, "in", shapes);
  ASSERT_TRUE(back.has_value()) << back.error().describe();
  for (size_t i = 0; i < literals.size(); ++i) EXPECT_EQ((*back)[i], literals[i]) << shapes[i].to_text();
}

TEST_F(NpzFile, TuplesAreReadLeafByLeaf) {
  const Literal x(Shape::array(ElementType::F32, {2}));
  ASSERT_TRUE(write_npz(path, {{"in0", to_npy(x)}, {"in1", to_npy(x)}}).has_value());
  const Shape tuple = Shape::tuple({x.shape(), Shape::token(), Shape::tuple({x.shape()})});
  const auto back = read_literals(*read_npz(path), "in", {tuple});
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE((*back)[0].shape() == tuple);
}

TEST_F(NpzFile, MismatchesNameTheArray) {
  const Literal x(Shape::array(ElementType::F32, {2}));
  ASSERT_TRUE(write_npz(path, {{"in0", to_npy(x)}}).has_value());
  const Npz npz = *read_npz(path);
  const auto error = [&](const Shape& shape, const std::string& prefix = "in") {
    return read_literals(npz, prefix, {shape}).error().message;
  };
  EXPECT_EQ(error(Shape::array(ElementType::F64, {2})), "in0: has NumPy type <f4 but f64[2] needs <f8");
  EXPECT_EQ(error(Shape::array(ElementType::F32, {3})), "in0: has dimensions [2] but f32[3] is needed");
  EXPECT_EQ(error(Shape::array(ElementType::F32, {2}), "set0_in"), "no array set0_in0 for f32[2]; there are: in0");
}

TEST_F(NpzFile, ColumnMajorArraysAreTransposed) {
  NpyArray array{"<i4", true, {2, 3}, std::string(24, '\0')};
  for (int i = 0; i < 6; ++i) array.bytes[static_cast<size_t>(i) * 4] = static_cast<char>(i);
  const auto literal = to_literal(array, Shape::array(ElementType::S32, {2, 3}), "x");
  ASSERT_TRUE(literal.has_value());
  const auto data = literal->data<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(data.begin(), data.end()), (std::vector<int32_t>{0, 2, 4, 1, 3, 5}));
}

TEST_F(NpzFile, DamageIsAnErrorAndNeverACrash) {
  const Literal x(Shape::array(ElementType::F32, {64}));
  ASSERT_TRUE(write_npz(path, {{"in0", to_npy(x)}}).has_value());
  const std::string good = *read_file(path);
  for (size_t cut = 0; cut < good.size(); ++cut) {
    ASSERT_TRUE(write_file(path, good.substr(0, cut)).has_value());
    EXPECT_FALSE(read_npz(path).has_value()) << cut;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x5a);
    ASSERT_TRUE(write_file(path, bad).has_value());
    (void)read_npz(path);  // some fields do not matter; what counts is that none crashes
  }
}

// Small archives that would take much memory, were they believed.
TEST(Npz, ClaimsBeyondWhatTheFileHoldsAreRefused) {
  const std::string good = write_zip({{"in0.npy", std::string(1000, 'x')}});
  const size_t directory = good.find("PK\x01\x02");
  std::string inflated = good;
  inflated[directory + 10] = 8;              // deflated
  inflated[directory + 46 + 7 + 4 + 4] = 1;  // unpacked size, fifth byte: 4 GiB
  EXPECT_THAT(parse_npz(inflated, "a.npz").error().message, testing::HasSubstr("1000 packed bytes cannot hold"));

  const std::string entry = good.substr(directory, good.find("PK\x06\x06") - directory);
  std::string repeated = good;
  repeated.insert(directory, entry);
  const size_t end = directory + 2 * entry.size();
  repeated[end + 32] = 2;                           // members
  repeated[end + 56 + 8] = static_cast<char>(end);  // where `end` is, in its locator
  repeated[end + 56 + 9] = static_cast<char>(end >> 8);
  EXPECT_THAT(parse_npz(repeated, "a.npz").error().message, testing::HasSubstr("its members overlap"));
}

TEST(Npz, ReadsWhatNumPyWrote) {
  const std::string zoo = std::string(SAPPER_SOURCE_DIR) + "/../shared/cases/zoo";
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no corpus beside the checkout";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(zoo)) {
    if (entry.path().extension() != ".npz") continue;
    const auto npz = read_npz(entry.path());
    ASSERT_TRUE(npz.has_value()) << npz.error().describe();
    EXPECT_TRUE(npz->contains("in0") && npz->contains("out0")) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 65);
}

}  // namespace
}  // namespace sapper::inputs
