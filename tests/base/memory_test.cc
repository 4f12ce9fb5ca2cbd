#include "base/memory.h"

#include <gtest/gtest.h>

namespace sapper {
namespace {

TEST(PhysicalMemory, IsPlausible) { EXPECT_GT(physical_memory_bytes(), int64_t{64} << 20); }

}  // namespace
}  // namespace sapper
