// What the verifier accepts and rejects, opcode by opcode: an instruction over parameters p0, p1, ... of given shapes,
// and a part of the message that is expected, or nothing where the instruction is good.
#include "hlo/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/text.h"

namespace sapper::hlo {
namespace {

struct Case {
  std::vector<std::string> parameters;
  std::string instruction;  // without its name
  std::string error = {};   // part of the message; empty: good
};

// Computations that the cases call.
constexpr std::string_view called = R"(
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }
sum_s32 { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = s32[] add(x, y) }
sum_bf16 { x = bf16[] parameter(0)  y = bf16[] parameter(1)  ROOT r = bf16[] add(x, y) }
greater { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GT }
greater_two { x = f32[] parameter(0)  y = f32[] parameter(1)  k = s32[] parameter(2)  l = s32[] parameter(3)
  ROOT r = pred[] compare(x, y), direction=GT }
negate_one { x = f32[] parameter(0)  ROOT r = f32[] negate(x) }
argmax { x = f32[] parameter(0)  i = s32[] parameter(1)  y = f32[] parameter(2)  j = s32[] parameter(3)
  g = pred[] compare(x, y), direction=GT  v = f32[] select(g, x, y)  k = s32[] select(g, i, j)
  ROOT r = (f32[], s32[]) tuple(v, k) }
row { x = f32[4] parameter(0)  ROOT r = f32[4] negate(x) }
row_of_pred { x = f32[4] parameter(0)  ROOT r = pred[] constant(true) }
running { x = f32[5] parameter(0)  y = f32[5] parameter(1)  s = f32[5] add(x, y)
  ROOT r = (f32[5], f32[5]) tuple(s, s) }
half { x = f32[4] parameter(0)  ROOT r = f32[2] slice(x), slice={[0:2]} }
)";

Result<Module> build(const Case& of) {
  std::string text = "HloModule m\n";
  text += called;
  text += "ENTRY e {\n";
  for (size_t i = 0; i < of.parameters.size(); ++i)
    text += fmt::format("  p{} = {} parameter({})\n", i, of.parameters[i], i);
  text += fmt::format("  ROOT r = {}\n}}\n", of.instruction);
  return parse_text(text);
}

class VerifierTable : public testing::TestWithParam<Case> {};

