// Modules of HLO text: headers, computations, names, short forms; and errors, with their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::hlo {
namespace {

using ::testing::HasSubstr;

Module read(const std::string& text) {
  auto module = parse_text(text);
  EXPECT_TRUE(module) << module.error().describe() << "\n" << text;
  return module ? std::move(*module) : Module();
}

// The module as it is written in the short form; what is written reads back to the same.
std::string rewritten(const std::string& text) {
  PrintOptions options;
  options.operand_shapes = false;
  std::string written = to_text(read(text), options);
  EXPECT_EQ(to_text(read(written), options), written);
  return written;
}

constexpr const char* entry = "\nENTRY %e (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4]{0} parameter(0)\n}\n";

class TextHeader : public ::testing::TestWithParam<const char*> {};

TEST_P(TextHeader, ReadsBackWhatItWrites) {
  const std::string text = std::string("HloModule m, ") + GetParam() + "\n" + entry;
  EXPECT_EQ(rewritten(text), text);
}

INSTANTIATE_TEST_SUITE_P(
    All, TextHeader,
    ::testing::Values(
        "is_scheduled=true", "input_output_alias={ {}: (0, {}, must-alias) }",
        "input_output_alias={ {0}: (0, {}, may-alias), {1,2}: (3, {4}, may-alias) }",
        "buffer_donor={ (0, {}), (1, {2}) }", "alias_passthrough_params=true",
        "entry_computation_layout={(f32[4]{0:T(128)})->f32[4]{0:T(256)S(1)}}",
        "allow_spmd_sharding_propagation_to_parameters={true,false}",
        "allow_spmd_sharding_propagation_to_output={true}", "replica_count=2", "num_partitions=4",
        "frontend_attributes={a=\"b\",c={\"d\":1}}",
        "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, replica_count=2, num_partitions=4"));

TEST(TextModule, ReadsHeaderFields) {
  const Module module = read(std::string("HloModule m, num_partitions=4, is_scheduled=true, replica_count=2, "
                                         "entry_computation_layout={(f32[4]{0})->f32[4]{0}}") +
                             entry);
  EXPECT_TRUE(module.is_scheduled);
  EXPECT_EQ(module.config.num_partitions(), 4);
  EXPECT_TRUE(module.config.use_spmd_partitioning());
  EXPECT_EQ(module.config.replica_count(), 2);
  EXPECT_TRUE(module.has_entry_layout);
  EXPECT_EQ(module.entry_parameter_layouts.size(), 1U);
}

TEST(TextModule, KeepsStackFrames) {
  const std::string frames = R"(
FileNames
1 "a.py"
2 "it's \"b\""

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=2 end_line=3 column=4 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

)";
  const Module module = read("HloModule m\n" + frames + entry);
  const auto& index = module.attributes.stack_frame_index();
  EXPECT_EQ(index.file_names(1), "it's \"b\"");
  EXPECT_EQ(index.stack_frames(0).parent_frame_id(), 0);
  EXPECT_EQ(index.stack_frames(1).parent_frame_id(), 1);
  const std::string text = to_text(module);
  EXPECT_THAT(text, HasSubstr("StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"));
  EXPECT_EQ(to_text(read(text)), text);
  PrintOptions options;
  options.metadata = false;
  EXPECT_THAT(to_text(module, options), ::testing::Not(HasSubstr("StackFrames")));
}

TEST(TextModule, KeepsRecoveryTables) {
  const Module module = read(std::string(R"(HloModule m, origin_recovery_table={
  {"a"} : {"b"}, "ENTRY r { ROOT p = f32[] parameter(0) }"
  {"c"} : {"d" {0}}
}
)") + entry);
  const auto& table = module.attributes.original_value_recovery_table();
  ASSERT_EQ(table.entries_size(), 2);
  EXPECT_EQ(table.entries(0).recovery_module().name(), "module_r");
  EXPECT_FALSE(table.entries(1).has_recovery_module());
  EXPECT_EQ(to_text(read(to_text(module))), to_text(module));
}

TEST(TextModule, NeedsNoHeader) {
  EXPECT_EQ(read("f { ROOT x = f32[] constant(1) }").name, "module_f");
  EXPECT_EQ(read("ENTRY f { ROOT x = f32[] constant(1) } g { y = f32[] constant(2) }").name, "module_f");
}

