// What each elementwise operation means, at the values where it matters.
#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

// One operation on one or two constants of a type: {name, opcode, type, a, b, result type, result}.
struct OperationCase {
  std::string name;
  std::string opcode;
  std::string type;
  std::string a;
  std::string b;
  std::string expected;
  std::string attributes;
};

void PrintTo(const OperationCase& test, std::ostream* out) { *out << test.name; }

class Operation : public testing::TestWithParam<OperationCase> {};

TEST_P(Operation, IsExact) {
  const OperationCase& test = GetParam();
  std::string body = "a = " + test.type + " constant(" + test.a + ")\n";
  if (!test.b.empty()) body += "b = " + test.type + " constant(" + test.b + ")\n";
  const std::string result_type = test.expected.substr(0, test.expected.find("] ") + 1);
  body += "ROOT r = " + result_type + " " + test.opcode + (test.b.empty() ? "(a)" : "(a, b)");
  if (!test.attributes.empty()) body += ", " + test.attributes;
  check({test.name, body, test.expected, ""});
}

const OperationCase operations[] = {
    {"real_of_f32", "real", "f32[2]", "{-0, 1.5}", "", "f32[2] {-0, 1.5}", ""},
    {"real_of_bf16", "real", "bf16[2]", "{-0, 1.5}", "", "bf16[2] {-0, 1.5}", ""},
    {"add_s8_wraps", "add", "s8[3]", "{127, -128, 5}", "{1, -1, 6}", "s8[3] {-128, 127, 11}", ""},
    {"add_s4_wraps", "add", "s4[3]", "{7, -8, 3}", "{1, -1, 2}", "s4[3] {-8, 7, 5}", ""},
    {"add_u4_wraps", "add", "u4[2]", "{15, 7}", "{1, 2}", "u4[2] {0, 9}", ""},
    {"subtract_u16_wraps", "subtract", "u16[2]", "{0, 5}", "{1, 3}", "u16[2] {65535, 2}", ""},
    {"multiply_u16_wraps", "multiply", "u16[2]", "{65535, 3}", "{65535, 4}", "u16[2] {1, 12}", ""},
    {"multiply_s64_wraps", "multiply", "s64[1]", "{4611686018427387904}", "{6}", "s64[1] {-9223372036854775808}", ""},
    {"multiply_s2_wraps", "multiply", "s2[2]", "{-2, 1}", "{-2, -1}", "s2[2] {0, -1}", ""},
    {"add_pred_is_or", "add", "pred[3]", "{false, true, true}", "{false, false, true}", "pred[3] {false, true, true}",
     ""},
    {"multiply_pred_is_and", "multiply", "pred[2]", "{true, true}", "{false, true}", "pred[2] {false, true}", ""},
    {"divide_s32", "divide", "s32[6]", "{7, -7, 5, -2147483648, 0, 3}", "{2, 2, 0, -1, 0, -1}",
     "s32[6] {3, -3, -1, -2147483648, -1, -3}", ""},
    {"divide_u8", "divide", "u8[3]", "{200, 5, 0}", "{3, 0, 0}", "u8[3] {66, 255, 255}", ""},
    {"divide_u4_by_zero", "divide", "u4[2]", "{9, 9}", "{0, 2}", "u4[2] {15, 4}", ""},
    {"divide_s4_lowest", "divide", "s4[3]", "{-8, 7, -8}", "{-1, 0, 3}", "s4[3] {-8, -1, -2}", ""},
    {"remainder_s32", "remainder", "s32[5]", "{7, -7, 7, 5, -2147483648}", "{3, 3, -3, 0, -1}",
     "s32[5] {1, -1, 1, 5, 0}", ""},
    {"remainder_u64", "remainder", "u64[2]", "{18446744073709551615, 7}", "{10, 0}", "u64[2] {5, 7}", ""},
    {"remainder_f32_has_sign_of_dividend", "remainder", "f32[5]", "{5.5, -5.5, 5.5, 1, inf}", "{2, 2, -2, 0, 2}",
     "f32[5] {1.5, -1.5, 1.5, nan, nan}", ""},
    {"maximum_nan", "maximum", "f32[4]", "{nan, 1, -inf, 2}", "{1, nan, nan, 3}", "f32[4] {nan, nan, nan, 3}", ""},
    {"minimum_nan", "minimum", "f32[4]", "{nan, 1, inf, 2}", "{1, nan, 1, 3}", "f32[4] {nan, nan, 1, 2}", ""},
    {"maximum_zeros", "maximum", "f32[4]", "{0, -0, -0, 0}", "{-0, 0, -0, 0}", "f32[4] {0, 0, -0, 0}", ""},
    {"minimum_zeros", "minimum", "f64[4]", "{0, -0, -0, 0}", "{-0, 0, -0, 0}", "f64[4] {-0, -0, -0, 0}", ""},
    {"maximum_u64", "maximum", "u64[1]", "{18446744073709551615}", "{1}", "u64[1] {18446744073709551615}", ""},
    {"power_s32", "power", "s32[7]", "{3, 2, -1, -1, 1, 0, 5}", "{4, 40, -3, -2, -7, -1, 0}",
     "s32[7] {81, 0, -1, 1, 1, 0, 1}", ""},
    {"power_f32_specials", "power", "f32[9]", "{0, -0, -8, -2, 1, nan, -inf, 2, -1}",
     "{0, -3, 0.5, 3, nan, 0, 3, -inf, inf}", "f32[9] {1, -inf, nan, -8, 1, 1, -inf, 0, 1}", ""},
    {"shift_left_s32", "shift-left", "s32[4]", "{1, 1, -1, 1}", "{31, 32, 4, -1}", "s32[4] {-2147483648, 0, -16, 0}",
     ""},
    {"shift_right_logical_s8", "shift-right-logical", "s8[4]", "{-1, -128, 127, -1}", "{1, 7, 8, -1}",
     "s8[4] {127, 1, 0, 0}", ""},
    {"shift_right_arithmetic_s16", "shift-right-arithmetic", "s16[4]", "{-2, -2, 8, -32768}", "{1, 16, 99, 15}",
     "s16[4] {-1, -1, 0, -1}", ""},
    {"shift_right_logical_s4", "shift-right-logical", "s4[4]", "{-8, -1, -1, 7}", "{1, 3, 4, -8}", "s4[4] {4, 1, 0, 0}",
     ""},
    {"shift_left_s4", "shift-left", "s4[3]", "{1, 3, 7}", "{3, 2, 4}", "s4[3] {-8, -4, 0}", ""},
    {"shift_right_arithmetic_u8", "shift-right-arithmetic", "u8[2]", "{128, 64}", "{1, 9}", "u8[2] {192, 0}", ""},
    {"and_or_xor_not", "xor", "u8[2]", "{255, 15}", "{15, 240}", "u8[2] {240, 255}", ""},
    {"not_s4", "not", "s4[2]", "{7, -8}", "", "s4[2] {-8, 7}", ""},
    {"not_u4", "not", "u4[2]", "{15, 6}", "", "u4[2] {0, 9}", ""},
    {"not_pred", "not", "pred[2]", "{true, false}", "", "pred[2] {false, true}", ""},
    {"abs_s32_lowest", "abs", "s32[2]", "{-2147483648, -3}", "", "s32[2] {-2147483648, 3}", ""},
    {"abs_s4_lowest", "abs", "s4[2]", "{-8, -3}", "", "s4[2] {-8, 3}", ""},
    {"negate_u32", "negate", "u32[2]", "{1, 0}", "", "u32[2] {4294967295, 0}", ""},
    {"negate_zero", "negate", "f32[2]", "{0, -0}", "", "f32[2] {-0, 0}", ""},
    {"sign_f32", "sign", "f32[6]", "{-0, 0, nan, -3, inf, 1e-45}", "", "f32[6] {-0, 0, nan, -1, 1, 1}", ""},
    {"sign_s32", "sign", "s32[3]", "{-7, 0, 9}", "", "s32[3] {-1, 0, 1}", ""},
    {"floor", "floor", "f32[4]", "{-1.5, 1.5, -0.25, inf}", "", "f32[4] {-2, 1, -1, inf}", ""},
    {"ceil", "ceil", "f64[4]", "{-1.5, 1.5, -0.25, nan}", "", "f64[4] {-1, 2, -0, nan}", ""},
    {"round_nearest_even", "round-nearest-even", "f32[5]", "{0.5, 1.5, 2.5, -0.5, -2.5}", "",
     "f32[5] {0, 2, 2, -0, -2}", ""},
    {"round_nearest_afz", "round-nearest-afz", "f32[7]", "{0.5, 1.5, 2.5, -0.5, 0.49999997, 8388609, -0.3}", "",
     "f32[7] {1, 2, 3, -1, 0, 8388609, -0}", ""},
    {"is_finite", "is-finite", "f32[4]", "{1, inf, -inf, nan}", "", "pred[4] {true, false, false, false}", ""},
    {"is_finite_f16", "is-finite", "f16[3]", "{65504, inf, nan}", "", "pred[3] {true, false, false}", ""},
    {"popcnt_s8", "popcnt", "s8[3]", "{-1, 0, 5}", "", "s8[3] {8, 0, 2}", ""},
    {"popcnt_s4", "popcnt", "s4[3]", "{-1, -8, 7}", "", "s4[3] {4, 1, 3}", ""},
    {"count_leading_zeros", "count-leading-zeros", "u16[3]", "{0, 1, 65535}", "", "u16[3] {16, 15, 0}", ""},
    {"count_leading_zeros_s4", "count-leading-zeros", "s4[3]", "{0, 1, -1}", "", "s4[3] {4, 3, 0}", ""},
    {"count_leading_zeros_s64", "count-leading-zeros", "s64[3]", "{0, 1, -1}", "", "s64[3] {64, 63, 0}", ""},
    {"mulhi_u32", "mulhi", "u32[2]", "{4294967295, 65536}", "{4294967295, 65536}", "u32[2] {4294967294, 1}", ""},
    {"mulhi_s64", "mulhi", "s64[2]", "{-1, 4611686018427387904}", "{1, 8}", "s64[2] {-1, 2}", ""},
    {"rsqrt_specials", "rsqrt", "f32[5]", "{0, -0, inf, -1, 4}", "", "f32[5] {inf, -inf, 0, nan, 0.5}", ""},
    {"log_specials", "log", "f32[5]", "{0, -0, -1, inf, 1}", "", "f32[5] {-inf, -inf, nan, inf, 0}", ""},
    {"log_plus_one_specials", "log-plus-one", "f32[5]", "{-1, -2, -0, inf, 1e-40}", "",
     "f32[5] {-inf, nan, -0, inf, 1e-40}", ""},
    {"exponential_specials", "exponential", "f32[5]", "{inf, -inf, -0, 89, -104}", "", "f32[5] {inf, 0, 1, inf, 0}",
     ""},
    {"exponential_minus_one_specials", "exponential-minus-one", "f32[4]", "{-0, -inf, inf, 1e-40}", "",
     "f32[4] {-0, -1, inf, 1e-40}", ""},
    {"tanh_specials", "tanh", "f32[4]", "{-0, inf, -inf, 1e-40}", "", "f32[4] {-0, 1, -1, 1e-40}", ""},
    {"sine_specials", "sine", "f32[3]", "{-0, inf, 1e-40}", "", "f32[3] {-0, nan, 1e-40}", ""},
    {"atan2_specials", "atan2", "f32[6]", "{0, -0, 0, -0, inf, inf}", "{0, 0, -0, -0, inf, -inf}",
     "f32[6] {0, -0, 3.1415927, -3.1415927, 0.7853982, 2.3561945}", ""},
    {"bf16_add_rounds_once", "add", "bf16[3]", "{256, 1, 3e38}", "{1, 0.0039063, 3e38}", "bf16[3] {256, 1, inf}", ""},
    {"bf16_add_ties_to_even", "add", "bf16[2]", "{256, 258}", "{1, 1}", "bf16[2] {256, 260}", ""},
    {"f16_multiply_subnormal", "multiply", "f16[2]", "{6.1035e-05, 0.00097656}", "{0.5, 5.9605e-08}",
     "f16[2] {3.0518e-05, 0}", ""},
    {"f16_overflows", "multiply", "f16[2]", "{65504, -65504}", "{2, 2}", "f16[2] {inf, -inf}", ""},
    {"f8e4m3fn_overflow_is_nan", "add", "f8e4m3fn[2]", "{448, 240}", "{448, 16}", "f8e4m3fn[2] {nan, 256}", ""},
    {"f8e5m2_overflows", "multiply", "f8e5m2[2]", "{57344, 3}", "{2, 2}", "f8e5m2[2] {inf, 6}", ""},
    {"f8e4m3b11fnuz_has_no_negative_zero", "multiply", "f8e4m3b11fnuz[2]", "{0, 2}", "{-1, -2}",
     "f8e4m3b11fnuz[2] {0, -4}", ""},
    {"compare_nan_lt", "compare", "f32[3]", "{nan, 1, 1}", "{1, nan, 2}", "pred[3] {false, false, true}",
     "direction=LT"},
    {"compare_nan_ne", "compare", "f32[3]", "{nan, nan, 1}", "{1, nan, 1}", "pred[3] {true, true, false}",
     "direction=NE"},
    {"compare_zeros_eq", "compare", "f32[2]", "{0, -0}", "{-0, 0}", "pred[2] {true, true}", "direction=EQ"},
    {"compare_total_order", "compare", "f32[5]", "{-0, 0, nan, inf, -nan}", "{0, -0, inf, nan, -inf}",
     "pred[5] {true, false, false, true, true}", "direction=LT, type=TOTALORDER"},
    {"compare_u8_is_unsigned", "compare", "u8[2]", "{200, 1}", "{100, 255}", "pred[2] {true, false}", "direction=GT"},
    {"compare_u64", "compare", "u64[1]", "{18446744073709551615}", "{1}", "pred[1] {true}", "direction=GE"},
    {"compare_pred", "compare", "pred[2]", "{true, false}", "{false, false}", "pred[2] {true, false}", "direction=GT"},
    {"convert_f32_s32_saturates", "convert", "f32[6]", "{3e9, -3e9, nan, 1.9, -1.9, inf}", "",
     "s32[6] {2147483647, -2147483648, 0, 1, -1, 2147483647}", ""},
    {"convert_f32_u8_saturates", "convert", "f32[4]", "{300, -5, 255.9, nan}", "", "u8[4] {255, 0, 255, 0}", ""},
    {"convert_f32_s4_saturates", "convert", "f32[4]", "{9, -9, 7.5, nan}", "", "s4[4] {7, -8, 7, 0}", ""},
    {"convert_f64_u64_saturates", "convert", "f64[3]", "{2e19, -1, 9223372036854775808}", "",
     "u64[3] {18446744073709551615, 0, 9223372036854775808}", ""},
    {"convert_s32_s8_wraps", "convert", "s32[3]", "{130, -129, 256}", "", "s8[3] {-126, 127, 0}", ""},
    {"convert_s32_u4_wraps", "convert", "s32[3]", "{17, -1, 15}", "", "u4[3] {1, 15, 15}", ""},
    {"convert_f32_pred", "convert", "f32[4]", "{0, -0, nan, 0.1}", "", "pred[4] {false, false, true, true}", ""},
    {"convert_s32_pred", "convert", "s32[3]", "{0, 256, -1}", "", "pred[3] {false, true, true}", ""},
    {"convert_f64_f32_bf16_once", "convert", "f64[2]", "{1.00390625000001, 1.003906250}", "", "bf16[2] {1.0078125, 1}",
     ""},
    {"convert_s64_f32", "convert", "s64[2]", "{16777217, 9223372036854775807}", "", "f32[2] {16777216, 9.223372e18}",
     ""},
    {"convert_s64_bf16_once", "convert", "s64[1]", "{4629700416936869889}", "", "bf16[1] {4.6477e18}", ""},
    {"convert_u64_f64", "convert", "u64[1]", "{18446744073709551615}", "", "f64[1] {18446744073709551616}", ""},
    {"convert_f32_f16", "convert", "f32[4]", "{65520, 65519, 2.9802322e-08, 2.9802325e-08}", "",
     "f16[4] {inf, 65504, 0, 5.9605e-08}", ""},
    {"convert_f32_c64", "convert", "f32[2]", "{1, -2}", "", "c64[2] {(1, 0), (-2, 0)}", ""},
    {"reduce_precision", "reduce-precision", "f32[4]", "{1.0000001, 65520, 1e-8, nan}", "", "f32[4] {1, inf, 0, nan}",
     "exponent_bits=5, mantissa_bits=10"},
    {"reduce_precision_rounds_to_even", "reduce-precision", "f32[3]", "{257, 259, -7.8886091e-31}", "",
     "f32[3] {256, 260, -7.8886091e-31}", "exponent_bits=8, mantissa_bits=7"},
    {"bitcast_convert", "bitcast-convert", "f32[2]", "{1, -0}", "", "s32[2] {1065353216, -2147483648}", ""},
    {"bitcast_convert_bf16_u16", "bitcast-convert", "bf16[2]", "{1, -2}", "", "u16[2] {16256, 49152}", ""},
    {"bitcast_convert_narrower", "bitcast-convert", "u32[1]", "{67305985}", "", "u8[1,4] {{1, 2, 3, 4}}", ""},
    {"bitcast_convert_wider", "bitcast-convert", "u8[1,4]", "{{1, 2, 3, 4}}", "", "u32[1] {67305985}", ""},
    {"bitcast_convert_to_nibbles", "bitcast-convert", "u8[2]", "{33, 254}", "", "u4[2,2] {{1, 2}, {14, 15}}", ""},
    {"bitcast_convert_from_nibbles", "bitcast-convert", "s4[1,2]", "{{-1, 1}}", "", "s8[1] {31}", ""},
    {"bitcast_convert_s4_u4", "bitcast-convert", "s4[2]", "{-1, 7}", "", "u4[2] {15, 7}", ""},
    {"real", "real", "c64[2]", "{(1, 2), (-0, nan)}", "", "f32[2] {1, -0}", ""},
    {"imag", "imag", "c64[2]", "{(1, 2), (-0, inf)}", "", "f32[2] {2, inf}", ""},
    {"complex_multiply", "multiply", "c64[1]", "{(1, 2)}", "{(3, -1)}", "c64[1] {(5, 5)}", ""},
    {"complex_abs", "abs", "c64[3]", "{(3, 4), (inf, nan), (1e30, 1e30)}", "", "f32[3] {5, inf, 1.4142135e30}", ""},
    {"complex_eq", "compare", "c64[2]", "{(1, 2), (1, nan)}", "{(1, 2), (1, nan)}", "pred[2] {true, false}",
     "direction=EQ"},
};