TEST_P(VerifierTable, Answers) {
  const Case& of = GetParam();
  const Result<Module> module = build(of);
  ASSERT_TRUE(module) << module.error().describe();
  const Status status = verify(*module);
  if (of.error.empty()) {
    EXPECT_TRUE(status) << status.error().describe();
    return;
  }
  ASSERT_FALSE(status) << "expected: " << of.error;
  EXPECT_EQ(status.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(status.error().message, testing::HasSubstr(of.error));
  EXPECT_EQ(status.error().where.instruction, "r");
  EXPECT_GT(status.error().where.line, 0);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.error.empty() ? "Good" : "Bad";
  for (const char c : info.param.instruction.substr(0, info.param.instruction.find('(', 1)))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return fmt::format("{}_{}", name, info.index);
}

#define CASES(name, ...) \
  INSTANTIATE_TEST_SUITE_P(name, VerifierTable, testing::ValuesIn(std::vector<Case>{__VA_ARGS__}), name_of)

CASES(Elementwise,  //
      Case{{"f32[2,3]", "f32[2,3]"}, "f32[2,3] add(p0, p1)"},
      Case{{"f32[2,3]", "f32[3,2]"}, "f32[2,3] add(p0, p1)", "add: operand shapes f32[2,3] and f32[3,2] differ"},
      Case{{"f32[2,3]", "f32[2,3]"},
           "f32[3,2] add(p0, p1)",
           "add: stated shape f32[3,2] but add of f32[2,3], f32[2,3] gives f32[2,3]"},
      Case{{"f32[2]", "f64[2]"}, "f32[2] add(p0, p1)", "element types f32 and f64, expected the same"},
      Case{{"f32[2]", "s32[2]"}, "f32[2] multiply(p0, p1)", "element types f32 and s32, expected the same"},
      Case{{"f32[2]", "bf16[2]"}, "f32[2] add(p0, p1)"},  // late stages mix precisions
      Case{{"f32[2]", "f32[2]"}, "bf16[2] add(p0, p1)"},
      Case{{"f32[]", "f32[2]"}, "f32[2] add(p0, p1)", "operand shapes f32[] and f32[2] differ"},
      Case{{"pred[2]", "pred[2]"}, "pred[2] add(p0, p1)"},
      Case{{"pred[2]", "pred[2]"}, "pred[2] subtract(p0, p1)", "operand 0 has element type pred"},
      Case{{"f32[2]", "f32[2]"}, "f32[2] and(p0, p1)", "operand 0 has element type f32"},
      Case{{"f32[2]", "f32[2]"}, "f32[2] shift-left(p0, p1)", "expected one of: signed integer, unsigned integer"},
      Case{{"s32[2]"}, "s32[2] exponential(p0)", "expected one of: floating-point, complex"},
      Case{{"c64[2]"}, "c64[2] floor(p0)", "operand 0 has element type c64"}, Case{{"c64[2]"}, "f32[2] abs(p0)"},
      Case{{"c64[2]"}, "c64[2] abs(p0)", "gives f32[2]"},
      Case{{"u32[2]"}, "u32[2] abs(p0)", "operand 0 has element type u32"}, Case{{"c128[2]"}, "f64[2] real(p0)"},
      Case{{"f32[2]"}, "f32[2] imag(p0)"}, Case{{"f32[2]"}, "pred[2] is-finite(p0)"},
      Case{{"f32[2]"}, "f32[2] is-finite(p0)", "gives pred[2]"}, Case{{"f32[2]", "f32[2]"}, "c64[2] complex(p0, p1)"},
      Case{{"bf16[2]", "bf16[2]"}, "c64[2] complex(p0, p1)", "expected both f32 or both f64"},
      Case{{"f32[2]", "f32[2]"}, "pred[2] compare(p0, p1), direction=LT"},
      Case{{"f32[2]", "f32[2]"}, "pred[2] compare(p0, p1), direction=LT, type=TOTALORDER"},
      Case{{"f32[2]", "f32[2]"},
           "pred[2] compare(p0, p1), direction=LT, type=SIGNED",
           "comparison type 'SIGNED' does not fit operands of f32"},
      Case{{"pred[2]", "f32[2]", "f32[2]"}, "f32[2] select(p0, p1, p2)"},
      Case{{"pred[]", "f32[2]", "f32[2]"}, "f32[2] select(p0, p1, p2)"},
      Case{{"pred[3]", "f32[2]", "f32[2]"}, "f32[2] select(p0, p1, p2)", "operand shapes f32[2] and pred[3] differ"},
      Case{{"s32[2]", "f32[2]", "f32[2]"}, "f32[2] select(p0, p1, p2)", "operand 0 is s32[2], expected pred"},
      Case{{"f32[]", "f32[2]", "f32[]"}, "f32[2] clamp(p0, p1, p2)"},
      Case{{"f32[3]", "f32[2]", "f32[]"}, "f32[2] clamp(p0, p1, p2)", "differ"},
      Case{{"f32[2]"}, "f32[2] reduce-precision(p0), exponent_bits=5, mantissa_bits=10"},
      Case{{"f32[2]"}, "f32[2] reduce-precision(p0), exponent_bits=0, mantissa_bits=10", "exponent_bits is 0"});

CASES(Conversions,  //
      Case{{"f32[2]"}, "s8[2] convert(p0)"}, Case{{"f32[2]"}, "s8[3] convert(p0)", "gives s8[2]"},
      Case{{"f32[2]"}, "u32[2] bitcast-convert(p0)"}, Case{{"f32[2]"}, "u8[2,4] bitcast-convert(p0)"},
      Case{{"u8[2,4]"}, "f32[2] bitcast-convert(p0)"},
      Case{{"u8[2,3]"}, "f32[2] bitcast-convert(p0)", "must have a last dimension of 4"},
      Case{{"c64[2]"}, "f64[2] bitcast-convert(p0)", "only one is complex"},
      Case{{"f32[2]", "u32[2]"}, "bf16[2] stochastic-convert(p0, p1)"},
      Case{{"f32[2]", "u16[2]"}, "bf16[2] stochastic-convert(p0, p1)", "expected unsigned integers of 32 bits"});

CASES(DataMovement,  //
      Case{{"f32[3]"}, "f32[2,3] broadcast(p0), dimensions={1}"},
      Case{{"f32[]"}, "f32[2,3] broadcast(p0), dimensions={}"},
      Case{{"f32[3]"}, "f32[2,3] broadcast(p0), dimensions={0}", "sizes differ"},
      Case{{"f32[1]"}, "f32[2,3] broadcast(p0), dimensions={0}", "sizes differ"},
      Case{{"f32[3]"}, "f32[2,3] broadcast(p0), dimensions={2}", "dimension 2, expected one in [0, 2)"},
      Case{{"f32[3]"}, "f32[2,3] broadcast(p0), dimensions={}", "0 dimensions given"},
      Case{{"f32[3,3]"}, "f32[3,3] broadcast(p0), dimensions={1,1}", "dimension 1 twice"},
      Case{{"f32[3]"}, "s32[2,3] broadcast(p0), dimensions={1}", "expected an array of f32"},
      Case{{"f32[2,3]"}, "f32[6] reshape(p0)"}, Case{{"f32[2,3]"}, "f32[5] reshape(p0)", "has 5 elements but operand"},
      Case{{"f32[2,3]"}, "f32[3,2] transpose(p0), dimensions={1,0}"},
      Case{{"f32[2,3]"}, "f32[2,3] transpose(p0), dimensions={1,0}", "gives f32[3,2]"},
      Case{{"f32[2,3]"}, "f32[3,2] transpose(p0), dimensions={1,1}", "dimension 1 twice"},
      Case{{"f32[2,3]"}, "f32[2,3] reverse(p0), dimensions={0,1}"},
      Case{{"f32[2,3]"}, "f32[2,3] reverse(p0), dimensions={2}", "dimension 2, expected one in [0, 2)"},
      Case{{"f32[2,3]", "f32[2,5]"}, "f32[2,8] concatenate(p0, p1), dimensions={1}"},
      Case{{"f32[2,3]", "f32[2,5]"},
           "f32[4,3] concatenate(p0, p1), dimensions={0}",
           "f32[2,3] and f32[2,5] differ in more than dimension 0"},
      Case{{"f32[2,3]"}, "f32[2,3] concatenate(p0), dimensions={2}", "dimension 2 is out of range"},
      Case{{"f32[4]", "f32[]"}, "f32[10] pad(p0, p1), padding=1_2_1"},
      Case{{"f32[4]", "f32[]"}, "f32[2] pad(p0, p1), padding=-1_-1"},
      Case{{"f32[4]", "f32[]"}, "f32[0] pad(p0, p1), padding=-3_-3", "makes the size of dimension 0 negative"},
      Case{{"f32[4]", "f32[]"}, "f32[4] pad(p0, p1), padding=0_0x0_0", "padding of 2 dimensions"},
      Case{{"f32[4]", "f32[1]"}, "f32[6] pad(p0, p1), padding=1_1", "operand 1 is f32[1], expected a scalar"},
      Case{{"f32[2,3]"}, "s32[6] bitcast(p0)"}, Case{{"f32[2,3]"}, "f32[4] bitcast(p0)", "have different sizes"},
      Case{{"f32[3,5]{1,0:T(8,128)}"}, "f32[3,4]{1,0:T(8,128)} bitcast(p0)"},  // both padded to one tile
      Case{{}, "s32[2,3] iota(), iota_dimension=1"},
      Case{{}, "s32[2,3] iota(), iota_dimension=2", "iota_dimension 2 is out of range"},
      Case{{}, "pred[2] iota(), iota_dimension=0", "expected an array of numbers"});

CASES(Dynamic,  //
      Case{{"f32[<=4]", "f32[<=4]"}, "f32[<=4] add(p0, p1)"}, Case{{"f32[<=4]", "f32[4]"}, "f32[<=4] add(p0, p1)"},
      Case{{"f32[<=4]", "f32[<=5]"}, "f32[<=4] add(p0, p1)", "differ"},
      Case{{"f32[4]", "s32[]"}, "f32[<=4] set-dimension-size(p0, p1), dimensions={0}"},
      Case{{"f32[4]", "f32[]"}, "f32[<=4] set-dimension-size(p0, p1), dimensions={0}", "expected s32[]"},
      Case{{"f32[4]"}, "s32[] get-dimension-size(p0), dimensions={0}"},
      Case{{"f32[4]"}, "s32[] get-dimension-size(p0), dimensions={1}", "dimension 1 is out of range"},
      Case{{"f32[6]", "s32[]", "s32[]"}, "f32[<=2,<=3] dynamic-reshape(p0, p1, p2)"},
      Case{{"f32[6]", "s32[]"}, "f32[<=2,<=3] dynamic-reshape(p0, p1)", "2 operands, expected the array and a size"},
      Case{{"f32[?,3]"}, "f32[?,3] negate(p0)"});

CASES(Slicing,  //
      Case{{"f32[10]"}, "f32[3] slice(p0), slice={[1:9:3]}"}, Case{{"f32[10]"}, "f32[0] slice(p0), slice={[10:10]}"},
      Case{{"f32[10]"}, "f32[2] slice(p0), slice={[1:9:3]}", "gives f32[3]"},
      Case{{"f32[10]"}, "f32[11] slice(p0), slice={[0:11]}", "[0:11] of dimension 0 is out of range for f32[10]"},
      Case{{"f32[10]"}, "f32[1] slice(p0), slice={[5:4]}", "[5:4] of dimension 0 is out of range"},
      Case{{"f32[10]"}, "f32[1] slice(p0), slice={[0:1],[0:1]}", "slice of 2 dimensions"},
      Case{{"f32[4,5]", "s32[]", "s32[]"}, "f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}"},
      Case{{"f32[4,5]", "s32[2]"}, "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}"},
      Case{{"f32[4,5]", "s32[]"},
           "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}",
           "1 start indices, expected 2"},
      Case{{"f32[4,5]", "f32[]", "f32[]"},
           "f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}",
           "start index operand 1 is f32[], expected integers"},
      Case{{"f32[4,5]", "s32[]", "s32[]"},
           "f32[2,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,6}",
           "slice size 6 of dimension 1 is out of range"},
      Case{{"f32[4]", "f32[2]", "s32[]"}, "f32[4] dynamic-update-slice(p0, p1, p2)"},
      Case{{"f32[4]", "f32[5]", "s32[]"}, "f32[4] dynamic-update-slice(p0, p1, p2)", "update f32[5] does not fit into"},
      Case{{"f32[4]", "f32[2]", "s32[]"}, "f32[2] dynamic-update-slice(p0, p1, p2)", "gives f32[4]"});

CASES(GatherScatter,  //
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={1,3}"},
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={1,4}",
           "slice size 4 of dimension 1 is out of range"},
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={2,3}",
           "slice size 2 of collapsed or batching dimension 0"},
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
           "index_vector_dim=1, slice_sizes={1,3}",
           "start_index_map has 2 dimensions but index vectors of s32[5] have 1 components"},
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={1,3}",
           "offset_dims has dimension 2, expected one in [0, 2)"},
      Case{{"f32[10,3]", "s32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=2, slice_sizes={1,3}",
           "index_vector_dim 2 is out of range"},
      Case{{"f32[10,3]", "f32[5]"},
           "f32[5,3] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
           "index_vector_dim=1, slice_sizes={1,3}",
           "indices are f32[5], expected integers"},
      Case{{"f32[7,10,3]", "s32[7,5]"},
           "f32[7,5,3] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
           "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,3}"},
      Case{{"f32[7,10,3]", "s32[6,5]"},
           "f32[6,5,3] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
           "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,3}",
           "batching dimensions 0 of f32[7,10,3] and 0 of s32[6,5] differ in size"},
      Case{{"f32[10,3]", "s32[5]", "f32[5,3]"},
           "f32[10,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum"},
      Case{{"f32[10,3]", "s32[5]", "f32[5,4]"},
           "f32[10,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
           "window dimension 1 of updates f32[5,4] is larger"},
      Case{{"f32[10,3]", "s32[5]", "f32[6,3]"},
           "f32[10,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum",
           "dimension 0 of updates f32[6,3] and dimension 0 of indices s32[5] differ"},
      Case{{"f32[10,3]", "s32[5]", "f32[5,3]"},
           "f32[10,3] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum_s32",
           "accumulates in s32[]"});