TEST(TextModule, WithoutEntryTheLastComputationIs) {
  const Module module = read("HloModule m\na { x = f32[] constant(1) }\nb { y = f32[] constant(2) }");
  EXPECT_EQ(module.entry_computation().name, "b");
}

TEST(TextModule, WithoutRootTheLastInstructionIs) {
  const Module module = read("HloModule m\na { x = f32[] constant(1) y = f32[] constant(2) }");
  EXPECT_EQ(module.entry_computation().root_instruction().name, "y");
}

TEST(TextModule, ReadsComputationsInAnyOrder) {
  const std::string text = rewritten(R"(HloModule m
ENTRY e {
  p = f32[] parameter(0)
  q = f32[] call(p), to_apply=outer
  ROOT r = f32[] call(q), to_apply=inner
}
outer {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=inner
}
inner {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
})");
  EXPECT_LT(text.find("%inner (x"), text.find("%outer (a"));
  EXPECT_LT(text.find("%outer (a"), text.find("ENTRY %e"));
}

TEST(TextModule, KeepsThreads) {
  const std::string text =
      "HloModule m\n\n%h (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}, execution_thread=\"host\"\n" +
      std::string(entry);
  EXPECT_EQ(rewritten(text), text);
}

TEST(TextModule, MarksFusions) {
  const Module module = read(R"(HloModule m
f { ROOT p = f32[] parameter(0) }
ENTRY e { p = f32[] parameter(0) ROOT r = f32[] fusion(p), kind=kLoop, calls=f })");
  EXPECT_TRUE(module.computations[0].is_fusion);
  EXPECT_FALSE(module.computations[1].is_fusion);
}

TEST(TextModule, SkipsComments) {
  const Module module = read(R"(// a comment
HloModule m /* another
over two lines */
ENTRY e { // here
  ROOT /* and */ x /* everywhere */ = f32[] constant(/*i=*/1)
} // end)");
  EXPECT_EQ(module.entry_computation().root_instruction().position.line, 5);
}

TEST(TextModule, KnowsWhereInstructionsAre) {
  const Module module = read("HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n\n    ROOT q = f32[] negate(p)\n}");
  const auto& instructions = module.entry_computation().instructions;
  EXPECT_EQ(instructions[0].position.line, 3);
  EXPECT_EQ(instructions[0].position.column, 3);
  EXPECT_EQ(instructions[1].position.line, 5);
  EXPECT_EQ(instructions[1].position.column, 5);
}

TEST(TextModule, SharesWhatIsEqual) {
  const Module module = read(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0), metadata={op_name="x"}
  a = f32[2] slice(p), slice={[0:2]}, metadata={op_name="x"}
  b = f32[2] slice(p), slice={[0:2]}
  ROOT c = f32[2] slice(p), slice={[1:3]}
})");
  const auto& i = module.entry_computation().instructions;
  EXPECT_EQ(i[0].metadata, i[1].metadata);
  EXPECT_EQ(i[1].shared_attributes, i[2].shared_attributes);
  EXPECT_NE(i[1].shared_attributes, i[3].shared_attributes);
}

TEST(TextModule, ReadsAsyncOperations) {
  const std::string text = rewritten(R"(HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  s = ((f32[8]), f32[4], u32[]) slice-start(p), slice={[0:4]}, metadata={op_name="q"}, async_execution_thread="t"
  u = ((f32[8]), f32[4], u32[]) slice-update(s)
  ROOT d = f32[4] slice-done(u)
})");
  EXPECT_THAT(text, HasSubstr(R"(%async_wrapped (async_param: f32[8]) -> f32[4] {
  %async_param = f32[8]{0} parameter(0)
  ROOT %slice = f32[4]{0} slice(%async_param), slice={[0:4]}, metadata={op_name="q"}
}, execution_thread="t")"));
  EXPECT_THAT(
      text, HasSubstr(R"(async-start(%p), async_execution_thread="t", calls=%async_wrapped, metadata={op_name="q"})"));
  EXPECT_THAT(text, HasSubstr("async-update(%s)"));
  EXPECT_THAT(text, HasSubstr("async-done(%u)"));
}

