// What pieces look like: what they keep of the source and what they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/isolate/testing.h"

namespace sapper::isolate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string text_of(const Piece& piece) { return hlo::to_text(piece.module, {.percent = false}); }

TEST(Piece, EqualInstructionsAreOne) {
  const Cut cut = cut_text(R"(HloModule m
    ENTRY e {
      a = f32[4] parameter(0)
      b = f32[4] parameter(1)
      x = f32[4] add(a, b), metadata={op_name="first" source_file="f.py" source_line=3}
      y = f32[4] add(b, x), metadata={op_name="second"}
      ROOT z = f32[4] subtract(x, y)
    })",
                           Granularity::Fusion);
  EXPECT_THAT(roots(cut), ElementsAre("add", "subtract"));
  ASSERT_EQ(cut.pieces[0].occurrences.size(), 2U);
  EXPECT_THAT(text_of(cut.pieces[0]), Not(HasSubstr("metadata")));
}

TEST(Piece, KeepsEqualOperandsEqual) {
  const Cut cut =
      cut_text("HloModule m ENTRY e { a = f32[4] parameter(0) ROOT x = f32[4] multiply(a, a) }", Granularity::Op);
  ASSERT_EQ(cut.pieces.size(), 1U);
  EXPECT_EQ(cut.pieces[0].module.entry_computation().parameters().size(), 1U);
}

TEST(Piece, OrderOfCommutativeOperandsDoesNotCount) {
  const auto one = [](std::string_view expression) {
    return fingerprints(cut_text(fmt::format("HloModule m ENTRY e {{ a = f32[4] parameter(0) b = s32[4] parameter(1) "
                                             "c = f32[4] convert(b) n = f32[4] negate(a) d = f32[4] dot(a, a), "
                                             "lhs_batch_dims={{0}}, rhs_batch_dims={{0}} ROOT x = f32[4] {} }}",
                                             expression),
                                 Granularity::Region));
  };
  EXPECT_EQ(one("add(c, d)"), one("add(d, c)"));
  EXPECT_EQ(one("maximum(c, d)"), one("maximum(d, c)"));
  EXPECT_NE(one("subtract(c, d)"), one("subtract(d, c)"));
  EXPECT_NE(one("add(c, d)"), one("multiply(d, c)"));
}

TEST(Piece, LayoutsAndPrecisionCount) {
  const auto one = [](std::string_view layout, std::string_view precision) {
    return fingerprints(cut_text(
        fmt::format("HloModule m ENTRY e {{ a = f32[4,4]{} parameter(0) ROOT x = f32[4,4] dot(a, a), "
                    "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, operand_precision={{{},default}} }}",
                    layout, precision),
        Granularity::Fusion));
  };
  EXPECT_EQ(one("{1,0}", "high"), one("{1,0}", "high"));
  EXPECT_NE(one("{1,0}", "high"), one("{0,1}", "high"));
  EXPECT_NE(one("{1,0}", "high"), one("{1,0}", "highest"));
}

TEST(Piece, LivesInDefaultMemoryAlone) {
  const Cut cut = cut_text(R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
    fused {
      p = f32[8,128]{1,0:T(8,128)S(1)} parameter(0)
      ROOT r = f32[8,128]{1,0:T(8,128)S(1)} negate(p)
    }
    ENTRY e {
      a = f32[8,128]{1,0:T(8,128)} parameter(0)
      s = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(a)
      d = f32[8,128]{1,0:T(8,128)S(1)} copy-done(s)
      ROOT f = f32[8,128]{1,0:T(8,128)S(1)} fusion(d), kind=kLoop, calls=fused, sharding={replicated}, backend_config={"window_config":{"output_window_bounds":["1"],"estimated_cycles":"77"},"used_scoped_memory_configs":[{"memory_space":"1","offset":"64","size":"8"}],"scoped_memory_configs":[{"memory_space":"1","offset":"64","size":"8"}]}
    })",
                           Granularity::Fusion);
  ASSERT_EQ(cut.pieces.size(), 1U);
  const std::string text = text_of(cut.pieces[0]);
  for (const char* gone : {"S(1)", "used_scoped", "offset", "alias", "sharding", "copy"})
    EXPECT_THAT(text, Not(HasSubstr(gone)));
  EXPECT_THAT(text, HasSubstr("output_window_bounds"));
  EXPECT_THAT(text, HasSubstr("\"size\":\"8\""));
  EXPECT_THAT(text, HasSubstr("T(8,128)"));
  EXPECT_EQ(cut.pieces[0].cost, 77);
  EXPECT_EQ(cut.coverage.nothing, 3);
}

