// Tiled layouts against XLA's definition done slowly: pad the array, cut it into tiles, put each dimension's tiles
// before the positions within them.
#include "llo/tiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace sapper::llo {
namespace {

using hlo::ElementType;
using hlo::Layout;
using hlo::Literal;
using hlo::Shape;

struct SlowArray {
  std::vector<int64_t> dimensions;
  std::vector<int64_t> element;  // row-major; -1: padding
};

int64_t offset_of(const std::vector<int64_t>& index, const std::vector<int64_t>& dimensions) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset = offset * dimensions[i] + index[i];
  return offset;
}

std::vector<int64_t> index_of(int64_t offset, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> index(dimensions.size());
  for (size_t i = dimensions.size(); i-- > 0; offset /= dimensions[i]) index[i] = offset % dimensions[i];
  return index;
}

int64_t product(const std::vector<int64_t>& dimensions) {
  return std::accumulate(dimensions.begin(), dimensions.end(), int64_t{1}, std::multiplies<>());
}

// The array of element numbers in physical order of dimensions, before any tile.
SlowArray in_layout_order(const Shape& shape) {
  const std::vector<int64_t>& minor_to_major = shape.layout()->minor_to_major;
  SlowArray array;
  for (size_t i = minor_to_major.size(); i-- > 0;) {
    array.dimensions.push_back(shape.dimension(static_cast<size_t>(minor_to_major[i])));
  }
  array.element.resize(static_cast<size_t>(product(array.dimensions)));
  for (int64_t element = 0; element < shape.element_count(); ++element) {
    const std::vector<int64_t> logical = index_of(element, shape.dimensions());
    std::vector<int64_t> physical;
    for (size_t i = minor_to_major.size(); i-- > 0;) {
      physical.push_back(logical[static_cast<size_t>(minor_to_major[i])]);
    }
    array.element[static_cast<size_t>(offset_of(physical, array.dimensions))] = element;
  }
  return array;
}

SlowArray tiled(SlowArray array, const std::vector<int64_t>& tile) {
  while (array.dimensions.size() < tile.size()) array.dimensions.insert(array.dimensions.begin(), 1);
  const size_t lead = array.dimensions.size() - tile.size();
  SlowArray result;
  result.dimensions = array.dimensions;
  for (size_t i = 0; i < tile.size(); ++i) {
    result.dimensions[lead + i] = (array.dimensions[lead + i] + tile[i] - 1) / tile[i];
  }
  result.dimensions.insert(result.dimensions.end(), tile.begin(), tile.end());
  result.element.assign(static_cast<size_t>(product(result.dimensions)), -1);
  for (size_t offset = 0; offset < array.element.size(); ++offset) {
    std::vector<int64_t> index = index_of(static_cast<int64_t>(offset), array.dimensions);
    for (size_t i = 0; i < tile.size(); ++i) {
      index.push_back(index[lead + i] % tile[i]);
      index[lead + i] /= tile[i];
    }
    result.element[static_cast<size_t>(offset_of(index, result.dimensions))] = array.element[offset];
  }
  return result;
}

// The element at each position in memory, -1 in the padding.
std::vector<int64_t> elements_in_memory(const Shape& shape) {
  SlowArray array = in_layout_order(shape);
  for (const hlo::Tile& tile : shape.layout()->tiles) array = tiled(array, tile.dimensions);
  return array.element;
}

Shape make(ElementType type, std::vector<int64_t> dimensions, std::vector<int64_t> minor_to_major,
           std::vector<std::vector<int64_t>> tiles, int64_t element_bits = 0) {
  auto layout = std::make_shared<Layout>();
  layout->minor_to_major = std::move(minor_to_major);
  for (std::vector<int64_t>& tile : tiles) layout->tiles.push_back({std::move(tile)});
  layout->element_size_in_bits = element_bits;
  return Shape::array(type, std::move(dimensions), {}, std::move(layout));
}

int bits_in_memory(const Shape& shape) {
  const auto stated = static_cast<int>(shape.layout()->element_size_in_bits);
  return stated != 0 ? stated : 8 * hlo::host_bytes(shape.element_type());
}

unsigned bit(const std::vector<std::byte>& memory, size_t position) {
  return static_cast<unsigned>(memory[position / 8] >> (position % 8)) & 1U;
}

