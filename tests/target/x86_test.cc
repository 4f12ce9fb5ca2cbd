// Lengths and memory operands of x86 instructions, against Capstone: over code that a C++ compiler made (this
// program's own), and over what XLA:CPU makes of operations of many kinds.
#include "target/x86.h"

#include <capstone/capstone.h>
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "target/compiler.h"
#include "target/dump.h"
#include "target/jit_code.h"
#include "tests/target/programs.h"

extern "C" const char __executable_start, etext;  // NOLINT(readability-identifier-naming): the linker's

namespace sapper::target {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

class Disassembler {
 public:
  Disassembler() {
    EXPECT_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &handle_), CS_ERR_OK);
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler() {
    cs_free(instruction_, 1);
    cs_close(&handle_);
  }
  // Null: it does not know the instruction.
  const cs_insn* at(std::span<const std::byte> code) {
    const auto* data = reinterpret_cast<const uint8_t*>(code.data());
    size_t size = code.size();
    uint64_t address = 0;
    return cs_disasm_iter(handle_, &data, &size, &address, instruction_) ? instruction_ : nullptr;
  }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

struct Comparison {
  int64_t instructions = 0;
  int64_t unknown_to_capstone = 0;
  std::vector<std::string> different;
};

const cs_x86_op* memory_of(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  for (int i = 0; i < x86.op_count; ++i)
    if (x86.operands[i].type == X86_OP_MEM) return &x86.operands[i];
  return nullptr;
}

void compare(std::span<const std::byte> code, Disassembler& disassembler, Comparison& comparison) {
  for (size_t at = 0; at < code.size();) {
    const cs_insn* theirs = disassembler.at(code.subspan(at));
    const auto ours = decode_x86(code.subspan(at));
    ++comparison.instructions;
    if (theirs == nullptr) {
      ++comparison.unknown_to_capstone;
      at += ours ? ours->length : 1;
      continue;
    }
    const std::string text = std::string(theirs->mnemonic) + " " + theirs->op_str;
    const cs_x86_op* memory = memory_of(*theirs);
    if (!ours || ours->length != theirs->size)
      comparison.different.push_back(fmt::format("{}: {} bytes, not {}", text, ours ? ours->length : 0, theirs->size));
    else if (memory != nullptr && ours->memory && memory->mem.disp != ours->memory->displacement)
      comparison.different.push_back(fmt::format("{}: displacement {}", text, ours->memory->displacement));
    at += theirs->size;
  }
}

TEST(X86, ReadsTheRegistersOfEveryEncoding) {
  // vfmadd213ps zmm16 {k1}{z}, zmm31, dword ptr [rax + r9*4 - 8]{1to16}
  const auto evex = decode_x86(bytes({0x62, 0xa2, 0x05, 0xd1, 0xa8, 0x44, 0x88, 0xfe}));
  ASSERT_TRUE(evex);
  EXPECT_EQ(evex->length, 8);
  EXPECT_EQ(evex->reg, 16);
  EXPECT_EQ(evex->third, 31);
  EXPECT_EQ(evex->mask, 1);
  EXPECT_TRUE(evex->zeroing && evex->broadcast);
  ASSERT_TRUE(evex->memory);
  EXPECT_EQ(evex->memory->base, 0);
  EXPECT_EQ(evex->memory->index, 9);
  EXPECT_EQ(evex->memory->scale, 4);
  EXPECT_EQ(evex->memory->displacement, -8);
  EXPECT_EQ(evex->memory->bytes, 4);

  // vaddps ymm8, ymm1, ymm15
  const auto vex = decode_x86(bytes({0xc4, 0x41, 0x74, 0x58, 0xc7}));
  ASSERT_TRUE(vex);
  EXPECT_EQ(vex->reg, 8);
  EXPECT_EQ(vex->third, 1);
  EXPECT_EQ(vex->rm, 15);
  EXPECT_EQ(vex->vector_bytes, 32);

  // mov r10, qword ptr [rip + 0x100]
  const auto legacy = decode_x86(bytes({0x4c, 0x8b, 0x15, 0x00, 0x01, 0x00, 0x00}));
  ASSERT_TRUE(legacy);
  EXPECT_EQ(legacy->reg, 10);
  EXPECT_TRUE(legacy->memory && legacy->memory->from_next);
  EXPECT_EQ(legacy->memory->displacement, 0x100);
  EXPECT_EQ(legacy->memory->bytes, 8);
}

TEST(X86, KnowsAnUnfinishedInstruction) {
  EXPECT_FALSE(decode_x86({}));
  EXPECT_FALSE(decode_x86(bytes({0x48, 0x8b})));
  EXPECT_FALSE(
      decode_x86(bytes({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66})));
}

// AVX512-FP16, which Capstone 4 lacks; the lengths are objdump's.
TEST(X86, KnowsHalfPrecision) {
  const auto add = decode_x86(bytes({0x62, 0xf5, 0x74, 0x48, 0x58, 0x40, 0x01}));  // vaddph zmm0, zmm1, [rax + 64]
  ASSERT_TRUE(add);
  EXPECT_EQ(add->length, 7);
  EXPECT_EQ(add->memory->displacement, 64);
  const auto scalar = decode_x86(bytes({0x62, 0xf5, 0x76, 0x08, 0x58, 0x40, 0x01}));  // vaddsh xmm0, xmm1, [rax + 2]
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->memory->displacement, 2);
  EXPECT_EQ(scalar_bytes(*scalar), 2);
}