TEST(Piece, TuplesComeInAsArrays) {
  const Cut cut = cut_text(R"(HloModule m
    fused {
      p = (f32[4], (s32[2], f32[4])) parameter(0)
      q = (s32[2], f32[4]) get-tuple-element(p), index=1
      a = f32[4] get-tuple-element(p), index=0
      b = f32[4] get-tuple-element(q), index=1
      ROOT r = f32[4] add(a, b)
    }
    ENTRY e {
      p = (f32[4], (s32[2], f32[4])) parameter(0)
      ROOT f = f32[4] fusion(p), kind=kLoop, calls=fused
    })",
                           Granularity::Fusion);
  ASSERT_EQ(cut.pieces.size(), 1U);
  const hlo::Computation& entry = cut.pieces[0].module.entry_computation();
  EXPECT_EQ(entry.parameters().size(), 3U);
  for (const hlo::InstructionIndex p : entry.parameters()) EXPECT_TRUE(entry.instructions[p].shape.is_array());
  const Occurrence& occurrence = cut.pieces[0].occurrences[0];
  EXPECT_THAT(occurrence.inputs, ElementsAre(ValueRef{0, 0}, ValueRef{0, 1}, ValueRef{0, 2}));
}

TEST(Piece, NestedResultsComeOutFlat) {
  const Cut cut = cut_text(R"(HloModule m
    body { p = (s32[], (f32[4], f32[4])) parameter(0) ROOT q = (s32[], (f32[4], f32[4])) copy(p) }
    condition { p = (s32[], (f32[4], f32[4])) parameter(0) ROOT c = pred[] constant(false) }
    ENTRY e {
      p = (s32[], (f32[4], f32[4])) parameter(0)
      w = (s32[], (f32[4], f32[4])) while(p), condition=condition, body=body
      ROOT t = (s32[], (f32[4], f32[4])) copy(w)
    })",
                           Granularity::Computation);
  ASSERT_EQ(cut.pieces.size(), 1U);
  const hlo::Shape& result = cut.pieces[0].module.entry_computation().root_instruction().shape;
  EXPECT_EQ(result.to_text(false), "(s32[], f32[4], f32[4])");
  EXPECT_EQ(cut.pieces[0].kind, Kind::Control);
}

TEST(Piece, HalvesOfAsynchronousOperationsBecomeTheOperation) {
  const std::string_view text = R"(HloModule m
    wrapped { p = f32[8] parameter(0) ROOT s = f32[4]{0:S(1)} slice(p), slice={[2:6]} }
    pair { p = f32[4] parameter(0) q = f32[4] parameter(1) n = f32[4] negate(p) ROOT s = f32[4] add(n, q) }
    ENTRY e {
      a = f32[8] parameter(0)
      s = ((f32[8]), f32[4]{0:S(1)}, s32[]) async-start(a), calls=wrapped
      d = f32[4]{0:S(1)} async-done(s)
      t = ((f32[4], f32[4]), f32[4], s32[]) async-start(d, d), calls=pair
      u = ((f32[4], f32[4]), f32[4], s32[]) async-update(t)
      f = f32[4] async-done(u)
      c = (f32[4]{0:S(1)}, f32[4], u32[]) copy-start(f)
      g = f32[4]{0:S(1)} copy-done(c)
      ROOT r = f32[4] multiply(g, d)
    })";
  const Cut whole = cut_text(text, Granularity::Computation);
  ASSERT_EQ(whole.pieces.size(), 1U);
  EXPECT_THAT(text_of(whole.pieces[0]), Not(HasSubstr("start")));
  EXPECT_THAT(text_of(whole.pieces[0]), Not(HasSubstr("S(1)")));
  EXPECT_EQ(expect_same_values(parse(text), {.granularity = Granularity::Computation}), 1);
  EXPECT_THAT(roots(cut_text(text, Granularity::Fusion)), ElementsAre("add", "multiply", "negate", "slice"));
}