// A value whose elements differ as far as their type lets them.
Literal numbered(const Shape& shape) {
  Literal value(shape);
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const int64_t spread = i * 2654435761 + 17;
    if (hlo::is_float(shape.element_type())) {
      auto bytes = value.mutable_bytes();
      const auto width = static_cast<size_t>(hlo::host_bytes(shape.element_type()));
      std::memcpy(bytes.data() + static_cast<size_t>(i) * width, &spread, width);
    } else {
      value.set_integer(i, shape.element_type() == ElementType::Pred ? (spread >> 4) & 1 : spread);
    }
  }
  return value;
}

// Runs say of each row of words and each piece of them what stands there.
void expect_runs(const Shape& shape, const std::vector<int64_t>& elements) {
  const Result<ElementRuns> runs = element_runs(shape);
  if (bits_in_memory(shape) < 8 || hlo::host_bytes(shape.element_type()) > 4) {
    EXPECT_FALSE(runs);
    return;
  }
  ASSERT_TRUE(runs) << runs.error().describe();
  const auto per_word = static_cast<size_t>(runs->per_word);
  for (size_t i = 0; i < runs->runs.size(); ++i) {
    std::vector<int64_t> row;
    for (size_t lane = 0; lane < 128; ++lane) {
      const size_t position = (i / per_word * 128 + lane) * per_word + i % per_word;
      row.push_back(position < elements.size() ? elements[position] : -1);
    }
    const ElementRun& run = runs->runs[i];
    std::vector<int64_t> stated(128, -1);
    for (int lane = 0; lane < run.count; ++lane) stated[static_cast<size_t>(lane)] = run.base + lane * runs->stride;
    if (run.count >= 0) {
      ASSERT_EQ(row, stated) << i;
    } else {
      ASSERT_NE(row, stated) << "row " << i << " is a run";
    }
  }
}

// Everything that tiling.h promises, bit by bit.
void expect_as_defined(const Shape& shape) {
  SCOPED_TRACE(shape.to_text());
  const std::vector<int64_t> elements = elements_in_memory(shape);
  const auto width = static_cast<size_t>(bits_in_memory(shape));
  const Result<uint64_t> bytes = tiled_bytes(shape);
  ASSERT_TRUE(bytes) << bytes.error().describe();
  ASSERT_EQ(*bytes, (elements.size() * width + 7) / 8);

  const Literal value = numbered(shape);
  std::vector<std::byte> memory(*bytes, std::byte{0x5a});
  std::vector<std::byte> written(*bytes);
  ASSERT_TRUE(write_tiled(value, shape, memory, written));
  const auto host = static_cast<size_t>(hlo::host_bytes(shape.element_type()));
  std::vector<std::byte> value_bytes(value.bytes().begin(), value.bytes().end());
  for (size_t position = 0; position < elements.size(); ++position) {
    const int64_t element = elements[position];
    for (size_t i = 0; i < width; ++i) {
      const size_t place = position * width + i;
      ASSERT_EQ(bit(written, place), element >= 0 ? 1U : 0U) << place;
      const unsigned expected =
          element >= 0 ? bit(value_bytes, static_cast<size_t>(element) * host * 8 + i) : (0x5aU >> (place % 8)) & 1U;
      ASSERT_EQ(bit(memory, place), expected) << place;
      const std::optional<int64_t> found = element_at(shape, place / 8, static_cast<int>(place % 8));
      ASSERT_EQ(found.value_or(-1), element) << place;
    }
  }
  const Result<Literal> back = read_tiled(memory, shape);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, value);
  expect_runs(shape, elements);
}

