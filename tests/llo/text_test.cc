// The reader of LLO text: every form of every part, places of errors, hostile text.
#include "llo/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace sapper::llo {
namespace {

Program parsed(const std::string& text) {
  auto program = parse_program(text, "k.txt");
  EXPECT_TRUE(program) << (program ? "" : program.error().describe());
  return program ? *program : Program{};
}

// The only instruction of a line.
struct One {
  Program program;
  Instruction instruction;
};
One one(const std::string& line) {
  One result{parsed(line + "\n"), {}};
  EXPECT_EQ(result.program.instructions.size(), 1);
  if (!result.program.instructions.empty()) result.instruction = result.program.instructions.front();
  return result;
}

std::string problem(const std::string& text) {
  const auto program = parse_program(text, "k.txt");
  if (program) return "it parses";
  EXPECT_EQ(program.error().kind, ErrorKind::BadInput);
  return program.error().describe();
}

Immediate immediate(const std::string& number) {
  const One read = one("%v1 = vmov " + number);
  if (read.instruction.operands.size() != 1) return {};
  return std::get<Immediate>(read.instruction.operands[0].value);
}

const MemoryOperand& memory(const One& read) { return std::get<MemoryOperand>(read.instruction.operands.at(0).value); }

TEST(LloText, AnInstructionHasResultOpcodeOperandsAndLine) {
  const Program program = parsed("\n%v7 = vadd.f32 %v5, %v6\n%8 = vnop\n");
  ASSERT_EQ(program.instructions.size(), 2);
  EXPECT_EQ(program.form, Form::Ssa);
  const Instruction& add = program.instructions[0];
  EXPECT_EQ(add.opcode, "vadd.f32");
  EXPECT_EQ(add.result, (Register{Bank::Vector, 7, -1}));
  ASSERT_EQ(add.operands.size(), 2);
  EXPECT_EQ(std::get<Register>(add.operands[1].value), (Register{Bank::Vector, 6, -1}));
  EXPECT_EQ(add.line, 2);
  EXPECT_EQ(program.instructions[1].result, (Register{Bank::Token, 8, -1}));
  EXPECT_TRUE(program.instructions[1].operands.empty());
  EXPECT_EQ(program.instructions[1].line, 3);
}

TEST(LloText, RegistersOfEveryBank) {
  const One read = one("%4 = xla_tuple %s1, %v2, %vm3, %p5, %6, %s7_s30, %v8_v9, %vm10_vm11, %p12_p13");
  const std::vector<Register> expected = {{Bank::Scalar, 1, -1},    {Bank::Vector, 2, -1}, {Bank::Mask, 3, -1},
                                          {Bank::Predicate, 5, -1}, {Bank::Token, 6, -1},  {Bank::Scalar, 7, 30},
                                          {Bank::Vector, 8, 9},     {Bank::Mask, 10, 11},  {Bank::Predicate, 12, 13}};
  ASSERT_EQ(read.instruction.operands.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::get<Register>(read.instruction.operands[i].value), expected[i]);
  }
  EXPECT_EQ(to_string(expected[2]), "%vm3");
  EXPECT_EQ(to_string(expected[5]), "%s7_s30");
  EXPECT_EQ(to_string(expected[4]), "%6");
}

TEST(LloText, WholeNumbers) {
  for (const auto& [text, bits] : std::vector<std::pair<std::string, uint32_t>>{{"0", 0},
                                                                                {"12", 12},
                                                                                {"4294967295", 0xffffffff},
                                                                                {"-1", 0xffffffff},
                                                                                {"-2147483648", 0x80000000},
                                                                                {"0x1f", 0x1f},
                                                                                {"0xffffffff", 0xffffffff}}) {
    EXPECT_EQ(immediate(text).bits, bits) << text;
    EXPECT_FALSE(immediate(text).is_float) << text;
  }
}

TEST(LloText, RealNumbersAreF32) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, float>>{{"1.5", 1.5F},
                                                                              {"-0.0", -0.0F},
                                                                              {"1e-05", 1e-5F},
                                                                              {"-1e+09", -1e9F},
                                                                              {"3e-45", 3e-45F},
                                                                              {"inf", INFINITY},
                                                                              {"-inf", -INFINITY}}) {
    EXPECT_EQ(immediate(text).bits, std::bit_cast<uint32_t>(value)) << text;
    EXPECT_TRUE(immediate(text).is_float) << text;
  }
  EXPECT_EQ(immediate("nan").bits, 0x7fc00000);
  EXPECT_EQ(immediate("-nan").bits, 0xffc00000);
}