INSTANTIATE_TEST_SUITE_P(Elementwise, Operation, testing::ValuesIn(operations),
                         [](const testing::TestParamInfo<OperationCase>& test) { return test.param.name; });

class Elementwise : public testing::TestWithParam<HloCase> {};
TEST_P(Elementwise, IsExact) { check(GetParam()); }

const HloCase cases[] = {
    {"clamp_nan",
     "lo = f32[] constant(0)\n hi = f32[] constant(1)\n x = f32[4] constant({nan, -1, 0.5, 2})\n ROOT r = f32[4] "
     "clamp(lo, x, hi)",
     "f32[4] {nan, 0, 0.5, 1}", ""},
    {"clamp_crossed_bounds_gives_high",
     "lo = s32[] constant(5)\n hi = s32[] constant(1)\n x = s32[2] constant({0, 9})\n ROOT r = s32[2] clamp(lo, x, hi)",
     "s32[2] {1, 1}", ""},
    {"select_scalar_predicate",
     "p = pred[] constant(false)\n a = f32[2] constant({1, 2})\n b = f32[2] constant({3, 4})\n ROOT r = f32[2] "
     "select(p, a, b)",
     "f32[2] {3, 4}", ""},
    {"select_c128",
     "p = pred[2] constant({true, false})\n a = c128[2] constant({(1, 2), (3, 4)})\n b = c128[2] constant({(5, 6), (7, "
     "8)})\n"
     "ROOT r = c128[2] select(p, a, b)",
     "c128[2] {(1, 2), (7, 8)}", ""},
    {"bf16_steps_round_each",
     "a = bf16[1] constant({256})\n b = bf16[1] constant({1})\n s = bf16[1] add(a, b)\n ROOT r = bf16[1] add(s, b)",
     "bf16[1] {256}", ""},
    {"stochastic_convert",
     "x = f32[4] constant({1.25, -1.25, 300, nan})\n u = u32[4] constant({0, 4294967295, 0, 0})\n"
     "ROOT r = s8[4] stochastic-convert(x, u)",
     "s8[4] {2, -1, 127, 0}", ""},
    {"complex_of_parts", "x = f32[2] constant({1, 2})\n y = f32[2] constant({3, -0})\n ROOT r = c64[2] complex(x, y)",
     "c64[2] {(1, 3), (2, -0)}", ""},
};

INSTANTIATE_TEST_SUITE_P(Elementwise, Elementwise, testing::ValuesIn(cases), name_of);

}  // namespace
}  // namespace sapper::eval
