#include <gtest/gtest.h>

#include "eval/random_bits.h"
#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using testing::shape;

// The known answers that the authors of the generators publish with their library (Random123).
TEST(RandomBits, KnownAnswersOfThreefry) {
  using Block = std::array<uint32_t, 2>;
  EXPECT_EQ(threefry(0, 0), (Block{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry(UINT64_MAX, UINT64_MAX), (Block{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry(0x0370734413198a2e, 0x85a308d3243f6a88), (Block{0xc4923a9c, 0x483df7a0}));
}

TEST(RandomBits, KnownAnswersOfPhilox) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox(0, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(UINT64_MAX, {UINT64_MAX, UINT64_MAX}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x85a308d3243f6a88, 0x0370734413198a2e}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Result<Literal> generate(proto::RandomAlgorithm algorithm, const std::vector<uint64_t>& state, const hlo::Shape& bits) {
  Literal initial(shape(ElementType::U64, {std::ssize(state)}));
  std::copy(state.begin(), state.end(), initial.mutable_data<uint64_t>().begin());
  hlo::Instruction made =
      testing::instruction(hlo::Opcode::RngBitGenerator, hlo::Shape::tuple({initial.shape(), bits}));
  made.edit_attributes().set_rng_algorithm(algorithm);
  return testing::run(rng_bit_generator, made, {initial});
}

std::vector<uint64_t> words(const Literal& literal) {
  std::vector<uint64_t> all;
  for (int64_t i = 0; i < literal.element_count(); ++i) all.push_back(static_cast<uint64_t>(literal.integer_at(i)));
  return all;
}

TEST(RngBitGenerator, PhiloxBlocksFollowOneAnother) {
  const Literal got = generate(proto::RNG_PHILOX, {7, 9, 1}, shape(ElementType::U32, {2, 3})).value();
  const auto first = philox(7, {9, 1});
  const auto second = philox(7, {10, 1});
  EXPECT_EQ(words(got.elements()[1]),
            (std::vector<uint64_t>{first[0], first[1], first[2], first[3], second[0], second[1]}));
  EXPECT_EQ(words(got.elements()[0]), (std::vector<uint64_t>{7, 11, 1}));
}

TEST(RngBitGenerator, PhiloxCounterCarriesIntoItsHighHalf) {
  const Literal got = generate(proto::RNG_PHILOX, {7, UINT64_MAX, 4}, shape(ElementType::U64, {4})).value();
  const auto first = philox(7, {UINT64_MAX, 4});
  const auto second = philox(7, {0, 5});
  EXPECT_EQ(words(got.elements()[1]),
            (std::vector<uint64_t>{first[0] | uint64_t{first[1]} << 32, first[2] | uint64_t{first[3]} << 32,
                                   second[0] | uint64_t{second[1]} << 32, second[2] | uint64_t{second[3]} << 32}));
  EXPECT_EQ(words(got.elements()[0]), (std::vector<uint64_t>{7, 1, 5}));
}

TEST(RngBitGenerator, ThreefryWordsArePairedAlongTheFirstEvenDimension) {
  const Literal got = generate(proto::RNG_THREE_FRY, {7, 9}, shape(ElementType::U32, {3, 4, 5})).value();
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t middle = i / 5 % 4;
    const int64_t block = (i / 20 * 2 + middle / 2) * 5 + i % 5;
    EXPECT_EQ(words(got.elements()[1])[static_cast<size_t>(i)],
              threefry(7, 9 + static_cast<uint64_t>(block))[static_cast<size_t>(middle % 2)]);
  }
  EXPECT_EQ(words(got.elements()[0]), (std::vector<uint64_t>{7, 39}));
}

TEST(RngBitGenerator, NarrowTypesTakeTheLowBits) {
  const std::vector<uint64_t> wide =
      words(generate(proto::RNG_PHILOX, {1, 2, 3}, shape(ElementType::U32, {9})).value().elements()[1]);
  for (const ElementType type : {ElementType::U8, ElementType::U16, ElementType::S8, ElementType::U4}) {
    const std::vector<uint64_t> narrow =
        words(generate(proto::RNG_PHILOX, {1, 2, 3}, shape(type, {9})).value().elements()[1]);
    const uint64_t mask = (uint64_t{1} << hlo::bit_width(type)) - 1;
    for (size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(narrow[i] & mask, wide[i] & mask);
  }
}

TEST(RngBitGenerator, OtherStatesAreUnsupported) {
  const auto got = generate(proto::RNG_THREE_FRY, {1, 2, 3, 4}, shape(ElementType::U32, {2}));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Unsupported);
}

TEST(Rng, ValuesOfTheDevicesGeneratorAreUnsupported) {
  const hlo::Instruction made = testing::instruction(hlo::Opcode::Rng, shape(ElementType::F32, {2}));
  const auto got = testing::run(rng_of_device, made, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(got.error().message.find("not evaluated: rng (tested)"), std::string::npos) << got.error().message;
}

}  // namespace
}  // namespace sapper::eval