TEST(LloText, PairsOfBf16AreHighThenLow) {
  EXPECT_EQ(immediate("1.0|2.0").bits, 0x3f804000);
  EXPECT_EQ(immediate("-inf|0.0").bits, 0xff800000);
  EXPECT_EQ(immediate("nan|-1.5").bits, 0x7fc0bfc0);
  EXPECT_EQ(immediate("0|1").bits, 0x00003f80);
  EXPECT_EQ(immediate("0.333984|0.333984").bits, 0x3eab3eab);  // printed with six digits
}

TEST(LloText, AllocationsAsOperands) {
  const One read =
      one("%4 = xla_tuple [#allocation3], [#allocation7_spill], [#allocation2 + $0x10], [#allocation2 - $0x1]");
  const auto& operands = read.instruction.operands;
  ASSERT_EQ(operands.size(), 4);
  EXPECT_EQ(std::get<AllocationName>(operands[0].value), (AllocationName{3, false}));
  EXPECT_EQ(std::get<AllocationName>(operands[1].value), (AllocationName{7, true}));
  EXPECT_EQ(operands[0].offset, 0);
  EXPECT_EQ(operands[2].offset, 0x10);
  EXPECT_EQ(operands[3].offset, 0xffffffff);
}

TEST(LloText, MemoryOperands) {
  const One plain = one("%s1 = sld [smem:[%s4]]");
  EXPECT_EQ(memory(plain).space, Space::Smem);
  EXPECT_EQ(std::get<Register>(memory(plain).base).number, 4);
  EXPECT_FALSE(memory(plain).offset || memory(plain).sublane_mask);

  const One all = one("%v1 = vld.sshfl [vmem:[#allocation3 - $0x8] ss:$-9 sps:$4 iar:$1 sm:%s7 pattern:$0x76543210]");
  EXPECT_EQ(memory(all).space, Space::Vmem);
  EXPECT_EQ(std::get<AllocationName>(memory(all).base).number, 3);
  EXPECT_TRUE(memory(all).subtract_offset);
  EXPECT_EQ(std::get<Immediate>(memory(all).offset.value()).bits, 8);
  EXPECT_EQ(std::get<Immediate>(memory(all).sublane_stride.value()).bits, static_cast<uint32_t>(-9));
  EXPECT_EQ(std::get<Immediate>(memory(all).sublanes_per_stride.value()).bits, 4);
  EXPECT_EQ(std::get<Register>(memory(all).sublane_mask.value()).number, 7);
  EXPECT_EQ(std::get<Immediate>(memory(all).pattern.value()).bits, 0x76543210);
  ASSERT_EQ(memory(all).options.size(), 1);
  EXPECT_EQ(memory(all).options[0], std::pair(std::string_view("iar"), std::string_view("$1")));

  const One two = one("%s1 = sld [smem:[%s4 + %s5]] (!%p6)");
  EXPECT_EQ(std::get<Register>(memory(two).offset.value()).number, 5);
  EXPECT_FALSE(memory(two).subtract_offset);
}

TEST(LloText, OperandsAfterAMemoryOperandNeedNoComma) {
  const One store = one("%9 = vst.msk [vmem:[%s1] sm:$0xf] /*vm=*/%vm2, /*vst_source=*/%v3 /* last */");
  ASSERT_EQ(store.instruction.operands.size(), 3);
  EXPECT_EQ(store.instruction.operands[1].name, "vm");
  EXPECT_EQ(store.instruction.operands[2].name, "vst_source");
  EXPECT_EQ(store.instruction.comment, "last");
  const One address = one("%9 = sst [smem:[#allocation1]] [#allocation2]");
  EXPECT_EQ(std::get<AllocationName>(address.instruction.operands.at(1).value).number, 2);
  const One guarded = one("%9 = vst [vmem:[%s1] sm:$0xff] (!%p2), %v3");
  EXPECT_EQ(guarded.instruction.operands.size(), 2);
}

