// Operations that move elements.
#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

class Movement : public testing::TestWithParam<HloCase> {};
TEST_P(Movement, PutsElementsWhereTheyBelong) { check(GetParam()); }

const HloCase cases[] = {
    {"broadcast_scalar", "a = s32[] constant(7)\n ROOT r = s32[2,2] broadcast(a), dimensions={}",
     "s32[2,2] {{7, 7}, {7, 7}}", ""},
    {"broadcast_rows", "a = s32[2] constant({1, 2})\n ROOT r = s32[2,3] broadcast(a), dimensions={0}",
     "s32[2,3] {{1, 1, 1}, {2, 2, 2}}", ""},
    {"broadcast_columns_of_bf16", "a = bf16[3] constant({1, 2, 3})\n ROOT r = bf16[2,3] broadcast(a), dimensions={1}",
     "bf16[2,3] {{1, 2, 3}, {1, 2, 3}}", ""},
    {"iota", "ROOT r = s32[2,3] iota(), iota_dimension=1", "s32[2,3] {{0, 1, 2}, {0, 1, 2}}", ""},
    {"iota_wraps", "i = u4[18] iota(), iota_dimension=0\n ROOT r = u4[2] slice(i), slice={[15:17]}", "u4[2] {15, 0}",
     ""},
    {"iota_complex", "ROOT r = c64[2] iota(), iota_dimension=0", "c64[2] {(0, 0), (1, 0)}", ""},
    {"iota_broadcast_added",
     "i = f32[3] iota(), iota_dimension=0\n b = f32[2,3] broadcast(i), dimensions={1}\n ROOT r = f32[2,3] add(b, b)",
     "f32[2,3] {{0, 2, 4}, {0, 2, 4}}", ""},
    {"reshape", "a = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n ROOT r = s32[3,2] reshape(a)",
     "s32[3,2] {{1, 2}, {3, 4}, {5, 6}}", ""},
    {"transpose", "a = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n ROOT r = s32[3,2] transpose(a), dimensions={1,0}",
     "s32[3,2] {{1, 4}, {2, 5}, {3, 6}}", ""},
    {"transpose_of_reshape_added",
     "a = s32[6] constant({1, 2, 3, 4, 5, 6})\n m = s32[2,3] reshape(a)\n t = s32[3,2] transpose(m), dimensions={1,0}\n"
     "ROOT r = s32[3,2] add(t, t)",
     "s32[3,2] {{2, 8}, {4, 10}, {6, 12}}", ""},
    {"slice_strided", "a = s8[7] constant({0, 1, 2, 3, 4, 5, 6})\n ROOT r = s8[3] slice(a), slice={[1:7:2]}",
     "s8[3] {1, 3, 5}", ""},
    {"slice_of_reverse_added",
     "a = s32[5] constant({0, 1, 2, 3, 4})\n v = s32[5] reverse(a), dimensions={0}\n s = s32[2] slice(v), "
     "slice={[1:5:3]}\n"
     "ROOT r = s32[2] add(s, s)",
     "s32[2] {6, 0}", ""},
    {"reverse_two", "a = s32[2,2] constant({{1, 2}, {3, 4}})\n ROOT r = s32[2,2] reverse(a), dimensions={0,1}",
     "s32[2,2] {{4, 3}, {2, 1}}", ""},
    {"dynamic_slice",
     "a = s32[4] constant({1, 2, 3, 4})\n i = s32[] constant(1)\n ROOT r = s32[2] dynamic-slice(a, i), "
     "dynamic_slice_sizes={2}",
     "s32[2] {2, 3}", ""},
    {"dynamic_slice_clamps_low",
     "a = s32[4] constant({1, 2, 3, 4})\n i = s8[] constant(-100)\n ROOT r = s32[2] dynamic-slice(a, i), "
     "dynamic_slice_sizes={2}",
     "s32[2] {1, 2}", ""},
    {"dynamic_slice_u8_is_unsigned",
     "a = s32[300] iota(), iota_dimension=0\n i = u8[] constant(200)\n ROOT r = s32[1] dynamic-slice(a, i), "
     "dynamic_slice_sizes={1}",
     "s32[1] {200}", ""},
    {"dynamic_slice_u64_clamps_high",
     "a = s32[4] constant({1, 2, 3, 4})\n i = u64[] constant(18446744073709551615)\n"
     "ROOT r = s32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}",
     "s32[2] {3, 4}", ""},
    {"dynamic_update_slice",
     "a = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n u = s32[1,2] constant({{8, 9}})\n i = s32[] constant(1)\n j = "
     "s32[] constant(9)\n"
     "ROOT r = s32[2,3] dynamic-update-slice(a, u, i, j)",
     "s32[2,3] {{1, 2, 3}, {4, 8, 9}}", ""},
    {"dynamic_update_slice_leaves_other_users_alone",
     "a = s32[3] iota(), iota_dimension=0\n b = s32[3] add(a, a)\n u = s32[1] constant({9})\n i = s32[] constant(0)\n"
     "d = s32[3] dynamic-update-slice(b, u, i)\n ROOT r = s32[3] add(b, d)",
     "s32[3] {9, 4, 8}", ""},
    {"pad_negative_and_interior",
     "a = s32[4] constant({1, 2, 3, 4})\n z = s32[] constant(0)\n ROOT r = s32[6] pad(a, z), padding=-1_0_1",
     "s32[6] {0, 2, 0, 3, 0, 4}", ""},
    {"pad_both_ends", "a = f32[2] constant({1, 2})\n z = f32[] constant(-inf)\n ROOT r = f32[5] pad(a, z), padding=1_2",
     "f32[5] {-inf, 1, 2, -inf, -inf}", ""},
    {"pad_everything_away",
     "a = f32[2] constant({1, 2})\n z = f32[] constant(5)\n ROOT r = f32[3] pad(a, z), padding=-2_3",
     "f32[3] {5, 5, 5}", ""},
    {"pad_single_element_with_interior",
     "a = f32[1] constant({1})\n z = f32[] constant(5)\n ROOT r = f32[2] pad(a, z), padding=1_0_1000000",
     "f32[2] {5, 1}", ""},
    {"concatenate",
     "a = s32[2,1] constant({{1}, {2}})\n b = s32[2,2] constant({{3, 4}, {5, 6}})\n ROOT r = s32[2,3] concatenate(a, "
     "b), dimensions={1}",
     "s32[2,3] {{1, 3, 4}, {2, 5, 6}}", ""},
    {"concatenate_twice_the_same", "a = s32[2] constant({1, 2})\n ROOT r = s32[4] concatenate(a, a), dimensions={0}",
     "s32[4] {1, 2, 1, 2}", ""},
    {"bitcast_as_reshape", "a = f32[2,3]{1,0} constant({{1, 2, 3}, {4, 5, 6}})\n ROOT r = f32[3,2]{1,0} bitcast(a)",
     "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}", ""},
    {"bitcast_as_transpose", "a = f32[2,3]{1,0} constant({{1, 2, 3}, {4, 5, 6}})\n ROOT r = f32[3,2]{0,1} bitcast(a)",
     "f32[3,2] {{1, 4}, {2, 5}, {3, 6}}", ""},
    {"bitcast_from_column_major", "a = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})\n ROOT r = f32[6]{0} bitcast(a)",
     "f32[6] {1, 4, 2, 5, 3, 6}", ""},
    {"bitcast_between_equal_tiles",
     "a = f32[1,3]{1,0:T(2,2)} constant({{1, 2, 3}})\n ROOT r = f32[1,1,3]{2,1,0:T(2,2)} bitcast(a)",
     "f32[1,1,3] {{{1, 2, 3}}}", ""},
    {"bitcast_out_of_tiles",
     "a = s32[4,4]{1,0:T(2,2)} constant({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}})\n"
     "ROOT r = s32[16]{0} bitcast(a)",
     "s32[16] {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}", ""},
    {"bitcast_into_tiles",
     "a = s32[16]{0} constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})\n ROOT r = s32[4,4]{1,0:T(2,2)} "
     "bitcast(a)",
     "s32[4,4] {{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}}", ""},
    {"bitcast_out_of_padded_tiles",
     "a = s32[3,3]{1,0:T(2,2)} constant({{0, 1, 2}, {3, 4, 5}, {6, 7, 8}})\n ROOT r = s32[9]{0} bitcast(a)",
     "s32[9] {0, 1, 3, 4, 2, 5, 6, 7, 8}", ""},
    {"bitcast_of_an_array_without_tiles",
     "a = s32[3,4]{0,1} constant({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}})\n"
     "ROOT r = s32[3,2,2]{0,2,1:T(2,2)} bitcast(a)",
     "s32[3,2,2] {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}}", ""},
    {"bitcast_to_fewer_elements",
     "a = s32[1,1,2,2]{3,1,2,0:T(2,2)} constant({{{{1, 2}, {3, 4}}}})\n ROOT r = s32[1,3]{1,0:T(2,2)} bitcast(a)",
     "s32[1,3] {{1, 2, 3}}", ""},
    {"bitcast_takes_padding_in",
     "a = s32[1,3]{1,0:T(2,2)} constant({{1, 2, 3}})\n ROOT r = s32[2,4]{1,0:T(2,2)} bitcast(a)",
     "s32[2,4] {{1, 2, 3, -1}, {-1, -1, -1, -1}}", ""},
    {"bitcast_takes_padding_in_column_major",
     "a = pred[3,1]{0,1:T(2,2)} constant({{0}, {0}, {0}})\n ROOT r = pred[4,1]{0,1:T(2,2)} bitcast(a)",
     "pred[4,1] {{0}, {0}, {0}, {1}}", ""},
    {"zero_elements",
     "a = f32[0,3] constant({})\n b = f32[0,3] add(a, a)\n t = f32[3,0] transpose(b), dimensions={1,0}\n z = f32[] "
     "constant(1)\n"
     "ROOT r = f32[3,2] pad(t, z), padding=0_0x1_1",
     "f32[3,2] {{1, 1}, {1, 1}, {1, 1}}", ""},
    {"constant_of_tuple_elements",
     "a = s32[] constant(1)\n b = f32[2] constant({2, 3})\n n = (f32[2], s32[]) tuple(b, a)\n"
     "t = (s32[], (f32[2], s32[])) tuple(a, n)\n"
     "g = (f32[2], s32[]) get-tuple-element(t), index=1\n ROOT r = f32[2] get-tuple-element(g), index=0",
     "f32[2] {2, 3}", ""},
};

INSTANTIATE_TEST_SUITE_P(Evaluator, Movement, testing::ValuesIn(cases), name_of);

}  // namespace
}  // namespace sapper::eval