TEST(Piece, AsynchronousOperationsThatEndElsewhereAreOutside) {
  const std::string_view text = R"(HloModule m
    wrapped { p = f32[8] parameter(0) ROOT s = f32[4] slice(p), slice={[2:6]} }
    body {
      state = (((f32[8]), f32[4], s32[]), f32[8]) parameter(0)
      pending = ((f32[8]), f32[4], s32[]) get-tuple-element(state), index=0
      d = f32[4] async-done(pending), calls=wrapped
      v = f32[8] get-tuple-element(state), index=1
      n = f32[8] negate(v)
      next = ((f32[8]), f32[4], s32[]) async-start(n), calls=wrapped
      ROOT r = (((f32[8]), f32[4], s32[]), f32[8]) tuple(next, n)
    }
    condition { state = (((f32[8]), f32[4], s32[]), f32[8]) parameter(0) ROOT c = pred[] constant(false) }
    ENTRY e {
      a = f32[8] parameter(0)
      s = ((f32[8]), f32[4], s32[]) async-start(a), calls=wrapped
      state = (((f32[8]), f32[4], s32[]), f32[8]) tuple(s, a)
      w = (((f32[8]), f32[4], s32[]), f32[8]) while(state), condition=condition, body=body
      v = f32[8] get-tuple-element(w), index=1
      ROOT r = f32[8] tanh(v)
    })";
  for (const Granularity granularity : every_granularity) {
    const Cut cut = cut_text(text, granularity);
    EXPECT_THAT(roots(cut), ElementsAre("negate", "slice", "tanh")) << to_string(granularity);
  }
}

TEST(Piece, CollectivesAreWhatTheyAreOnOneDevice) {
  const std::string_view text = R"(HloModule m, num_partitions=4
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e {
      a = f32[4,2] parameter(0)
      x = f32[4,2] negate(a)
      r = f32[4,2] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=sum
      g = f32[4,8] all-gather(r), replica_groups={{0,1,2,3}}, dimensions={1}
      s = f32[1,8] reduce-scatter(g), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=sum
      h = f32[1,8] custom-call(s), custom_call_target="Sharding", sharding={replicated}
      p = u32[] partition-id()
      c = f32[] convert(p)
      b = f32[1,8] broadcast(c), dimensions={}
      ROOT y = f32[1,8] add(h, b)
    })";
  const Cut whole = cut_text(text, Granularity::Computation);
  ASSERT_EQ(whole.pieces.size(), 1U);
  const std::string piece = text_of(whole.pieces[0]);
  for (const char* gone : {"all-", "scatter", "partition", "Sharding"}) EXPECT_THAT(piece, Not(HasSubstr(gone)));
  hlo::Literal argument(hlo::Shape::array(hlo::ElementType::F32, {4, 2}));
  for (int i = 0; i < 8; ++i) argument.set_real(i, i);
  const auto value = eval::evaluate(whole.pieces[0].module, std::array{argument});
  ASSERT_TRUE(value) << value.error().describe();
  EXPECT_THAT(value->data<float>(), ElementsAre(0, -1, 0, -1, 0, -1, 0, -1));

  const Cut apart = cut_text(text, Granularity::Fusion);
  EXPECT_THAT(roots(apart), ElementsAre("add", "broadcast", "convert", "negate"));
  EXPECT_EQ(apart.coverage.skipped.size(), 5U);
  EXPECT_EQ(apart.coverage.skipped_by_reason().size(), 1U);
}

TEST(Piece, WhatTalksToTheHostIsInNone) {
  const std::string_view text = R"(HloModule m
    ENTRY e {
      t = token[] after-all()
      i = (f32[4], token[]) infeed(t)
      v = f32[4] get-tuple-element(i), index=0
      n = f32[4] negate(v)
      c = f32[4] custom-call(n), custom_call_target="xla_ffi_python_cpu_callback"
      ROOT r = f32[4] tanh(c)
    })";
  for (const Granularity granularity : every_granularity) {
    const Cut cut = cut_text(text, granularity);
    EXPECT_THAT(roots(cut), ElementsAre("negate", "tanh"));
    EXPECT_EQ(cut.coverage.skipped_by_reason().size(), 2U);
  }
}