TEST(TextModule, ReadsAsyncCalls) {
  const std::string text = rewritten(R"(HloModule m
f { ROOT a = f32[8] parameter(0) }
async_wrapped { ROOT a = f32[8] parameter(0) }
ENTRY e {
  p = f32[8] parameter(0)
  s = ((f32[8]), f32[8], u32[]) call-start(p), to_apply=f
  ROOT d = f32[8] call-done(s)
})");
  EXPECT_THAT(text, HasSubstr("call(%async_param), to_apply=%f"));
  EXPECT_THAT(text, HasSubstr("calls=%async_wrapped.1"));
}

TEST(TextModule, ReadsTupleElementsOfOperands) {
  const std::string text = rewritten(R"(HloModule m
ENTRY e {
  p = ((f32[], s32[]), f32[]) parameter(0)
  ROOT r = f32[] add(p#0#0, p#0#0)
})");
  EXPECT_THAT(text, HasSubstr(R"(  %p_0 = (f32[], s32[]) get-tuple-element(%p), index=0
  %p_0_0 = f32[] get-tuple-element(%p_0), index=0
  ROOT %r = f32[] add(%p_0_0, %p_0_0))"));
}

TEST(TextModule, InfersShapes) {
  const std::string text = rewritten(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = add(a, b)
}
ENTRY e {
  p = f32[2,3] parameter(0)
  z = f32[] constant(0)
  t = transpose(p), dimensions={1,0}
  d = dot(p, negate(t)), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = reduce(d, z), dimensions={1}, to_apply=sum
  ROOT u = tuple(r, d)
})");
  EXPECT_THAT(text, HasSubstr("ROOT %c = f32[] add("));
  EXPECT_THAT(text, HasSubstr("%t = f32[3,2]{1,0} transpose("));
  EXPECT_THAT(text, HasSubstr("%negate.anon = f32[3,2]{1,0} negate("));
  EXPECT_THAT(text, HasSubstr("%d = f32[2,2]{1,0} dot("));
  EXPECT_THAT(text, HasSubstr("%r = f32[2]{0} reduce("));
  EXPECT_THAT(text, HasSubstr("%u = (f32[2]{0}, f32[2,2]{1,0}) tuple("));
}

TEST(TextModule, ReadsOneInstructionAlone) {
  const std::string text = rewritten("%f = f32[2]{0} add(f32[2]{0} %x, f32[2]{0} %x), metadata={op_name=\"n\"}");
  EXPECT_THAT(text, HasSubstr(R"(ENTRY %entry (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %f = f32[2]{0} add(%x, %x), metadata={op_name="n"}
})"));
  EXPECT_THAT(rewritten("f32[2] select(pred[2], f32[2] x, f32[2])"), HasSubstr(R"(
  %parameter = pred[2]{0} parameter(0)
  %x = f32[2]{0} parameter(1)
  %parameter.1 = f32[2]{0} parameter(2)
  ROOT %select.anon = f32[2]{0} select(%parameter, %x, %parameter.1))"));
}

TEST(TextModule, WritesNamesThatTextCanSay) {
  Module module = read(std::string("HloModule m") + entry);
  module.name = "jit(f)";
  module.computations[0].name = "0 e";
  Instruction copy = module.computations[0].instructions[0];
  copy.opcode = Opcode::Negate;
  copy.operands = {0};
  module.computations[0].instructions.push_back(copy);
  module.computations[0].instructions[0].name = "a b";
  module.computations[0].instructions[1].name = "a_b";
  EXPECT_EQ(to_text(module), R"(HloModule jit_f_

ENTRY %_0_e (a_b.1: f32[4]) -> f32[4] {
  ROOT %a_b.1 = f32[4]{0} parameter(0)
  %a_b = f32[4]{0} negate(f32[4]{0} %a_b.1)
}
)");
}

TEST(TextModule, HasOptions) {
  const Module module = read(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0), metadata={op_name="x"}
  ROOT q = f32[4] negate(p), metadata={op_name="x"}, backend_config={"a":1}
})");
  const PrintOptions bare{.percent = false,
                          .operand_shapes = false,
                          .metadata = false,
                          .backend_config = false,
                          .layouts = false,
                          .elide_constants_over = 0};
  EXPECT_EQ(to_text(module, bare), R"(HloModule m

ENTRY e (p: f32[4]) -> f32[4] {
  p = f32[4] parameter(0)
  ROOT q = f32[4] negate(p)
}
)");
  const Computation& computation = module.entry_computation();
  EXPECT_EQ(to_text(module, computation, computation.root_instruction(), bare), "q = f32[4] negate(p)");
}

