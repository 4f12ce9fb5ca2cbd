// Hashes, packed bytes and text as databases take it.
#include "store/content.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "store/utf8.h"

namespace sapper::store {
namespace {

TEST(ContentHash, IsSha256) {
  // FIPS 180-4's example.
  EXPECT_EQ(content_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Identity, DependsOnEachPartAndWhereItEnds) {
  EXPECT_EQ(identity({"ab", "c"}).size(), 32U);
  EXPECT_EQ(identity({"ab", "c"}), identity({"ab", "c"}));
  EXPECT_NE(identity({"ab", "c"}), identity({"a", "bc"}));
  EXPECT_NE(identity({"ab", "c"}), identity({"abc"}));
  EXPECT_NE(identity({"1:a", ""}), identity({"", "1:a"}));
}

RC_GTEST_PROP(Pack, RoundTrips, (const std::string& bytes)) {
  const auto back = unpack(pack(bytes), bytes.size(), content_hash(bytes));
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == bytes);
}

RC_GTEST_PROP(Pack, NeverReturnsOtherBytes, (const std::string& bytes)) {
  std::string packed = pack(bytes);
  const auto at = *rc::gen::inRange<size_t>(0, packed.size());
  packed[at] = static_cast<char>(packed[at] ^ *rc::gen::inRange(1, 256));
  const auto back = unpack(packed, bytes.size(), content_hash(bytes));
  RC_ASSERT(!back || *back == bytes);
}

TEST(Utf8, WhatIsValidStays) {
  for (const std::string text : {"", "plain\ttext\n", "caf\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF\xEE\x80\x80",
                                 "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(as_utf8(text), text);
}

TEST(Utf8, EachOtherByteIsReplaced) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(as_utf8(std::string("a\0b", 3)), "a" + r + "b");
  EXPECT_EQ(as_utf8("\x80x\xFF"), r + "x" + r);
  EXPECT_EQ(as_utf8("\xC3"), r);                          // cut off
  EXPECT_EQ(as_utf8("\xE2\x82z"), r + r + "z");           // cut off
  EXPECT_EQ(as_utf8("\xC0\xAF"), r + r);                  // longer than needed
  EXPECT_EQ(as_utf8("\xE0\x80\xAF"), r + r + r);          // longer than needed
  EXPECT_EQ(as_utf8("\xF0\x8F\xBF\xBF"), r + r + r + r);  // longer than needed
  EXPECT_EQ(as_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(as_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // past the last code point
  EXPECT_EQ(as_utf8("\xF5\x80\x80\x80"), r + r + r + r);
}

RC_GTEST_PROP(Utf8, TwiceIsOnce, (const std::string& text)) { RC_ASSERT(as_utf8(as_utf8(text)) == as_utf8(text)); }

}  // namespace
}  // namespace sapper::store