TEST(LloText, Guards) {
  const One negated = one("%v1 = vadd.f32 (!%p3), %v1, %v2");
  ASSERT_TRUE(negated.instruction.guard);
  EXPECT_TRUE(negated.instruction.guard->negated);
  EXPECT_EQ(std::get<Register>(negated.instruction.guard->condition), (Register{Bank::Predicate, 3, -1}));
  EXPECT_EQ(negated.instruction.operands.size(), 2);
  const One after = one("%v1 = vld [vmem:[%s1] sm:$0xff] (%p4)");
  EXPECT_FALSE(after.instruction.guard->negated);
  const One constant = one("%1 = sbr.rel (0) target = $region5");
  EXPECT_EQ(std::get<bool>(constant.instruction.guard->condition), false);
  EXPECT_EQ(constant.instruction.target, 5);
}

TEST(LloText, AGuardMayKeepAnOldValue) {
  const One read = one("%s1 = smov.u32 (%p2, %s3), 4");
  ASSERT_EQ(read.instruction.operands.size(), 2);
  EXPECT_EQ(read.instruction.operands[0].name, "old");
  EXPECT_EQ(std::get<Register>(read.instruction.operands[0].value).number, 3);
  EXPECT_EQ(std::get<Immediate>(read.instruction.operands[1].value).bits, 4);
  EXPECT_TRUE(read.instruction.guard);
}

TEST(LloText, Attributes) {
  const One operand =
      one("%s0 = inlined_call_operand.<no memory space> [shape: bf16[4,8]{1,0:T(8,128)(2,1)}, index: 1, kind: output, "
          "shape index: {0}, may-alias: {1,2}]");
  EXPECT_EQ(operand.instruction.opcode, "inlined_call_operand.<no memory space>");
  EXPECT_EQ(operand.instruction.attribute("shape"), "bf16[4,8]{1,0:T(8,128)(2,1)}");
  EXPECT_EQ(operand.instruction.attribute("index"), "1");
  EXPECT_EQ(operand.instruction.attribute("shape index"), "{0}");
  EXPECT_EQ(operand.instruction.attribute("may-alias"), "{1,2}");
  EXPECT_EQ(operand.instruction.attribute("kinds"), std::nullopt);

  const One transpose = one("%1 = vxpose.xlu0.b32.start [1/16] (short) (narrow) /*x=*/%v2, 128");
  ASSERT_EQ(transpose.instruction.attributes.size(), 3);
  EXPECT_EQ(transpose.instruction.attributes[0].second, "1/16");
  EXPECT_EQ(transpose.instruction.attributes[1].second, "short");
  EXPECT_EQ(transpose.instruction.attributes[2].second, "narrow");

  const One dma = one("%1 = dma.vmem_to_hbm [thread:$0]  (%p1), %s2, 256, %s3, [#allocation1]");
  EXPECT_EQ(dma.instruction.attribute("thread"), "$0");
  EXPECT_EQ(dma.instruction.operands.size(), 4);
  EXPECT_TRUE(dma.instruction.guard);

  const One address = one("%s1 = scalar_lea.vmem %s2, %s3 [#allocation3]");
  EXPECT_EQ(address.instruction.operands.size(), 2);
  EXPECT_EQ(address.instruction.attribute("alias"), "#allocation3");
}

TEST(LloText, OpcodesWithNumbersInBracketsAndUnits) {
  EXPECT_EQ(one("%v1 = vpop.f32.mrb[31].mxu1").instruction.opcode, "vpop.f32.mrb[31].mxu1");
  EXPECT_EQ(one("%v1 = vpop.<invalid>.mrb[0].mxu0").instruction.opcode, "vpop.<invalid>.mrb[0].mxu0");
  EXPECT_EQ(one("%1 = compiler-scheduling-barrier").instruction.opcode, "compiler-scheduling-barrier");
}

TEST(LloText, CommentsMayHaveLinesAndNest) {
  const Program program = parsed("%1 = vnop /* window:\n size=8\n f(x, /*index=5*/y) */\n%2 = vnop\n");
  ASSERT_EQ(program.instructions.size(), 2);
  EXPECT_EQ(program.instructions[0].comment, "window:\n size=8\n f(x, /*index=5*/y)");
  EXPECT_EQ(program.instructions[1].line, 4);
}