CASES(LinearAlgebra,  //
      Case{{"f32[2,3]", "f32[3,4]"}, "f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      Case{{"bf16[2,3]", "bf16[3,4]"}, "f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      Case{{"s8[2,3]", "s8[3,4]"}, "s32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      Case{{"s32[2,3]", "s32[3,4]"},
           "s8[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
           "products of s32 cannot be accumulated in s8"},
      Case{{"f32[2,3]", "s32[3,4]"}, "f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      Case{{"f32[2,3]", "f32[3,4]"},
           "f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
           "contracting dimensions 1 of f32[2,3] and 1 of f32[3,4] differ in size"},
      Case{{"f32[2,3]", "f32[3,4]"},
           "f32[4,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
           "gives f32[2,4]"},
      Case{{"f32[2,3]", "f32[3,4]"},
           "f32[2,4] dot(p0, p1), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
           "dimension 2, expected one in [0, 2)"},
      Case{{"f32[5,2,3]", "f32[5,3,4]"},
           "f32[5,2,4] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}"},
      Case{{"f32[5,2,3]", "f32[6,3,4]"},
           "f32[5,2,4] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
           "rhs_contracting_dims={1}",
           "batch dimensions 0 of f32[5,2,3] and 0 of f32[6,3,4] differ"},
      Case{{"f32[1,8,8,3]", "f32[3,3,3,4]"},
           "f32[1,6,6,4] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f"},
      Case{{"f32[1,8,8,3]", "f32[3,3,3,4]"},
           "f32[1,4,4,4] convolution(p0, p1), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
      Case{{"f32[1,8,8,3]", "f32[3,3,3,4]"},
           "f32[1,8,8,4] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f",
           "gives f32[1,6,6,4]"},
      Case{{"f32[1,8,8,3]", "f32[3,3,2,4]"},
           "f32[1,6,6,4] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f",
           "3 input features of f32[1,8,8,3] in 1 groups, but kernel f32[3,3,2,4] takes 2"},
      Case{{"f32[1,8,8,4]", "f32[3,3,2,4]"},
           "f32[1,6,6,4] convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2"},
      Case{{"f32[1,8,8,3]", "f32[3,3,3,4]"},
           "f32[1,7,7,4] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f",
           "window size 2 of spatial dimension 0 differs from the kernel's"},
      Case{{"c64[4,8]"}, "c64[4,8] fft(p0), fft_type=FFT, fft_length={8}"},
      Case{{"f32[4,8]"}, "c64[4,5] fft(p0), fft_type=RFFT, fft_length={8}"},
      Case{{"c64[4,5]"}, "f32[4,8] fft(p0), fft_type=IRFFT, fft_length={8}"},
      Case{{"f32[4,8]"}, "c64[4,5] fft(p0), fft_type=RFFT, fft_length={7}", "must be 7 for FFT length 7"},
      Case{{"f32[4,8]"}, "c64[4,8] fft(p0), fft_type=FFT, fft_length={8}", "expected complex"},
      Case{{"f32[5,3,3]"}, "f32[5,3,3] cholesky(p0), lower=true"},
      Case{{"f32[3,4]"}, "f32[3,4] cholesky(p0), lower=true", "expected square matrices"},
      Case{{"f32[3,3]", "f32[3,2]"},
           "f32[3,2] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"},
      Case{{"f32[3,3]", "f32[2,3]"},
           "f32[2,3] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
           "do not fit"});

CASES(Applied,  //
      Case{{"f32[4,5]", "f32[]"}, "f32[4] reduce(p0, p1), dimensions={1}, to_apply=sum"},
      Case{{"f32[4,5]", "f32[]"},
           "f32[5] reduce(p0, p1), dimensions={1}, to_apply=sum",
           "reduce: stated shape f32[5] but reduce of f32[4,5], f32[] gives f32[4]"},
      Case{{"f32[4,5]", "f32[]"}, "f32[4] reduce(p0, p1), dimensions={2}, to_apply=sum", "dimension 2"},
      Case{{"f32[4,5]", "f32[]"}, "f32[] reduce(p0, p1), dimensions={0,0}, to_apply=sum", "dimension 0 twice"},
      Case{{"f32[4,5]", "f32[]"},
           "f32[4] reduce(p0, p1), dimensions={1}, to_apply=sum_s32",
           "operand 0 is f32[4,5] but computation 'sum_s32' accumulates in s32[]"},
      Case{{"f32[4,5]", "f32[]"},
           "f32[4] reduce(p0, p1), dimensions={1}, to_apply=negate_one",
           "computation 'negate_one' has 1 parameters, expected 2"},
      Case{{"f32[4,5]", "f32[2]"}, "f32[4] reduce(p0, p1), dimensions={1}, to_apply=sum", "expected a scalar"},
      Case{{"f32[4,5]", "s32[4,5]", "f32[]", "s32[]"},
           "(f32[4], s32[4]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=argmax"},
      Case{{"f32[4,5]", "s32[4,6]", "f32[]", "s32[]"},
           "(f32[4], s32[4]) reduce(p0, p1, p2, p3), dimensions={1}, to_apply=argmax",
           "differ"},
      Case{{"f32[10]", "f32[]"}, "f32[4] reduce-window(p0, p1), window={size=4 stride=2}, to_apply=sum"},
      Case{
          {"f32[10]", "f32[]"}, "f32[5] reduce-window(p0, p1), window={size=4 stride=2}, to_apply=sum", "gives f32[4]"},
      Case{{"f32[10]", "f32[]"},
           "f32[9] reduce-window(p0, p1), window={size=2x2}, to_apply=sum",
           "window of 2 dimensions"},
      Case{{"f32[10]", "f32[5]", "f32[]"},
           "f32[10] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=greater, scatter=sum"},
      Case{{"f32[10]", "f32[4]", "f32[]"},
           "f32[10] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=greater, scatter=sum",
           "source f32[4] does not match the windows"},
      Case{{"f32[10]", "f32[5]", "f32[]"},
           "f32[10] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=sum, scatter=sum",
           "computation 'sum' returns f32[], expected pred[]"},
      Case{{"f32[4]"}, "f32[4] map(p0), dimensions={0}, to_apply=negate_one"},
      Case{{"f32[4]"}, "f32[4] map(p0), dimensions={0}, to_apply=sum", "has 2 parameters, expected 1"},
      Case{{"f32[4,5]"}, "f32[4,5] sort(p0), dimensions={1}, to_apply=greater"},
      Case{{"f32[4,5]", "s32[4,5]"},
           "(f32[4,5], s32[4,5]) sort(p0, p1), dimensions={1}, is_stable=true, to_apply=greater_two"},
      Case{{"f32[4,5]", "f32[4,5]"},
           "(f32[4,5], f32[4,5]) sort(p0, p1), dimensions={1}, to_apply=greater_two",
           "parameter 2 of 'greater_two' is s32[], expected f32[]"},
      Case{{"f32[4,5]"}, "f32[4,5] sort(p0), dimensions={2}, to_apply=greater", "dimension 2 is out of range"},
      Case{{"f32[4,5]"}, "f32[4,5] sort(p0), dimensions={1}, to_apply=sum", "expected pred[]"},
      Case{{"f32[4,5]", "f32[5]"}, "(f32[4,5], f32[5]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=running"},
      Case{{"f32[4,5]", "f32[5]"},
           "(f32[5,4], f32[5]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=running",
           "gives (f32[4,5], f32[5])"},
      Case{{"f32[4,5]", "f32[4]"},
           "(f32[4,5], f32[5]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=running",
           "carry 0 starts as f32[4]"},
      Case{{"f32[4,5]", "f32[5]"},
           "(f32[4,5], f32[5]) scan(p0, p1), dimensions={1}, num_carries=1, to_apply=running",
           "parameter 0 of 'running' is f32[5], expected f32[4,5] without dimension 1"},
      Case{{"f32[4,5]"}, "(f32[4,2], s32[4,2]) topk(p0), k=2, largest=true"},
      Case{{"f32[4,5]"}, "(f32[4,6], s32[4,6]) topk(p0), k=6, largest=true", "k is 6, expected at most"});

CASES(ControlFlow,  //
      Case{{"f32[4]"}, "f32[4] call(p0), to_apply=row"},
      Case{{"f32[5]"}, "f32[4] call(p0), to_apply=row", "parameter 0 of 'row' is f32[4] but the operand is f32[5]"},
      Case{{"f32[4]", "f32[4]"}, "f32[4] call(p0, p1), to_apply=row", "has 1 parameters, expected 2"},
      Case{{"f32[4]"}, "f32[5] call(p0), to_apply=row", "gives f32[4]"},
      Case{{"f32[4]"}, "f32[4] fusion(p0), kind=kLoop, calls=row"},
      Case{{"f32[4]"}, "bf16[4] fusion(p0), kind=kLoop, calls=row", "gives f32[4]"},
      Case{{"f32[4]"}, "f32[4] while(p0), condition=row_of_pred, body=row"},
      Case{{"f32[4]"}, "f32[4] while(p0), condition=row, body=row", "condition 'row' returns f32[4], expected pred[]"},
      Case{{"f32[4]"},
           "f32[2] while(p0), condition=row_of_pred, body=half",
           "body 'half' returns f32[2] but its parameter is f32[4]"},
      Case{{"pred[]", "f32[4]", "f32[4]"},
           "f32[4] conditional(p0, p1, p2), true_computation=row, false_computation=row"},
      Case{{"s32[]", "f32[4]", "f32[4]", "f32[4]"},
           "f32[4] conditional(p0, p1, p2, p3), branch_computations={row, row, row}"},
      Case{{"f32[]", "f32[4]", "f32[4]"},
           "f32[4] conditional(p0, p1, p2), true_computation=row, false_computation=row",
           "operand 0 is f32[], expected pred[] or s32[]"},
      Case{{"pred[]", "f32[4]", "f32[4]"},
           "f32[4] conditional(p0, p1, p2), true_computation=row, false_computation=half",
           "branches 'row' and 'half' return f32[4] and f32[2]"},
      Case{{"s32[]", "f32[4]"},
           "f32[4] conditional(p0, p1), branch_computations={row, row}",
           "2 operands, expected the selector and one for each of 2 branches"},
      Case{{"f32[4]"}, "(f32[9], token[]) custom-call(p0), custom_call_target=\"anything\""},
      Case{{"f32[4]", "s32[]"}, "(f32[4], s32[]) tuple(p0, p1)"},
      Case{{"f32[4]", "s32[]"}, "(f32[4], f32[]) tuple(p0, p1)", "gives (f32[4], s32[])"},
      Case{{"(f32[4], s32[])"}, "s32[] get-tuple-element(p0), index=1"},
      Case{{"(f32[4], s32[])"}, "s32[] get-tuple-element(p0), index=2", "index 2 is out of range for a tuple of 2"},
      Case{{"f32[4]"}, "f32[4] get-tuple-element(p0), index=0", "expected a tuple"},
      Case{{}, "f32[2] constant({1, 2})"}, Case{{"(f32[4], s32[])"}, "(f32[4], s32[]) opt-barrier(p0)"},
      Case{{"f32[4]"}, "bf16[4] opt-barrier(p0)", "gives f32[4]"}, Case{{"f32[4]"}, "f32[4] copy(p0)"},
      Case{{"token[]", "token[]"}, "token[] after-all(p0, p1)"},
      Case{{"f32[4]"}, "token[] after-all(p0)", "operand 0 is f32[4], expected a token"},
      Case{{"f32[4]", "token[]"}, "f32[4] add-dependency(p0, p1)"});

CASES(Asynchronous,  //
      Case{{"f32[4]"}, "(f32[4], f32[4], u32[]) copy-start(p0)"},
      Case{{"f32[4]"}, "(f32[5], f32[4], u32[]) copy-start(p0)", "gives (f32[4], f32[4], u32[])"},
      Case{{"(f32[4], f32[4], u32[])"}, "f32[4] copy-done(p0)", "operand is a parameter, expected copy-start"},
      Case{{"((f32[4]), f32[4], s32[])"}, "f32[4] async-done(p0)"},
      Case{{"((f32[4]), f32[4], s32[])"}, "f32[5] async-done(p0)", "gives f32[4]"},
      Case{{"(f32[4], f32[4], s32[])"}, "f32[4] async-done(p0)", "expected ((operands), result, ...)"},
      Case{{"((f32[4]), f32[4], s32[])", "s32[]"}, "((f32[4], s32[]), f32[4], s32[]) async-update(p0, p1)"},
      Case{{"((f32[4]), f32[4], s32[])", "s32[]"},
           "((f32[4], f32[]), f32[4], s32[]) async-update(p0, p1)",
           "is not ((f32[4]), f32[4], s32[]) with 1 further operands"},
      Case{{"f32[4]"}, "((f32[4]), f32[4], s32[]) async-start(p0), calls=row"},
      Case{{"f32[4]"},
           "((f32[4]), f32[2], s32[]) async-start(p0), calls=row",
           "stated result f32[2] but computation 'row' returns f32[4]"},
      Case{{}, "((), (), s32[]) async-start(), calls=row"},
      Case{{"((), (), s32[])", "f32[4]"}, "((f32[4]), f32[4], s32[]) async-update(p0, p1)"},
      Case{{"token[]"}, "((f32[4], s32[]), token[]) infeed(p0)"},
      Case{{"token[]"}, "f32[4] infeed(p0)", "expected (data, token[])"},
      Case{{"f32[4]", "token[]"}, "token[] outfeed(p0, p1), outfeed_shape=f32[4]"},
      Case{{"f32[4]", "token[]"}, "(f32[4], u32[], token[]) send(p0, p1), channel_id=1"},
      Case{{"token[]"}, "(f32[4], u32[], token[]) recv(p0), channel_id=1"});

CASES(Collectives,  //
      Case{{"f32[4]"}, "f32[4] all-reduce(p0), replica_groups={}, to_apply=sum"},
      Case{{"f32[4]", "f32[5]"}, "(f32[4], f32[5]) all-reduce(p0, p1), replica_groups={}, to_apply=sum"},
      Case{{"f32[4]"}, "f32[5] all-reduce(p0), replica_groups={}, to_apply=sum", "gives f32[4]"},
      Case{{"f32[4,3]"}, "f32[8,3] all-gather(p0), replica_groups={}, dimensions={0}"},
      Case{{"f32[4,3]"},
           "f32[9,3] all-gather(p0), replica_groups={}, dimensions={0}",
           "is not f32[4,3] with dimension 0 multiplied"},
      Case{{"f32[4,3]"}, "f32[2,3] reduce-scatter(p0), replica_groups={}, dimensions={0}, to_apply=sum"},
      Case{{"f32[4,3]"},
           "f32[3,3] reduce-scatter(p0), replica_groups={}, dimensions={0}, to_apply=sum",
           "is not f32[4,3] with dimension 0 divided"},
      Case{{"f32[4,3]"}, "f32[4,3] collective-permute(p0), source_target_pairs={{0,0}}"},
      Case{{"f32[4]", "f32[4]"}, "(f32[4], f32[4]) all-to-all(p0, p1), replica_groups={{0,1}}"},
      Case{{}, "u32[] replica-id()"}, Case{{}, "s32[] partition-id()", "gives u32[]"});

CASES(Statistics,  //
      Case{{"f32[2,3]", "f32[3]", "f32[3]"},
           "(f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), epsilon=0.001, feature_index=1"},
      Case{{"f32[2,3]", "f32[2]", "f32[3]"},
           "(f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), epsilon=0.001, feature_index=1",
           "operand 1 is f32[2], expected f32[3]"},
      Case{{"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"},
           "f32[2,3] batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.001, feature_index=2",
           "feature_index 2 is out of range"},
      Case{{"u64[2]"}, "(u64[2], u32[7]) rng-bit-generator(p0), algorithm=rng_three_fry"},
      Case{{"u64[2]"}, "(u64[3], u32[7]) rng-bit-generator(p0), algorithm=rng_three_fry", "expected (u64[2], array)"},
      Case{{"f32[]", "f32[]"}, "f32[5] rng(p0, p1), distribution=rng_uniform"},
      Case{{"s32[]", "s32[]"}, "s32[5] rng(p0, p1), distribution=rng_normal", "normal numbers cannot be s32[5]"});

}  // namespace
}  // namespace sapper::hlo