TEST(Tiling, LayoutsOfTheCompiler) {
  expect_as_defined(make(ElementType::F32, {3, 20, 130}, {2, 1, 0}, {{8, 128}}));
  expect_as_defined(make(ElementType::F32, {20, 3, 130}, {2, 0, 1}, {{8, 128}}));
  expect_as_defined(make(ElementType::BF16, {20, 130}, {1, 0}, {{8, 128}, {2, 1}}));
  expect_as_defined(make(ElementType::BF16, {5, 130}, {0, 1}, {{16, 128}, {2, 1}}));
  expect_as_defined(make(ElementType::S8, {33, 129}, {1, 0}, {{32, 128}, {4, 1}}));
  expect_as_defined(make(ElementType::Pred, {9, 129}, {1, 0}, {{8, 128}, {4, 1}}));
  expect_as_defined(make(ElementType::S4, {9, 129}, {1, 0}, {{8, 128}, {8, 1}}, 4));
  expect_as_defined(make(ElementType::U4, {65, 3}, {0, 1}, {{64, 128}, {8, 1}}, 4));
  expect_as_defined(make(ElementType::BF16, {700}, {0}, {{512}, {128}, {2, 1}}));
  expect_as_defined(make(ElementType::S16, {300}, {0}, {{256}}));
  expect_as_defined(make(ElementType::F32, {}, {}, {{128}}));
  expect_as_defined(make(ElementType::Pred, {5, 7}, {1, 0}, {{128}}, 1));
  expect_as_defined(make(ElementType::F32, {5}, {0}, {{8, 128}}));
  expect_as_defined(make(ElementType::F8E5M2, {5, 7}, {0, 1}, {}));
  expect_as_defined(make(ElementType::F32, {0, 5}, {1, 0}, {{8, 128}}));
}

TEST(Tiling, PackedPairsShareAWordLowRowFirst) {
  const Shape shape = make(ElementType::BF16, {8, 128}, {1, 0}, {{8, 128}, {2, 1}});
  Literal value(shape);
  value.mutable_data<uint16_t>()[0 * 128 + 5] = 0x1111;
  value.mutable_data<uint16_t>()[1 * 128 + 5] = 0x2222;
  value.mutable_data<uint16_t>()[2 * 128 + 5] = 0x3333;
  std::vector<std::byte> memory(*tiled_bytes(shape));
  ASSERT_TRUE(write_tiled(value, shape, memory));
  uint32_t words[2 * 128];
  std::memcpy(words, memory.data(), sizeof words);
  EXPECT_EQ(words[5], 0x22221111U);
  EXPECT_EQ(words[128 + 5], 0x3333U);
}

TEST(Tiling, IntegersOf64BitsAreTheirLowHalvesThenTheirHighOnes) {
  const auto tiled = [](ElementType type) { return make(type, {3, 130}, {1, 0}, {{2, 128}}); };
  Literal value(tiled(ElementType::S64));
  Literal low(tiled(ElementType::U32));
  Literal high(tiled(ElementType::U32));
  for (int64_t i = 0; i < value.element_count(); ++i) {
    low.set_integer(i, 1000 + i);
    high.set_integer(i, i % 2 == 0 ? i : 0x80000000 | i);
    value.set_integer(i, (high.integer_at(i) << 32) | low.integer_at(i));
  }
  const size_t half = *tiled_bytes(low.shape());
  ASSERT_EQ(*tiled_bytes(value.shape()), 2 * half);
  std::vector<std::byte> expected(2 * half);
  ASSERT_TRUE(write_tiled(low, low.shape(), std::span(expected).first(half)));
  ASSERT_TRUE(write_tiled(high, high.shape(), std::span(expected).last(half)));
  std::vector<std::byte> expected_written(2 * half);
  std::vector<std::byte> scratch(half);
  ASSERT_TRUE(write_tiled(low, low.shape(), scratch, std::span(expected_written).first(half)));
  ASSERT_TRUE(write_tiled(low, low.shape(), scratch, std::span(expected_written).last(half)));

  std::vector<std::byte> memory(2 * half);
  std::vector<std::byte> written(2 * half);
  ASSERT_TRUE(write_tiled(value, value.shape(), memory, written));
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(written, expected_written);
  EXPECT_EQ(*read_tiled(memory, value.shape()), value);
  EXPECT_EQ(element_at(value.shape(), 4, 0), 1);
  EXPECT_EQ(element_at(value.shape(), half + 4, 31), 1);
}

TEST(Tiling, ComplexNumbersAreTheirRealPartsThenTheirImaginaryOnes) {
  const Shape shape = make(ElementType::C64, {3, 5}, {1, 0}, {{4, 128}});
  Literal value(shape);
  for (int64_t i = 0; i < value.element_count(); ++i)
    value.set_complex(i, {static_cast<double>(i), -static_cast<double>(i)});
  std::vector<std::byte> memory(*tiled_bytes(shape));
  ASSERT_EQ(memory.size(), size_t{2} * 4 * 128 * 4);
  ASSERT_TRUE(write_tiled(value, shape, memory));
  const auto number = [&](size_t word) {
    float read = 0;
    std::memcpy(&read, memory.data() + 4 * word, 4);
    return read;
  };
  EXPECT_EQ(number(128 + 2), 7);
  EXPECT_EQ(number(4 * 128 + 128 + 2), -7);
  EXPECT_EQ(*read_tiled(memory, shape), value);
}