constexpr const char* kRegions = R"(// [a remark]
$region0: #{fusion.1}
  #allocation0 [shape = 'f32[8]{0:T(256)}', space=vmem, size = 0x400, offset = 0x80, scoped, tag = 'it's "so"']
  #allocation1 [shape = 's32[]', space=sflag, size = 0xffffffffffffffff, offset = 0, fixed_abs, tag = 'flag']
  %s0 = smov.u32 1
  loop: start=0, step=1, limit=6
  $region2 (PrimaryCoreRegion): #{fusion.1} parent=0 // loop_header
    _
    $region7: parent=2 ([sym:post-main]) // loop_body
      %s2 = sphi 0, %s2
    %s3 = smov.u32 2
  %s4 = smov.u32 3
  $region9:
    _
)";

TEST(LloText, RegionsNestByIndentation) {
  const Program program = parsed(kRegions);
  ASSERT_EQ(program.regions.size(), 4);
  EXPECT_EQ(program.regions[0].number, 0);
  EXPECT_EQ(program.regions[0].hlo, "fusion.1");
  EXPECT_EQ(program.regions[0].parent, std::nullopt);
  EXPECT_EQ(program.regions[1].parent, 0);
  EXPECT_EQ(program.regions[1].kind, "loop_header");
  EXPECT_EQ(program.regions[1].mark, "PrimaryCoreRegion");
  EXPECT_EQ(program.regions[2].mark, "[sym:post-main]");
  EXPECT_EQ(program.regions[2].kind, "loop_body");
  ASSERT_EQ(program.instructions.size(), 4);
  EXPECT_EQ(program.regions[1].first, 1);
  EXPECT_EQ(program.regions[2].first, 1);
  EXPECT_EQ(program.regions[3].first, 4);  // at the end
  EXPECT_EQ(program.instructions[0].region, 0);
  EXPECT_EQ(program.instructions[1].region, 2);
  EXPECT_EQ(program.instructions[2].region, 1);
  EXPECT_EQ(program.instructions[3].region, 0);
  EXPECT_EQ(program.hlo_of(program.instructions[3]), "fusion.1");
  EXPECT_EQ(program.hlo_of(program.instructions[1]), "");
}

TEST(LloText, Allocations) {
  const Program program = parsed(kRegions);
  ASSERT_EQ(program.allocations.size(), 2);
  const Allocation& first = program.allocations[0];
  EXPECT_EQ(first.name, (AllocationName{0, false}));
  EXPECT_EQ(first.shape, "f32[8]{0:T(256)}");
  EXPECT_EQ(first.space, Space::Vmem);
  EXPECT_EQ(first.size, 0x400);
  EXPECT_EQ(first.offset, 0x80);
  EXPECT_TRUE(first.scoped);
  EXPECT_FALSE(first.fixed);
  EXPECT_EQ(first.tag, "it's \"so\"");
  EXPECT_EQ(first.line, 3);
  const Allocation& second = program.allocations[1];
  EXPECT_EQ(second.size, std::nullopt);
  EXPECT_EQ(second.offset, 0);
  EXPECT_TRUE(second.fixed);
  EXPECT_FALSE(second.scoped);
}

// What the labels mean stands before the bundles.
std::string bundles(const std::string& lines) {
  return "= control target key start\nLB: loop body\n= control target key end\n\n" + lines;
}

const std::string kBundles =
    bundles(R"(     0   :  { %s1_s0 = smov.u32 0  ;;  %p2_p1 = pneg %p3_p2 /* two */ } /* entry bundle: %a = f(%b) */
   0x1   :  {} /* Start region 4 :: Start region 5 :: End region 4 */
   0x2 LB: > > { %3 = sbr.rel (%p2_p1) target = $region9 } /* Start/End empty region 8 */
   0x3   :  { %4 = vnop /* of two
 lines */ } /* End region 5 :: End region 77 */
   0x4 PF:  {} /* Start region 9 */ /* exit bundle: %a = f(%b) */
)");

TEST(LloText, Bundles) {
  const Program program = parsed(kBundles);
  EXPECT_EQ(program.form, Form::PhysicalBundles);
  ASSERT_EQ(program.bundles.size(), 5);
  ASSERT_EQ(program.instructions.size(), 4);
  EXPECT_EQ(program.bundles[0].count, 2);
  EXPECT_EQ(program.instructions[1].comment, "two");
  EXPECT_EQ(program.bundles[1].count, 0);
  EXPECT_EQ(program.bundles[1].first, 2);
  EXPECT_EQ(program.bundles[2].label, "LB");
  EXPECT_EQ(program.bundles[2].address, 2);
  EXPECT_EQ(program.bundles[3].line, 8);
  EXPECT_EQ(program.bundles[4].line, 10);
  EXPECT_EQ(program.bundles[4].label, "PF");
  EXPECT_EQ(program.instructions[3].bundle, 3);
  EXPECT_EQ(program.instructions[2].target, 9);
}

