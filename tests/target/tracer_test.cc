// Code of this process, stepped by another one that traces it.
#include "target/tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "base/file.h"
#include "target/trace.h"

namespace sapper::target {
namespace {

using testing::ElementsAre;

// What XLA:CPU passes to a kernel.
struct Argument {
  void* data;
  uint64_t size;
};
struct Call {
  const std::array<uint64_t, 3>* work_groups;
  const std::array<uint64_t, 3>* work_group;
  uint64_t argument_count;
  const Argument* arguments;
};

// Doubles four numbers of f32 into its second argument. Bytes in its middle are no instruction.
constexpr std::array<uint8_t, 30> doubling = {0x48, 0x8b, 0x47, 0x18,  // 00 mov rax, [rdi+24]
                                              0x48, 0x8b, 0x08,        // 04 mov rcx, [rax]
                                              0x48, 0x8b, 0x50, 0x10,  // 07 mov rdx, [rax+16]
                                              0xc5, 0xf8, 0x10, 0x01,  // 0b vmovups xmm0, [rcx]
                                              0xc5, 0xf8, 0x58, 0xc0,  // 0f vaddps xmm0, xmm0, xmm0
                                              0xc5, 0xf8, 0x11, 0x02,  // 13 vmovups [rdx], xmm0
                                              0xeb, 0x02,              // 17 jmp 1b
                                              0x06, 0x06,              // 19
                                              0x31, 0xc0,              // 1b xor eax, eax
                                              0xc3};                   // 1d ret

// Functions in memory that cannot be written to.
class Code {
 public:
  explicit Code(std::span<const uint8_t> bytes) : size_(bytes.size()) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, bytes.data(), size_);
    mprotect(memory_, size_, PROT_READ | PROT_EXEC);
  }
  ~Code() { munmap(memory_, size_); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  void operator()(const Call& call) const { reinterpret_cast<void* (*)(const Call*)>(memory_)(&call); }
  [[nodiscard]] SteppedFunction function() const { return {{static_cast<std::byte*>(memory_)}, size_}; }

 private:
  size_t size_;
  void* memory_;
};

// The first four of a register or a buffer.
std::array<float, 4> floats(std::span<const std::byte> bytes) {
  std::array<float, 4> result{};
  EXPECT_GE(bytes.size(), sizeof result);
  std::memcpy(result.data(), bytes.data(), std::min(bytes.size(), sizeof result));
  return result;
}

class TracerTest : public testing::Test {
 protected:
  const std::string path = testing::TempDir() + "tracer_test_" + std::to_string(getpid());
  const std::array<uint64_t, 3> one{1, 1, 1};
  const std::array<uint64_t, 3> first{0, 0, 0};
  ~TracerTest() override { unlink(path.c_str()); }