TEST(X86, AgreesWithCapstoneOnThisProgram) {
  Disassembler disassembler;
  Comparison comparison;
  // From a function on: what comes before is the linker's tables.
  const auto* begin = reinterpret_cast<const std::byte*>(&decode_x86);
  const auto* end = reinterpret_cast<const std::byte*>(&etext);
  ASSERT_LT(begin, end);
  compare({begin, std::min(end, begin + 400'000)}, disassembler, comparison);
  EXPECT_GT(comparison.instructions, 50'000);
  EXPECT_THAT(comparison.different, testing::IsEmpty());
}

// What the compiler makes of one operation of each kind, as its dump has it.
TEST(X86, AgreesWithCapstoneOnCompiledKernels) {
  const Target target = parse_target("cpu").value();
  SKIP_WITHOUT_PLUGIN(target);
  const std::filesystem::path corpus = std::filesystem::path(SAPPER_SOURCE_DIR) / ".." / "shared" / "corpus" / "ops";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus";
  CompilerPool pool({.workers = 1});
  Disassembler disassembler;
  Comparison comparison;
  int functions = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    const auto module = hlo::read_module(file.path());
    if (!module) continue;
    const auto folder = DumpFolder::create();
    ASSERT_OK(folder);
    Configuration configuration;
    configuration.options["xla_dump_to"] = folder->path();
    if (!pool.compile(target, {.module = hlo::to_compilable_proto(*module), .configuration = configuration})) continue;
    for (const auto& dumped : std::filesystem::directory_iterator(folder->path())) {
      if (dumped.path().extension() != ".o") continue;
      const auto object = read_file(dumped.path());
      ASSERT_OK(object);
      const auto parsed = read_object(*object);
      ASSERT_OK(parsed);
      for (const JitFunction& function : *parsed) {
        compare(std::as_bytes(std::span(function.code)), disassembler, comparison);
        ++functions;
      }
    }
  }
  EXPECT_GT(functions, 100);
  EXPECT_THAT(comparison.different, testing::IsEmpty());
  RecordProperty("instructions", static_cast<int>(comparison.instructions));
  RecordProperty("unknown_to_capstone", static_cast<int>(comparison.unknown_to_capstone));
}

}  // namespace
}  // namespace sapper::target