TEST(LloText, RegionsOfBundlesStandInTheirRemarks) {
  const Program program = parsed(kBundles);
  ASSERT_EQ(program.regions.size(), 4);
  EXPECT_EQ(program.regions[0].number, 4);
  EXPECT_EQ(program.regions[0].first, 2);  // of the next bundle: this one is empty
  EXPECT_EQ(program.regions[2].number, 8);
  EXPECT_EQ(program.regions[2].first, 2);
  EXPECT_EQ(program.regions[3].number, 9);
  EXPECT_EQ(program.regions[3].first, 4);
  EXPECT_EQ(program.instructions[3].region, 1);  // region 5: 8 has ended
}

TEST(LloText, FormsOfBundles) {
  EXPECT_EQ(parsed(kBundles).form, Form::PhysicalBundles);
  EXPECT_EQ(parsed(bundles("  0   :  { %v1 = vmov 0 }\n")).form, Form::ValueBundles);
  const Program pieces = parsed("   0   :  { %v1 = vmov 0 }\n  0x1   :  {}\n   0   : > {}\n");
  EXPECT_EQ(pieces.form, Form::ValueBundles);
  EXPECT_EQ(pieces.bundles.size(), 3);
}

TEST(LloText, ATargetMayStateItsBundle) {
  const One read = one("%3 = sbr.rel (!%p2) target bundleno = 18 (0x12), region = 7");
  EXPECT_EQ(read.instruction.target, 7);
}

TEST(LloText, AnEmptyTextIsAnEmptyProgram) {
  EXPECT_TRUE(parsed("").instructions.empty());
  EXPECT_TRUE(parsed("\n\n").instructions.empty());
}

TEST(LloText, WhatIsMalformedIsNamedWithItsPlace) {
  EXPECT_EQ(problem("%1 = vnop\nwhat\n"),
            "k.txt:2:1: expected an instruction, a region or an allocation, found 'what'");
  EXPECT_EQ(problem("  %1 = vadd %v2 %v3\n"), "k.txt:1:17: expected ',' or the end of the instruction, found '%v3'");
  EXPECT_EQ(problem("%1 = vadd %v2,\n"), "k.txt:1:15: expected an operand, found the end of the line");
  EXPECT_EQ(problem("%1 = vadd %v2, , %v3\n"), "k.txt:1:16: expected an operand, found ', %v3'");
  EXPECT_EQ(problem("%1 = vadd /*x=*/\n"), "k.txt:1:17: expected an operand, found the end of the line");
  EXPECT_EQ(problem("%1 = vadd %q2\n"), "k.txt:1:12: expected the register's number, found 'q2'");
  EXPECT_EQ(problem("%1 = \n"), "k.txt:1:6: expected an opcode, found the end of the line");
  EXPECT_EQ(problem("%1 vnop\n"), "k.txt:1:3: expected  = , found ' vnop'");
  EXPECT_EQ(problem("%v1_s2 = vmov 0\n"), "k.txt:1:5: the physical register is of another bank than the value");
  EXPECT_EQ(problem("%1 = vld [xmem:[%s1]]\n"), "k.txt:1:11: 'xmem' is no memory space");
  EXPECT_EQ(problem("%1 = vld [vmem:[%s1] sm:$1 sm:$2]\n"), "k.txt:1:28: 'sm' stands twice");
  EXPECT_EQ(problem("%1 = vld [vmem:[%s1\n"), "k.txt:1:20: expected ']' after the address, found the end of the line");
  EXPECT_EQ(problem("%1 = vxpose [1/16\n"), "k.txt:1:13: the '[' is not closed on its line");
  EXPECT_EQ(problem("%1 = vnop /* open\n"), "k.txt:1:11: the comment is not closed");
  EXPECT_EQ(problem("%1 = f (%p1) (%p2), 3\n"), "k.txt:1:14: expected one guard, found '(%p2), 3'");
  EXPECT_EQ(problem("$region1:\n$region1:\n"), "k.txt:2:1: region 1 stands twice");
  EXPECT_EQ(problem("#allocation1 [colour = 3]\n"), "k.txt:1:15: an allocation has no 'colour'");
  EXPECT_EQ(problem("#allocation1 [tag = 'open\n"),
            "k.txt:1:26: expected a quote at the text's end, found the end of the line");
}

