#include "base/error.h"

#include <gtest/gtest.h>

namespace sapper {
namespace {

TEST(Error, DescribesWhatIsKnownOfTheLocation) {
  EXPECT_EQ((Error{ErrorKind::BadInput, "no such opcode", {"a.hlo", 3, 7, "x"}}).describe(),
            "a.hlo:3:7: no such opcode (instruction x)");
  EXPECT_EQ((Error{ErrorKind::BadInput, "truncated", {"a.pb", 0, 0, ""}}).describe(), "a.pb: truncated");
  EXPECT_EQ((Error{ErrorKind::Internal, "oh", {}}).describe(), "oh");
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorKind::BadInput, "{} is odd", n);
  return n / 2;
}

Result<int> quarter(int n) {
  SAPPER_TRY(const int once, half(n));
  SAPPER_TRY(const int twice, half(once));
  return twice;
}

TEST(Error, TryHandsErrorsOn) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
}

}  // namespace
}  // namespace sapper