TEST(Piece, ConstantsStayWhereTheyMeanSomething) {
  std::string mask;
  std::string counted;
  std::string arbitrary;
  for (int i = 0; i < 2048; ++i) {
    mask += fmt::format("{}{}", i == 0 ? "" : ",", i % 3 == 0 ? "-inf" : "0");
    counted += fmt::format("{}{}", i == 0 ? "" : ",", 5 + 2 * i);
    arbitrary += fmt::format("{}{}", i == 0 ? "" : ",", i * 8 % 1001);
  }
  const Cut cut = cut_text(fmt::format(R"(HloModule m
    ENTRY e {{
      a = f32[2048] parameter(0)
      i = s32[2048] parameter(1)
      mask = f32[2048] constant({{{}}})
      counted = s32[2048] constant({{{}}})
      arbitrary = f32[2048] constant({{{}}})
      x = f32[2048] add(a, mask)
      y = s32[2048] subtract(i, counted)
      z = f32[2048] divide(a, arbitrary)
      ROOT r = (f32[2048], s32[2048], f32[2048]) tuple(x, y, z)
    }})",
                                       mask, counted, arbitrary),
                           Granularity::Fusion);
  ASSERT_EQ(cut.pieces.size(), 3U);
  EXPECT_THAT(text_of(cut.pieces[0]), HasSubstr("constant"));
  EXPECT_THAT(text_of(cut.pieces[1]), HasSubstr("constant"));
  EXPECT_THAT(text_of(cut.pieces[2]), Not(HasSubstr("constant")));
  ASSERT_EQ(cut.pieces[2].occurrences[0].constants.size(), 1U);
  const ConstantStatistics& statistics = cut.pieces[2].occurrences[0].constants[0];
  EXPECT_EQ(statistics.parameter, 1U);
  EXPECT_EQ(statistics.min, 0);
  EXPECT_EQ(statistics.max, 1000);
  EXPECT_NEAR(statistics.mean, 500, 20);
}

TEST(Piece, ALargeConstantOfOneValueIsItsBroadcast) {
  hlo::Module module = parse(R"(HloModule m
    ENTRY e {
      a = f32[64,64] parameter(0)
      c = f32[64,64] constant({...})
      ROOT x = f32[64,64] add(a, c)
    })");
  EXPECT_THAT(text_of(cut(module).pieces[0]), Not(HasSubstr("constant")));  // not known: a parameter
  hlo::Instruction& constant = module.computations[0].instructions[1];
  hlo::Literal value(constant.shape);
  for (int i = 0; i < 4096; ++i) value.set_real(i, 2.5);
  constant.literal = std::make_shared<const hlo::Literal>(value);
  const std::string text = text_of(cut(module).pieces[0]);
  EXPECT_THAT(text, HasSubstr("constant(2.5)"));
  EXPECT_THAT(text, HasSubstr("broadcast"));
}

TEST(Piece, ResultsWithoutElementsNeedNone) {
  const Cut cut =
      cut_text("HloModule m ENTRY e { a = f32[0,4] parameter(0) ROOT x = f32[0,4] negate(a) }", Granularity::Fusion);
  EXPECT_THAT(cut.pieces, IsEmpty());
  EXPECT_EQ(cut.coverage.nothing, 2);
}

TEST(Piece, LoopsCountTheirIterations) {
  const hlo::Module module = parse(R"(HloModule m
    body { p = f32[4] parameter(0) ROOT q = f32[4] negate(p) }
    condition { p = f32[4] parameter(0) ROOT c = pred[] constant(false) }
    ENTRY e {
      p = f32[4] parameter(0)
      ROOT w = f32[4] while(p), condition=condition, body=body, backend_config={"known_trip_count":{"n":"12"}}
    })");
  const Cut pieces = cut(module);
  ASSERT_EQ(pieces.pieces.size(), 1U);
  EXPECT_EQ(pieces.pieces[0].occurrences[0].executions, 12);
}

TEST(Provenance, NamesTheSourceLine) {
  const hlo::Module module = parse(R"(HloModule m
    ENTRY e {
      a = f32[4] parameter(0)
      ROOT x = f32[4] negate(a), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=41}
    })");
  const Provenance found = provenance(module, cut(module).pieces[0].occurrences[0]);
  EXPECT_EQ(found.module, "m");
  EXPECT_EQ(found.computation, "e");
  EXPECT_EQ(found.instruction, "x");
  EXPECT_EQ(found.op_name, "jit(f)/neg");
  EXPECT_EQ(found.source_file, "model.py");
  EXPECT_EQ(found.source_line, 41);
}

}  // namespace
}  // namespace sapper::isolate
