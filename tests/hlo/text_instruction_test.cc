// Instructions of HLO text: one line a feature, read and written back. Each line is the right-hand side of the root of
// a module that has the names below.
#include <gtest/gtest.h>

#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::hlo {
namespace {

constexpr const char* preamble = R"(HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = pred[] compare(%a, %b), direction=LT
}

%body (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  ROOT %b = f32[8,8]{1,0} negate(%a)
}

%go_on (a: f32[8,8]) -> pred[] {
  %a = f32[8,8]{1,0} parameter(0)
  ROOT %b = pred[] constant(true)
}

%step (c: f32[], x: f32[]) -> (f32[], f32[]) {
  %c = f32[] parameter(0)
  %x = f32[] parameter(1)
  %s = f32[] add(%c, %x)
  ROOT %w = (f32[], f32[]) tuple(%s, %s)
}

ENTRY %main {
  %p = f32[8,8]{1,0} parameter(0)
  %k = s32[8]{0} parameter(1)
  %z = f32[] constant(0)
  %i = s32[] constant(0)
  %f = pred[] constant(true)
  %v = token[] after-all()
  ROOT %r = )";

std::string module_with(const std::string& root) { return preamble + root + "\n}\n"; }

std::string root_of(const std::string& text) {
  const size_t start = text.rfind("  ROOT %r = ") + 12;
  return text.substr(start, text.rfind("\n}") - start);
}