  [[nodiscard]] Trace trace() const { return *Trace::from_bytes(*read_file(path)); }
  static std::vector<uint32_t> offsets(const Trace& trace) {
    std::vector<uint32_t> result;
    TraceReader reader(trace);
    for (TraceEvent event; reader.next(event);)
      if (event.kind == RecordKind::Step) result.push_back(event.offset);
    return result;
  }
};

#define SKIP_WITHOUT_TRACING(tracer)                                                                          \
  if (!(tracer) && (tracer).error().kind == ErrorKind::Unsupported) GTEST_SKIP() << (tracer).error().message; \
  ASSERT_TRUE(tracer) << (tracer).error().message

TEST_F(TracerTest, StepsWhereBreakpointsCannotBe) {
  const Code code(doubling);
  const auto stepper = Stepper::arm(code.function(), path, {100, 1 << 20});
  ASSERT_FALSE(stepper);
  EXPECT_EQ(stepper.error().kind, ErrorKind::Unsupported);

  auto tracer = Tracer::start(code.function(), path, {100, 1 << 20});
  SKIP_WITHOUT_TRACING(tracer);
  std::array<float, 4> from{1, 2, 3, 4};
  std::array<float, 4> to{};
  const std::array arguments{Argument{from.data(), 16}, Argument{to.data(), 16}};
  code({&one, &first, 2, arguments.data()});
  tracer->stop();
  EXPECT_THAT(to, ElementsAre(2, 4, 6, 8));
  const Trace seen = trace();
  EXPECT_EQ(seen.header().by, SteppedBy::Tracer);
  EXPECT_EQ(seen.header().invocations, 1U);
  EXPECT_THAT(offsets(seen), ElementsAre(0, 4, 7, 0xb, 0xf, 0x13, 0x17, 0x1b, 0x1d));
  TraceReader reader(seen);
  TraceEvent event;
  ASSERT_TRUE(reader.next(event));
  ASSERT_EQ(event.buffers.size(), 2U);
  EXPECT_EQ(event.buffers[0].address, reinterpret_cast<uint64_t>(from.data()));
  while (reader.next(event) && event.offset != 0x13) {
  }
  EXPECT_EQ(event.vectors, 1U);
  EXPECT_EQ(floats(reader.registers().vectors[0].bytes), to);
  while (reader.next(event) && event.kind != RecordKind::Exit) {
  }
  ASSERT_EQ(event.kind, RecordKind::Exit);
  EXPECT_EQ(floats(event.buffers[1].bytes), to);
  // Nothing is left behind in the code.
  EXPECT_EQ(std::memcmp(code.function().copies[0], doubling.data(), doubling.size()), 0);
}

// A kernel's work is split over threads, some of which begin while it is traced: each call is traced as a whole.
TEST_F(TracerTest, ThreadsComeOneAfterAnother) {
  const Code code(doubling);
  constexpr uint64_t count = 8;
  auto tracer = Tracer::start(code.function(), path, {1000, 1 << 20});
  SKIP_WITHOUT_TRACING(tracer);
  const std::array<uint64_t, 3> groups{count, 1, 1};
  std::array<std::array<float, 4>, count> to{};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      const auto x = static_cast<float>(i);
      std::array<float, 4> from{x, x, x, x};
      const std::array<uint64_t, 3> group{i, 0, 0};
      const std::array arguments{Argument{from.data(), 16}, Argument{to[i].data(), 16}};
      code({&groups, &group, 2, arguments.data()});
    });
  for (std::thread& thread : threads) thread.join();
  tracer->stop();
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(to[i][0], static_cast<float>(2 * i));
  const Trace seen = trace();
  EXPECT_EQ(seen.header().invocations, count);
  EXPECT_EQ(seen.header().steps, 9 * count);
  std::set<uint64_t> groups_seen;
  bool in_call = false;
  TraceReader reader(seen);
  for (TraceEvent event; reader.next(event);) {
    if (event.kind == RecordKind::Step) continue;
    EXPECT_EQ(event.kind == RecordKind::Entry, !in_call);
    in_call = !in_call;
    groups_seen.insert(event.work_group[0]);
  }
  EXPECT_EQ(groups_seen.size(), count);
}

int called = 0;

TEST_F(TracerTest, RunsThroughWhatIsCalled) {
  std::vector<uint8_t> bytes = {0x50, 0x48, 0xb8, 0,   0, 0, 0, 0, 0, 0, 0,  // push rax; mov rax, imm64
                                0xff, 0xd0, 0x59, 0xc3};                     // call rax; pop rcx; ret
  void (*const callee)() = [] { ++called; };
  std::memcpy(&bytes[3], &callee, sizeof callee);
  const Code code(bytes);
  auto tracer = Tracer::start(code.function(), path, {100, 1 << 20});
  SKIP_WITHOUT_TRACING(tracer);
  code({&one, &first, 0, nullptr});
  tracer->stop();
  EXPECT_EQ(called, 1);
  EXPECT_THAT(offsets(trace()), ElementsAre(0, 1, 0xb, 0xd, 0xe));
}

TEST_F(TracerTest, StopsAtItsLimitsAndWhereNothingIsCalled) {
  const Code code(doubling);
  auto tracer = Tracer::start(code.function(), path, {3, 1 << 20});
  SKIP_WITHOUT_TRACING(tracer);
  std::array<float, 4> from{1, 2, 3, 4};
  std::array<float, 4> to{};
  const std::array arguments{Argument{from.data(), 16}, Argument{to.data(), 16}};
  code({&one, &first, 2, arguments.data()});
  tracer->stop();
  EXPECT_THAT(to, ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(trace().header().is_cut, 1U);
  EXPECT_EQ(trace().header().steps, 3U);

  auto idle = Tracer::start(code.function(), path, {3, 1 << 20});
  SKIP_WITHOUT_TRACING(idle);
  idle->stop();
  EXPECT_EQ(trace().header().steps, 0U);
  EXPECT_EQ(trace().header().is_cut, 0U);
}

}  // namespace
}  // namespace sapper::target