TEST(Tiling, DoublesArePairsOfFloats) {
  const Shape shape = make(ElementType::F64, {3}, {0}, {{128}});
  Literal value(shape);
  const double numbers[] = {0.1, 1e300, -0x1.0000001p+3};
  for (int64_t i = 0; i < 3; ++i) value.set_real(i, numbers[i]);
  std::vector<std::byte> memory(*tiled_bytes(shape));
  ASSERT_EQ(memory.size(), size_t{2} * 128 * 4);
  ASSERT_TRUE(write_tiled(value, shape, memory));
  const auto number = [&](size_t word) {
    float read = 0;
    std::memcpy(&read, memory.data() + 4 * word, 4);
    return read;
  };
  EXPECT_EQ(number(0), 0.1F);
  EXPECT_EQ(number(128), static_cast<float>(0.1 - 0.1F));
  EXPECT_EQ(number(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(number(128 + 1), 0);
  const Literal read = *read_tiled(memory, shape);
  EXPECT_EQ(read.real_at(0), 0.1F + static_cast<double>(static_cast<float>(0.1 - 0.1F)));
  EXPECT_EQ(read.real_at(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read.real_at(2), numbers[2]);  // a pair holds it
}

TEST(Tiling, WhatIsNotModelledIsSaid) {
  const Result<uint64_t> bytes = tiled_bytes(Shape::array(ElementType::C128, {3}));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().kind, ErrorKind::Unsupported);
  EXPECT_FALSE(tiled_bytes(Shape::token()));
  EXPECT_FALSE(tiled_bytes(make(ElementType::F32, {4, 4}, {1, 0}, {{hlo::Tile::combine, 4}})));
  EXPECT_FALSE(tiled_bytes(make(ElementType::F32, {4, 4}, {1, 0}, {{0, 4}})));
  EXPECT_FALSE(tiled_bytes(make(ElementType::F32, {4}, {0}, {}, 16)));
  EXPECT_FALSE(tiled_bytes(make(ElementType::F32, {8, 128}, {1, 0}, {{8, int64_t{1} << 62}})));
  const Result<uint64_t> huge = tiled_bytes(make(ElementType::F32, {int64_t{1} << 40, 8}, {1, 0}, {{8, 128}}));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().kind, ErrorKind::Resource);
}

RC_GTEST_PROP(Tiling, AnyLayoutIsAsDefined, ()) {
  struct Kind {
    ElementType type;
    int bits;
  };
  const auto kind = *rc::gen::elementOf(std::vector<Kind>{{ElementType::F32, 0},
                                                          {ElementType::BF16, 0},
                                                          {ElementType::U8, 0},
                                                          {ElementType::Pred, 0},
                                                          {ElementType::Pred, 1},
                                                          {ElementType::S4, 4},
                                                          {ElementType::S4, 0},
                                                          {ElementType::U2, 2}});
  const auto rank = *rc::gen::inRange<size_t>(0, 5);
  std::vector<int64_t> dimensions;
  std::vector<int64_t> minor_to_major;
  for (size_t i = 0; i < rank; ++i) {
    dimensions.push_back(*rc::gen::inRange<int64_t>(1, 8));
    minor_to_major.insert(minor_to_major.begin() + *rc::gen::inRange<int64_t>(0, static_cast<int64_t>(i) + 1),
                          static_cast<int64_t>(i));
  }
  std::vector<std::vector<int64_t>> tiles(*rc::gen::inRange<size_t>(0, 4));
  for (std::vector<int64_t>& tile : tiles) {
    tile.resize(*rc::gen::inRange<size_t>(1, 4));
    for (int64_t& size : tile) size = *rc::gen::inRange<int64_t>(1, 6);
  }
  expect_as_defined(make(kind.type, dimensions, minor_to_major, tiles, kind.bits));
  RC_ASSERT(!::testing::Test::HasFatalFailure());
}

}  // namespace
}  // namespace sapper::llo