TEST(LloText, NumbersThatDoNotFitAreErrors) {
  EXPECT_EQ(problem("%v1 = vmov 4294967296\n"), "k.txt:1:12: the number has more than 32 bits");
  EXPECT_EQ(problem("%v1 = vmov -2147483649\n"), "k.txt:1:12: the number has more than 32 bits");
  EXPECT_EQ(problem("%v1 = vmov 99999999999999999999999\n"), "k.txt:1:12: a number has more than 64 bits");
  EXPECT_EQ(problem("%v1 = vmov 1e99\n"), "k.txt:1:12: the number is beyond those of f32");
  EXPECT_EQ(problem("%v99999999999 = vmov 1\n"), "k.txt:1:3: the register's number is above 4294967295");
  EXPECT_EQ(problem("%v1_v4294967295 = vmov 1\n"), "k.txt:1:5: no machine has so many registers");
  EXPECT_EQ(problem("%v1 = vmov --1.5\n"), "k.txt:1:13: expected a number, found '-1.5'");
}

TEST(LloText, MalformedBundles) {
  EXPECT_EQ(problem(" 0 : { %1 = vnop ; %2 = vnop }\n"),
            "k.txt:1:18: expected ';;' or '}' after an instruction, found '; %2 = vnop }'");
  EXPECT_EQ(problem(" 0 : { %1 = vnop\n"),
            "k.txt:1:17: expected ';;' or '}' after an instruction, found the end of the line");
  EXPECT_EQ(problem(" 0 : {} what\n"), "k.txt:1:9: expected the end of the line, found 'what'");
  EXPECT_EQ(problem(" 0 {}\n"), "k.txt:1:4: expected ':' after the bundle's address, found '{}'");
  EXPECT_EQ(
      problem(" 0 : {} /* begin region 4 */\n"),
      "k.txt:1:9: expected 'Start region N', 'End region N' or 'Start/End empty region N', found 'begin region 4'");
  EXPECT_EQ(problem(" 0 : {} /* Start region 4 :: Start region 4 */\n"),
            "k.txt:1:9: region 4 starts twice: is this more than one program?");
  EXPECT_EQ(problem("= control target key start\nLB: loop\n"),
            "k.txt:3:1: expected = control target key end, found the end of the text");
}

TEST(LloText, TextCutOffAnywhereIsReadOrRefused) {
  for (const std::string& text : {std::string(kRegions), kBundles}) {
    for (size_t length = 0; length < text.size(); ++length) {
      const auto program = parse_program(text.substr(0, length), "k.txt");
      if (!program) {
        EXPECT_GT(program.error().where.line, 0);
      }
    }
  }
}

TEST(LloText, AMillionRegionsTakeNoLongerThanTheirText) {
  std::string lines;
  std::string remark = "  0   :  {} /* Start region 0";
  for (int i = 1; i < 1'000'000; ++i) {
    lines += "$region" + std::to_string(i) + ":\n";
    remark += " :: Start region " + std::to_string(i);
  }
  EXPECT_EQ(parsed(lines).regions.size(), 999'999);
  for (int i = 0; i < 1'000'000; ++i) remark += " :: End region " + std::to_string(i);
  EXPECT_EQ(parsed(remark + " */\n").regions.size(), 1'000'000);
}

TEST(LloText, DepthIsNoProblem) {
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += std::string(static_cast<size_t>(i), ' ') + "$region" + std::to_string(i) + ":\n";
  EXPECT_EQ(parsed(lines).regions.size(), 3000);
  const std::string brackets(100'000, '[');
  EXPECT_EQ(problem("%1 = f " + brackets + "\n"), "k.txt:1:8: the '[' is not closed on its line");
  std::string comment;
  for (int i = 0; i < 100'000; ++i) comment += "/*";
  EXPECT_EQ(problem("%1 = f " + comment), "k.txt:1:8: the comment is not closed");
}

}  // namespace
}  // namespace sapper::llo