struct BadCase {
  const char* name;
  const char* text;
  int line;
  int column;
  const char* message;
};

void PrintTo(const BadCase& c, std::ostream* out) { *out << c.text; }

class TextError : public ::testing::TestWithParam<BadCase> {};

TEST_P(TextError, SaysWhatAndWhere) {
  const BadCase& c = GetParam();
  const auto module = parse_text(c.text);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, c.message);
  EXPECT_EQ(module.error().where.line, c.line);
  EXPECT_EQ(module.error().where.column, c.column);
  EXPECT_EQ(module.error().kind, ErrorKind::BadInput);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(All, TextError, ::testing::ValuesIn(std::vector<BadCase>{
  {"Empty", "", 1, 1, "expected the name of a computation, found the end of the text"},
  {"Garbage", "\x01\x02", 1, 1, "expected the name of a computation, found the byte 0x01"},
  {"NoComputation", "HloModule m\n", 2, 1, "expected the name of a computation, found the end of the text"},
  {"EmptyBody", "HloModule m\ne {}", 2, 4, "expected an instruction, found '}'"},
  {"Unclosed", "HloModule m\ne { x = f32[] constant(1)", 2, 26, "expected an instruction, found the end of the text"},
  {"UnclosedComment", "HloModule m /* x", 1, 13, "this comment is not closed: expected */"},
  {"UnclosedString", "HloModule m, frontend_attributes={a=\"x}", 1, 37, "this string is not closed"},
  {"UnknownHeader", "HloModule m, is_sheduled=true\ne { x = f32[] constant(1) }", 1, 14, "a module has no attribute is_sheduled; did you mean is_scheduled?"},
  {"RepeatedHeader", "HloModule m, replica_count=1, replica_count=2", 1, 31, "the attribute replica_count is stated twice"},
  {"UnknownOpcode", "e {\n x = f32[] constant(1)\n y = f32[] negat(x)\n}", 3, 12, "there is no opcode negat; did you mean negate?"},
  {"UnknownOpcodeFar", "e { x = f32[] frobnicate() }", 1, 15, "there is no opcode frobnicate"},
  {"UnknownAttribute", "e {\n x = f32[2] constant({1,2})\n ROOT y = f32[] slice(x), slices={[0:1]}\n}", 3, 27, "slice has no attribute slices; did you mean slice?"},
  {"ForeignAttribute", "e { x = f32[2] iota(), window={size=3} }", 1, 24, "iota has no attribute window"},
  {"RepeatedAttribute", "e { x = f32[2] iota(), iota_dimension=0, iota_dimension=0 }", 1, 42, "the attribute iota_dimension is stated twice"},
  {"MissingAttribute", "e { x = f32[2] iota() }", 1, 23, "iota needs the attribute iota_dimension"},
  {"UnknownOperand", "e {\n value = f32[] constant(1)\n y = f32[] negate(valeu)\n}", 3, 19, "no instruction valeu is above this one in its computation; did you mean value?"},
  {"OperandBelow", "e {\n y = f32[] negate(x)\n x = f32[] constant(1)\n}", 2, 19, "no instruction x is above this one in its computation"},
  {"OperandOfItself", "e { x = f32[] negate(x) }", 1, 22, "no instruction x is above this one in its computation"},
  {"RepeatedName", "e {\n x = f32[] constant(1)\n x = f32[] constant(2)\n}", 3, 2, "there is an instruction x above already"},
  {"RepeatedComputation", "e { x = f32[] constant(1) }\ne { x = f32[] constant(1) }", 2, 1, "there is a computation e already"},
  {"TwoEntries", "ENTRY e { x = f32[] constant(1) }\nENTRY f { x = f32[] constant(1) }", 2, 1, "a module has only one ENTRY computation"},
  {"TwoRoots", "e { ROOT x = f32[] constant(1)\n ROOT y = f32[] constant(1) }", 2, 2, "a computation has only one ROOT"},
  {"UnknownComputation", "e { x = f32[] constant(1)\n y = f32[] call(x), to_apply=g }", 2, 30, "there is no computation g"},
  {"SelfCall", "e { x = f32[] constant(1)\n y = f32[] call(x), to_apply=e }", 2, 30, "the computation e calls itself"},
  {"MutualCalls", "e { x = f32[] call(), to_apply=f }\nf { x = f32[] call(), to_apply=e }", 1, 32, "the computation e calls itself"},
  {"WrongSignature", "e (x: f32[2]) -> f32[3] {\n x = f32[2] parameter(0)\n}", 1, 3, "the signature of e says f32[3], but its root has the shape f32[2]"},
  {"WrongOperandShape", "e {\n x = f32[2] constant({1,2})\n y = f32[2] negate(f32[3] x)\n}", 3, 20, "x has the shape f32[2], but f32[3] is stated here"},
  {"NoTupleElement", "e {\n x = (f32[]) parameter(0)\n y = f32[] negate(x#1)\n}", 3, 19, "there is no element 1 in the shape (f32[])"},
  {"NegativeParameter", "e { x = f32[] parameter(-1) }", 1, 15, "the number of a parameter cannot be negative"},
  {"NoSuchParameter", "e {\n x = f32[] parameter(1000000000)\n y = f32[] parameter(0)\n}", 2, 12, "parameter 1000000000 in a computation of 2 instructions"},
  {"HugeParameter", "e { x = f32[] parameter(9223372036854775807) }", 1, 25, "this integer does not fit in 32 bits"},
  {"MetadataWithoutBraces", "e { x = f32[] parameter(0), metadata=op }", 1, 38, "expected '{' to start metadata, found 'op'"},
  {"MetadataNotClosed", "e { x = f32[] parameter(0), metadata={op_name=\"a\"\n}", 2, 2, "expected an instruction, found the end of the text"},
  {"ShortEscape", "e { x = f32[] parameter(0), metadata={op_name=\"\\u00e\"} }", 1, 48, "unknown escape in a string"},
  {"SurrogateEscape", "e { x = f32[] parameter(0), metadata={op_name=\"\\ud800\"} }", 1, 48, "unknown escape in a string"},
  {"NotUtf8", "e { x = f32[] parameter(0), metadata={op_name=\"\\303\"} }", 1, 47, "this string is not UTF-8"},
  {"OctalEscapeTooLarge", "e { x = f32[] parameter(0), metadata={op_name=\"\\400\"} }", 1, 48, "unknown escape in a string"},
  {"BadShape", "e { x = f33[2] parameter(0) }", 1, 9, "there is no element type f33"},
  {"NegativeDimension", "e { x = f32[-2] parameter(0) }", 1, 15, "a dimension size cannot be negative"},
  {"BadLayout", "e { x = f32[2]{1,0} parameter(0) }", 1, 15, "the layout names 2 dimensions, but the shape has 1"},
  {"RepeatedLayout", "e { x = f32[2,2]{0,0} parameter(0) }", 1, 17, "a layout must name each dimension once"},
  {"BadLayoutProperty", "e { x = f32[2]{0:Q(1)} parameter(0) }", 1, 18, "expected a layout property (D, T, L, #, *, E, S, SC, P or M) or '}', found 'Q'"},
  {"BadWindow", "e { x = f32[] constant(1)\n y = f32[] reduce-window(x, x), window={sise=3}, to_apply=e }", 2, 41, "unknown window property 'sise': expected size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal"},
  {"BadDimLabels", "e { x = f32[] constant(1)\n y = f32[] convolution(x, x), dim_labels=bb_io->bf }", 2, 42, "expected dimension labels such as b01f_01io->b01f, found 'bb_io->bf'"},
  {"BadEnumerator", "e { x = f32[] constant(1)\n y = f32[] rng(x, x), distribution=normal }", 2, 36, "expected one of rng_invalid, rng_uniform, rng_normal, found 'normal'"},
  {"BadWord", "e { x = f32[] constant(1)\n y = pred[] compare(x, x), direction=LS }", 2, 38, "expected one of EQ, NE, GE, GT, LE, LT, found 'LS'"},
  {"BadSharding", "e { x = f32[] parameter(0), sharding={shared} }", 1, 39, "expected a sharding property (replicated, manual, maximal, devices=[...], last_tile_dims={...}, ...), found 'shared'"},
  {"BadMeshAxis", "e { x = f32[2] parameter(0), sharding={mesh['x'=2], [{'y'}]} }", 1, 55, "the mesh has no axis 'y'"},
  {"BadMetadata", "e { x = f32[] parameter(0), metadata={op=\"x\"} }", 1, 39, "unknown field 'op' of metadata"},
  {"AsyncShape", "e { x = f32[2] parameter(0)\n y = f32[2] slice-start(x), slice={[0:1]} }", 2, 27, "the shape of an async start must be ((operands), result, state...)"},
  {"NestedNeedsAttributes", "e { x = f32[2] parameter(0)\n y = f32[1] negate(f32[1] slice(x)) }", 2, 35, "slice needs the attribute slice, which it cannot have inside the operands of another"},
  {"ShapeNotInferred", "e { x = f32[2] parameter(0)\n y = reshape(x) }", 2, 6, "the shape of reshape must be stated"},
  {"ConstantWithoutShape", "e { x = constant(1) }", 1, 9, "the shape of constant must be stated"},
  {"ShapeOfCallBelow", "e { x = call(), to_apply=f }\nf { y = f32[] constant(1) }", 1, 9, "the shape of call must be stated: the computation that it calls is further down"},
  {"ShapesThatDoNotFit", "e { x = f32[2] parameter(0)\n y = f32[3] parameter(1)\n z = add(x, y) }", 3, 6, "cannot infer the shape: add: operand shapes f32[2] and f32[3] differ"},
  {"LoneParameter", "x = f32[] parameter(1)", 1, 11, "parameter 1 in a computation of 1 instructions"},
  {"LoneWithMore", "x = f32[] constant(1)\ny = f32[] constant(1)", 2, 1, "expected the end of the text after an instruction that stands alone, found 'y'"},
  {"LoneWithoutShape", "x = f32[] negate(y)", 1, 18, "no instruction y is above this one in its computation"},
}), [](const auto& tested) { return tested.param.name; });
// clang-format on