struct Case {
  const char* name;
  const char* text;
  const char* written = nullptr;  // when it is not the same
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class TextInstruction : public ::testing::TestWithParam<Case> {};

TEST_P(TextInstruction, ReadsBackWhatItWrites) {
  const Case& c = GetParam();
  const auto module = parse_text(module_with(c.text));
  ASSERT_TRUE(module) << module.error().describe();
  PrintOptions options;
  options.operand_shapes = false;
  const std::string written = to_text(*module, options);
  EXPECT_EQ(root_of(written), c.written != nullptr ? c.written : c.text);
  const auto again = parse_text(written);
  ASSERT_TRUE(again) << again.error().describe() << "\n" << written;
  EXPECT_EQ(to_text(*again, options), written);
  // The long form says the same.
  const auto from_long = parse_text(to_text(*module));
  ASSERT_TRUE(from_long) << from_long.error().describe();
  EXPECT_EQ(to_text(*from_long, options), written);
  // So does the wire form.
  const auto from_proto = parse_proto(to_proto(*module));
  ASSERT_TRUE(from_proto) << from_proto.error().describe();
  EXPECT_EQ(root_of(to_text(*from_proto, options)), root_of(written));
  EXPECT_EQ(fingerprint(*from_proto), fingerprint(*again));
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Collectives, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"AllGather", "f32[16,8]{1,0} all-gather(%p), channel_id=3, replica_groups={{0,1}}, constrain_layout=true, dimensions={0}, use_global_device_ids=true"},
  {"AllGatherStart", "(f32[8,8]{1,0}, f32[16,8]{1,0}) all-gather-start(%p), replica_groups={{0,1}}, dimensions={0}"},
  {"ReduceScatter", "f32[4,8]{1,0} reduce-scatter(%p), channel_id=1, replica_groups={{0,1}}, dimensions={0}, to_apply=%sum"},
  {"AllReduceOfAll", "f32[8,8]{1,0} all-reduce(%p), replica_groups={}, to_apply=%sum"},
  {"AllReduceIota", "f32[8,8]{1,0} all-reduce(%p), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=%sum"},
  {"AllReduceIotaPlain", "f32[8,8]{1,0} all-reduce(%p), replica_groups=[2,4]<=[8], to_apply=%sum"},
  {"AllReduceMesh", "f32[8,8]{1,0} all-reduce(%p), replica_groups=mesh['x'=2,'y'=4] {'x', 'y':(1)2}, to_apply=%sum"},
  {"AllReduceMeshDevices", "f32[8,8]{1,0} all-reduce(%p), replica_groups=mesh['x'=2], device_ids=(1,0) {'x'}, to_apply=%sum"},
  {"AllReduceMode", "f32[8,8]{1,0} all-reduce(%p), replica_groups={}, mode=flattened_id, to_apply=%sum",
                    "f32[8,8]{1,0} all-reduce(%p), replica_groups={}, to_apply=%sum"},
  {"AllToAll", "f32[8,8]{1,0} all-to-all(%p), replica_groups={{0,1},{2,3}}, dimensions={0}"},
  {"AllToAllTuple", "(f32[8,8]{1,0}) all-to-all(%p), replica_groups={{0}}"},
  {"RaggedAllToAll", "f32[8,8]{1,0} ragged-all-to-all(%p, %p, %k, %k, %k, /*index=5*/%k), replica_groups={{0}}"},
  {"CollectivePermute", "f32[8,8]{1,0} collective-permute(%p), channel_id=2, source_target_pairs={{0,1},{1,0}}"},
  {"CollectivePermuteSlices", "f32[8,8]{1,0} collective-permute(%p, %p, %i, %i), source_target_pairs={{0,1}}, slice_sizes={{4,4}}"},
  {"CollectiveBroadcast", "f32[8,8]{1,0} collective-broadcast(%p), replica_groups={{0,1}}, has_dynamic_root=true"},
  {"Send", "(f32[8,8]{1,0}, u32[], token[]) send(%p, %v), channel_id=4, is_host_transfer=true"},
  {"Recv", "(f32[8,8]{1,0}, u32[], token[]) recv(%v), channel_id=4"},
}), [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Calls, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"Reduce", "f32[] reduce(%p, %z), dimensions={0,1}, to_apply=%sum"},
  {"Map", "f32[8,8]{1,0} map(%p, %p), dimensions={0,1}, to_apply=%sum"},
  {"Sort", "f32[8,8]{1,0} sort(%p), dimensions={1}, is_stable=true, to_apply=%less"},
  {"While", "f32[8,8]{1,0} while(%p), condition=%go_on, body=%body"},
  {"WhileBodyFirst", "f32[8,8]{1,0} while(%p), body=%body, condition=%go_on", "f32[8,8]{1,0} while(%p), condition=%go_on, body=%body"},
  {"ConditionalOnFlag", "f32[8,8]{1,0} conditional(%f, %p, %p), true_computation=%body, false_computation=%body"},
  {"ConditionalOnFlagAsList", "f32[8,8]{1,0} conditional(%f, %p, %p), branch_computations={%body, %body}",
                              "f32[8,8]{1,0} conditional(%f, %p, %p), true_computation=%body, false_computation=%body"},
  {"ConditionalOnIndex", "f32[8,8]{1,0} conditional(%i, %p, %p), branch_computations={%body, %body}"},
  {"Fusion", "f32[8,8]{1,0} fusion(%p), kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, calls=%body"},
  {"Call", "f32[8,8]{1,0} call(%p), to_apply=%body, is_composite=true, frontend_attributes={composite.name=\"x\"}"},
  {"SelectAndScatter", "f32[8,8]{1,0} select-and-scatter(%p, %p, %z), window={size=1x1}, select=%less, scatter=%sum"},
  {"ReduceWindow", "f32[8,8]{1,0} reduce-window(%p, %z), window={size=2x1 stride=1x2 pad=1_0x0_0 lhs_dilate=2x1 rhs_dilate=1x3 rhs_reversal=1x0}, to_apply=%sum"},
  {"Scan", "(f32[8]{0}, f32[]) scan(%k, %z), dimensions={0}, num_carries=1, is_reverse=true, is_associative=true, to_apply=%step"},
  {"Scatter", "f32[8,8]{1,0} scatter(%p, %k, %p), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=%sum"},
  {"ScatterBatching", "f32[8,8]{1,0} scatter(%p, %k, %p), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=%sum"},
  {"InlineComputation", "f32[] reduce(%p, %z), dimensions={0,1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }",
                        "f32[] reduce(%p, %z), dimensions={0,1}, to_apply=%inline"},
  {"NestedOperand", "f32[8,8]{1,0} add(%p, f32[8,8] negate(%p))", "f32[8,8]{1,0} add(%p, %negate.anon)"},
}), [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Dimensions, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"Broadcast", "f32[8,8]{1,0} broadcast(%z), dimensions={}"},
  {"BroadcastOfScalar", "f32[8,8]{1,0} broadcast(%z)", "f32[8,8]{1,0} broadcast(%z), dimensions={}"},
  {"Iota", "f32[8,8]{1,0} iota(), iota_dimension=1"},
  {"Slice", "f32[4,8]{1,0} slice(%p), slice={[0:8:2], [0:8:1]}"},
  {"SliceUnstrided", "f32[4,8]{1,0} slice(%p), slice={[0:4], [0:8]}"},
  {"DynamicSlice", "f32[4,4]{1,0} dynamic-slice(%p, %i, %i), dynamic_slice_sizes={4,4}"},
  {"DynamicUpdateSlice", "f32[8,8]{1,0} dynamic-update-slice(%p, %p, %i, %i)"},
  {"Reshape", "f32[64]{0} reshape(%p)"},
  {"ReshapeInferred", "f32[8,<=8]{1,0} reshape(%p), inferred_dimension=1"},
  {"Transpose", "f32[8,8]{0,1} transpose(%p), dimensions={1,0}"},
  {"Concatenate", "f32[16,8]{1,0} concatenate(%p, %p), dimensions={0}"},
  {"Pad", "f32[9,23]{1,0} pad(%p, %z), padding=1_0_0x-1_1_2"},
  {"PadWithoutInterior", "f32[9,8]{1,0} pad(%p, %z), padding=1_0x-1_1"},
  {"GetDimensionSize", "s32[] get-dimension-size(%p), dimensions={0}"},
  {"SetDimensionSize", "f32[<=8,8]{1,0} set-dimension-size(%p, %i), dimensions={0}"},
  {"Gather", "f32[8,8]{1,0} gather(%p, %k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}, indices_are_sorted=true"},
  {"GatherBatching", "f32[8,8]{1,0} gather(%p, %k), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,8}"},
  {"Convolution", "f32[8,8]{1,0} convolution(%p, %p), window={size=3 stride=2 pad=1_2 lhs_dilate=2 rhs_dilate=3}, dim_labels=b0f_0io->b0f, feature_group_count=2, batch_group_count=4, operand_precision={high,highest}"},
  {"ConvolutionUnknownLabels", "f32[8,8]{1,0} convolution(%p, %p), window={size=3x2}, dim_labels=b0?1f_01i?o->?b01f"},
  {"ConvolutionWithoutSpatial", "f32[8,8]{1,0} convolution(%p, %p), dim_labels=bf_io->bf, convolution_kind=fprop"},
  {"ConvolutionSparse", "f32[8,8]{1,0} convolution(%p, %p), dim_labels=bf_io->bf, sparsity_config={lhs={sparsity=2x4 dimension=1 stride=3 idx=2}}"},
  {"Dot", "f32[8,8,8]{2,1,0} dot(%p, %p), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}, operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32_x3"},
  {"DotScaled", "f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, block_scaling_config={lhs={scale_idx=2 zero_idx=3 strides=1x2 steps=3x4} rhs={scale_idx=1}}"},
  {"RaggedDot", "f32[8,8]{1,0} ragged-dot(%p, %p, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={0}, rhs_group_dims={0}"},
  {"ScaledDot", "f32[8,8]{1,0} scaled-dot(%p, %p, %p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
}), [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Others, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"Compare", "pred[8,8]{1,0} compare(%p, %p), direction=GE"},
  {"CompareTotalOrder", "pred[8,8]{1,0} compare(%p, %p), direction=LT, type=TOTALORDER"},
  {"CompareTotalOrderNew", "pred[8,8]{1,0} compare(%p, %p), direction=LT, order=TOTAL", "pred[8,8]{1,0} compare(%p, %p), direction=LT, type=TOTALORDER"},
  {"CompareStatedDefault", "pred[] compare(%i, %i), direction=LT, type=SIGNED", "pred[] compare(%i, %i), direction=LT"},
  {"CompareIntegersInOrder", "pred[] compare(%i, %i), direction=LT, order=TOTAL", "pred[] compare(%i, %i), direction=LT"},
  {"Topk", "(f32[8,3]{1,0}, s32[8,3]{1,0}) topk(%p), k=3, largest=false, is_stable=false"},
  {"TopkDefaults", "(f32[8,3]{1,0}, s32[8,3]{1,0}) topk(%p), k=3", "(f32[8,3]{1,0}, s32[8,3]{1,0}) topk(%p), k=3, largest=true, is_stable=true"},
  {"Fft", "c64[8,5]{1,0} fft(%p), fft_type=RFFT, fft_length={8}"},
  {"Cholesky", "f32[8,8]{1,0} cholesky(%p), lower=true"},
  {"TriangularSolve", "f32[8,8]{1,0} triangular-solve(%p, %p), left_side=true, lower=true, unit_diagonal=true, transpose_a=ADJOINT"},
  {"BatchNormTraining", "(f32[8,8]{1,0}, f32[8]{0}, f32[8]{0}) batch-norm-training(%p, %k, %k), epsilon=0.001, feature_index=1"},
  {"Rng", "f32[8,8]{1,0} rng(%z, %z), distribution=rng_uniform"},
  {"RngBitGenerator", "(u64[2]{0}, u32[4]{0}) rng-bit-generator(%p), algorithm=rng_three_fry"},
  {"RngGetAndUpdateState", "u64[1]{0} rng-get-and-update-state(), delta=4"},
  {"ReducePrecision", "f32[8,8]{1,0} reduce-precision(%p), exponent_bits=5, mantissa_bits=0"},
  {"Infeed", "(f32[8,8]{1,0}, token[]) infeed(%v), infeed_config=\"a\\\"b\\n\""},
  {"Outfeed", "token[] outfeed(%p, %v), outfeed_shape=f32[8,8]{0,1}, outfeed_config=\"abc\""},
  {"CopyStart", "(f32[8,8]{1,0:S(1)}, f32[8,8]{1,0}, u32[]{:S(2)}) copy-start(%p), cross_program_prefetch_index=0"},
  {"ResultAccuracy", "f32[8,8]{1,0} exponential(%p), result_accuracy={tolerance={atol=0.001,rtol=0.5,ulps=3}}"},
  {"ResultAccuracyMode", "f32[8,8]{1,0} tanh(%p), result_accuracy={mode=highest}"},
  {"Domain", "f32[8,8]{1,0} domain(%p), domain={kind=\"sharding\", entry={maximal device=0}, exit={replicated}}"},
  {"CustomCall", "f32[8,8]{1,0} custom-call(%p), window={size=1x1}, dim_labels=bf_io->bf, feature_group_count=3, batch_group_count=2, operand_precision={highest}, padding_type=PADDING_SAME, custom_call_target=\"t\", operand_layout_constraints={f32[8,8]{0,1}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST, api_version=API_VERSION_TYPED_FFI"},
  {"CustomCallLiteral", "f32[8,8]{1,0} custom-call(%p), custom_call_target=\"t\", literal=(f32[] 1.5, s32[2]{0} {1, 2})"},
  {"CustomCallCalling", "f32[8,8]{1,0} custom-call(%p), custom_call_target=\"t\", called_computations={%body, %sum}"},
  {"CustomCallToApply", "f32[8,8]{1,0} custom-call(%p), custom_call_target=\"t\", to_apply=%body", "f32[8,8]{1,0} custom-call(%p), custom_call_target=\"t\", called_computations={%body}"},
  {"AsyncStart", "((f32[8,8]{1,0}), f32[8,8]{1,0}, s32[]) async-start(%p), async_execution_thread=\"host\", calls=%body"},
}), [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Common, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"Metadata", "f32[8,8]{1,0} negate(%p), metadata={op_type=\"t\" op_name=\"a/b\" source_file=\"f.py\" source_line=3 source_end_line=4 source_column=5 source_end_column=6 profile_type={1,2} deduplicated_name=\"d\" scheduling_name=\"s\" stack_frame_id=7 metadata_payload=\"xy\"}",
               "f32[8,8]{1,0} negate(%p), metadata={op_type=\"t\" op_name=\"a/b\" source_file=\"f.py\" source_line=3 source_end_line=4 source_column=5 source_end_column=6 profile_type={1,2} deduplicated_name=\"d\" scheduling_name=\"s\" stack_frame_id=7 metadata_payload=\"xy\"}"},
  {"BackendConfigObject", "f32[8,8]{1,0} negate(%p), backend_config={\"a\":{\"b\":\"}\"},\"c\":[1]}"},
  {"BackendConfigString", "f32[8,8]{1,0} negate(%p), backend_config=\"\\000\\377 it\\'s {\""},
  {"FrontendAttributes", "f32[8,8]{1,0} negate(%p), frontend_attributes={a=\"x\",b.c={\"k\":1}}"},
  {"AnyOrder", "f32[8,8]{1,0} negate(%p), backend_config={}, metadata={op_name=\"n\"}, frontend_attributes={a=\"b\"}",
               "f32[8,8]{1,0} negate(%p), frontend_attributes={a=\"b\"}, metadata={op_name=\"n\"}, backend_config={}"},
  {"ControlPredecessors", "f32[8,8]{1,0} negate(%p), control-predecessors={%k, %i}"},
  {"Statistics", "f32[8,8]{1,0} negate(%p), statistics={visualizing_index=1,stat-1=33,stat-2=44.5}"},
  {"Origin", "f32[8,8]{1,0} negate(%p), origin={{\"a\" {1,2}}}"},
  {"OriginTuple", "(f32[8,8]{1,0}, (s32[], s32[])) custom-call(), custom_call_target=\"x\", origin={({\"a\"}, ({}, {\"c\" {1}}))}"},
  {"OriginSynthetic", "f32[8,8]{1,0} negate(%p), origin={[synthetic_call]}"},
  {"OriginHierarchy", "f32[8,8]{1,0} negate(%p), origin={{\"a\"},[\"f/g\"]}"},
  {"LayoutTiled", "bf16[8,8]{0,1:T(8,128)(2,1)E(16)S(3)} custom-call(%p), custom_call_target=\"x\""},
  {"LayoutCombined", "f32[8,8]{1,0:T(*,8)L(4)S(1)SC(1:4,6)(0:2)M(7)} copy(%p)"},
  {"LayoutSparse", "f32[8,8]{1,0:D(D,C+~)#(u16)*(u32)P((f32[4]{0}, s32[4]{0}))} copy(%p)"},
  {"ScalarLayout", "s32[]{:T(128)} copy(%i)"},
  {"DynamicShape", "f32[<=8,?]{1,0} custom-call(%p), custom_call_target=\"x\""},
  {"BufferShape", "b(f32[8,8]{1,0}) custom-call(%p), custom_call_target=\"x\""},
  {"OpaqueShape", "opaque[] custom-call(%p), custom_call_target=\"x\""},
  {"LongTuple", "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[]) tuple(%i, %i, %i, %i, %i, /*index=5*/%i)"},
}), [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Shardings, TextInstruction, ::testing::ValuesIn(std::vector<Case>{
  {"Replicated", "f32[8,8]{1,0} copy(%p), sharding={replicated}"},
  {"Manual", "f32[8,8]{1,0} copy(%p), sharding={manual}"},
  {"Unknown", "f32[8,8]{1,0} copy(%p), sharding={unknown}"},
  {"Unreduced", "f32[8,8]{1,0} copy(%p), sharding={unreduced metadata={op_type=\"sdy::reduction_op\" op_name=\"SUM\"}}"},
  {"Maximal", "f32[8,8]{1,0} copy(%p), sharding={maximal device=3}"},
  {"Devices", "f32[8,8]{1,0} copy(%p), sharding={devices=[2,2]0,1,2,3}"},
  {"Iota", "f32[8,8]{1,0} copy(%p), sharding={devices=[2,2]<=[4]}"},
  {"IotaTransposed", "f32[8,8]{1,0} copy(%p), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"},
  {"Escapes", R"(f32[8,8]{1,0} copy(%p), metadata={op_name="\u0041\u00e9\u20ac\U0001F600\x41\101\n"})",
              R"(f32[8,8]{1,0} copy(%p), metadata={op_name="A\303\251\342\202\254\360\237\230\200AA\n"})"},
  {"LastTileDims", "f32[8,8]{1,0} copy(%p), sharding={devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated} metadata={op_name=\"a\"}}"},
  {"MetadataList", "f32[8,8]{1,0} copy(%p), sharding={replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}"},
  {"ShardAs", "f32[8,8]{1,0} copy(%p), sharding={replicated shard_as 3}"},
  {"ShardLike", "f32[8,8]{1,0} copy(%p), sharding={devices=[2,1]0,1 shard_like 4 metadata={op_name=\"a\"}}"},
  {"Tuple", "(f32[8,8]{1,0}, s32[]) tuple(%p, %i), sharding={{devices=[2,1]0,1}, {replicated}}"},
  {"TupleFromOne", "(f32[8,8]{1,0}, (s32[], s32[])) custom-call(%p), custom_call_target=\"x\", sharding={manual}",
                   "(f32[8,8]{1,0}, (s32[], s32[])) custom-call(%p), custom_call_target=\"x\", sharding={{manual}, {manual}, {manual}}"},
  {"EmptyTuple", "() tuple(), sharding={}"},
  {"Named", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], replicated={'y':(2)2}}"},
  {"NamedReplicated", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2], replicated}"},
  {"NamedMaximal", "f32[8,8]{1,0} copy(%p), sharding={maximal_mesh[device_id=5]}"},
  // As releases since the middle of 2026 write it; those before, which read only the other form, are the more.
  {"NamedSingleDevice", "f32[8,8]{1,0} copy(%p), sharding={single_device[device_id=5]}", "f32[8,8]{1,0} copy(%p), sharding={maximal_mesh[device_id=5]}"},
  {"NamedDevices", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2,'y'=2], device_ids=(3,2,1,0), [{'x'}, {'y'}], metadata={op_name=\"q\"}}"},
  {"NamedIota", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}, {}], unreduced={'y'}}"},
  {"NamedManual", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2,'y'=2], manual}"},
  {"NamedOpen", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2,'y'=2], [{'x'}, {?}], manual={'y'}}"},
  {"NamedDoubleQuotes", "f32[8,8]{1,0} copy(%p), sharding={mesh[\"x\"=2], [{\"0\"}, {}]}", "f32[8,8]{1,0} copy(%p), sharding={mesh['x'=2], [{'x'}, {}]}"},
}), [](const auto& tested) { return tested.param.name; });
// clang-format on

}  // namespace
}  // namespace sapper::hlo