// Each instruction doubles the shape of the one above.
TEST(TextErrors, ShapesThatGrowWithoutEndMustBeStated) {
  std::string text = "HloModule m\nENTRY e {\n t0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 60; ++i) text += fmt::format(" t{} = tuple(t{}, t{})\n", i, i - 1, i - 1);
  const auto module = parse_text(text + "}\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, "this shape is too large to infer: it must be stated");
}

TEST(TextErrors, ShapesThatNestWithoutEndMustBeStated) {
  std::string text = "HloModule m\nENTRY e {\n t0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 1000; ++i) text += fmt::format(" t{} = tuple(t{})\n", i, i - 1);
  const auto module = parse_text(text + "}\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().where.line, 68);
}

TEST(TextErrors, DepthIsLimited) {
  const std::string deep(100000, '(');
  const auto module = parse_text("HloModule m\nENTRY e {\n x = " + deep);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, "a shape nests deeper than 64 levels");
  EXPECT_FALSE(parse_shape(deep));
  std::string calls = "HloModule m\nENTRY e { x = f32[] constant(1) ";
  for (int i = 0; i < 100000; ++i) calls += "y = f32[] call(), to_apply={ ";
  EXPECT_FALSE(parse_text(calls));
  std::string operands = "e { x = f32[] constant(1) y = ";
  for (int i = 0; i < 100000; ++i) operands += "f32[] negate(";
  EXPECT_FALSE(parse_text(operands));
  std::string dimensions = "f32[1";
  for (int i = 0; i < 100000; ++i) dimensions += ",1";
  EXPECT_FALSE(parse_shape(dimensions + "]"));
}

// The layouts at the boundary may leave out which dimensions are dynamic.
TEST(TextModule, BoundaryMayBeLessDynamicThanTheProgram) {
  const auto module = parse_text(R"(HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

ENTRY %main (x: f32[4]) -> f32[<=4] {
  ROOT %x = f32[<=4]{0} parameter(0)
}
)");
  ASSERT_TRUE(module) << module.error().describe();
  ASSERT_TRUE(verify(*module));
  const auto again = parse_proto(to_proto(*module));
  EXPECT_TRUE(again) << again.error().describe();
}

TEST(TextErrors, ShapesAlone) {
  EXPECT_EQ(parse_shape("f32[2,<=3]{1,0}")->to_text(), "f32[2,<=3]{1,0}");
  EXPECT_EQ(parse_shape("f32[2] x").error().message, "expected the end of the text after the shape, found 'x'");
  EXPECT_EQ(parse_shape("tuple[2]").error().message, "expected a shape, found 'tuple', which is not an element type");
}

}  // namespace
}  // namespace sapper::hlo
