// The table of the verifier: for each opcode its numbers of operands and called computations, its rule, and how closely
// the stated shape must agree with the inferred one. To add an opcode: a line in opcode.h, a line here.
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

constexpr size_t opcode_count = static_cast<size_t>(Opcode::Xor) + 1;

constexpr Count none = {0, 0};
constexpr Count one = {1, 1};
constexpr Count two = {2, 2};
constexpr Count three = {3, 3};
constexpr Count any = {0, Count::any};
constexpr Count some = {1, Count::any};

constexpr OpcodeRule unary(uint8_t accepts, Rule rule = infer_elementwise) {
  return {.operands = one, .operand_names = "operand", .infer = rule, .accepts = accepts};
}

constexpr OpcodeRule binary(uint8_t accepts, Rule rule = infer_elementwise) {
  return {.operands = two, .operand_names = "lhs, rhs", .infer = rule, .accepts = accepts};
}

constexpr OpcodeRule plain(Count operands, std::string_view names, Rule rule) {
  return {.operands = operands, .operand_names = names, .infer = rule};
}

constexpr OpcodeRule exact(Count operands, std::string_view names, Rule rule) {
  return {.operands = operands, .operand_names = names, .infer = rule, .agreement = Agreement::Exact};
}

constexpr OpcodeRule calling(Count called, OpcodeRule rule) {
  rule.called = called;
  return rule;
}

struct Table {
  std::array<OpcodeRule, opcode_count> rules = {};
  std::array<bool, opcode_count> present = {};
};

constexpr Table table = [] {
  Table all;
  const auto set = [&](Opcode opcode, const OpcodeRule& rule) {
    all.rules[static_cast<size_t>(opcode)] = rule;
    all.present[static_cast<size_t>(opcode)] = true;
  };

  // Elementwise, one operand.
  set(Opcode::Abs, unary(accepts::signed_integer | accepts::continuous, infer_component));
  set(Opcode::Acos, unary(accepts::continuous));
  set(Opcode::Acosh, unary(accepts::continuous));
  set(Opcode::Asin, unary(accepts::continuous));
  set(Opcode::Asinh, unary(accepts::continuous));
  set(Opcode::Atanh, unary(accepts::continuous));
  set(Opcode::Cbrt, unary(accepts::continuous));
  set(Opcode::Ceil, unary(accepts::floating));
  set(Opcode::Cosh, unary(accepts::continuous));
  set(Opcode::Cosine, unary(accepts::continuous));
  set(Opcode::CountLeadingZeros, unary(accepts::integer));
  set(Opcode::Erf, unary(accepts::continuous));
  set(Opcode::Exponential, unary(accepts::continuous));
  set(Opcode::ExponentialMinusOne, unary(accepts::continuous));
  set(Opcode::Floor, unary(accepts::floating));
  set(Opcode::Imag, unary(accepts::continuous, infer_component));
  set(Opcode::IsFinite, unary(accepts::floating, infer_predicate));
  set(Opcode::Log, unary(accepts::continuous));
  set(Opcode::LogPlusOne, unary(accepts::continuous));
  set(Opcode::Logistic, unary(accepts::continuous));
  set(Opcode::Negate, unary(accepts::number));
  set(Opcode::Not, unary(accepts::logical));
  set(Opcode::Popcnt, unary(accepts::integer));
  set(Opcode::Real, unary(accepts::continuous, infer_component));
  set(Opcode::ReducePrecision, unary(accepts::floating, infer_reduce_precision));
  set(Opcode::RoundNearestAfz, unary(accepts::floating));
  set(Opcode::RoundNearestEven, unary(accepts::floating));
  set(Opcode::Rsqrt, unary(accepts::continuous));
  set(Opcode::Sign, unary(accepts::signed_integer | accepts::continuous));
  set(Opcode::Sine, unary(accepts::continuous));
  set(Opcode::Sinh, unary(accepts::continuous));
  set(Opcode::Sqrt, unary(accepts::continuous));
  set(Opcode::Tan, unary(accepts::continuous));
  set(Opcode::Tanh, unary(accepts::continuous));

  // Elementwise, two or three operands.
  set(Opcode::Add, binary(accepts::all));
  set(Opcode::And, binary(accepts::logical));
  set(Opcode::Atan2, binary(accepts::continuous));
  set(Opcode::Clamp,
      {.operands = three, .operand_names = "min, operand, max", .infer = infer_clamp, .accepts = accepts::all});
  set(Opcode::Compare, binary(accepts::all, infer_compare));
  set(Opcode::Complex, plain(two, "real, imaginary", infer_complex));
  set(Opcode::Divide, binary(accepts::number));
  set(Opcode::Maximum, binary(accepts::all));
  set(Opcode::Minimum, binary(accepts::all));
  set(Opcode::Mulhi, binary(accepts::integer));
  set(Opcode::Multiply, binary(accepts::all));
  set(Opcode::Or, binary(accepts::logical));
  set(Opcode::Power, binary(accepts::number));
  set(Opcode::Remainder, binary(accepts::real));
  set(Opcode::Select, plain(three, "pred, on_true, on_false", infer_select));
  set(Opcode::ShiftLeft, binary(accepts::integer));
  set(Opcode::ShiftRightArithmetic, binary(accepts::integer));
  set(Opcode::ShiftRightLogical, binary(accepts::integer));
  set(Opcode::Subtract, binary(accepts::number));
  set(Opcode::Xor, binary(accepts::logical));

  // Conversions.
  set(Opcode::BitcastConvert, exact(one, "operand", infer_bitcast_convert));
  set(Opcode::Convert, exact(one, "operand", infer_convert));
  set(Opcode::StochasticConvert, exact(two, "operand, random", infer_stochastic_convert));

  // Data movement.
  set(Opcode::Bitcast, exact(one, "operand", infer_bitcast));
  set(Opcode::Broadcast, plain(one, "operand", infer_broadcast));
  set(Opcode::Concatenate, plain(some, "arrays", infer_concatenate));
  set(Opcode::Copy, plain(one, "operand", infer_identity));
  set(Opcode::Domain, exact(one, "operand", infer_identity));
  set(Opcode::DynamicReshape, plain(some, "operand, sizes ...", infer_dynamic_reshape));
  set(Opcode::GetDimensionSize, plain(one, "operand", infer_get_dimension_size));
  set(Opcode::Pad, plain(two, "operand, padding value", infer_pad));
  set(Opcode::Reshape, plain(one, "operand", infer_reshape));
  set(Opcode::Reverse, plain(one, "operand", infer_reverse));
  set(Opcode::SetDimensionSize, plain(two, "operand, size", infer_set_dimension_size));
  set(Opcode::Transpose, plain(one, "operand", infer_transpose));

  // Slicing and indexing.
  set(Opcode::DynamicSlice, plain(some, "operand, start indices ...", infer_dynamic_slice));
  set(Opcode::DynamicUpdateSlice,
      plain({2, Count::any}, "operand, update, start indices ...", infer_dynamic_update_slice));
  set(Opcode::Gather, plain(two, "operand, start indices", infer_gather));
  set(Opcode::Scatter, calling(one, plain({3, Count::any}, "operands ..., indices, updates ...", infer_scatter)));
  set(Opcode::Slice, plain(one, "operand", infer_slice));

  // Linear algebra.
  set(Opcode::Cholesky, plain(one, "matrix", infer_cholesky));
  set(Opcode::Convolution, plain(two, "input, kernel", infer_convolution));
  set(Opcode::Dot, plain({2, 6}, "lhs, rhs", infer_dot));
  set(Opcode::Fft, plain(one, "operand", infer_fft));
  set(Opcode::RaggedDot, plain(three, "lhs, rhs, group sizes", infer_ragged_dot));
  set(Opcode::ScaledDot, plain({4, 4}, "lhs, rhs, lhs scale, rhs scale", infer_scaled_dot));
  set(Opcode::TriangularSolve, plain(two, "matrix, right-hand sides", infer_triangular_solve));

  // Applied computations.
  set(Opcode::Map, calling(one, plain(some, "arrays", infer_map)));
  set(Opcode::Reduce, calling(one, plain({2, Count::any}, "arrays ..., initial values ...", infer_reduce)));
  set(Opcode::ReduceWindow,
      calling(one, plain({2, Count::any}, "arrays ..., initial values ...", infer_reduce_window)));
  set(Opcode::Scan, calling(one, plain(some, "arrays ..., initial carries ...", infer_scan)));
  set(Opcode::SelectAndScatter, calling(two, plain(three, "operand, source, initial value", infer_select_and_scatter)));
  set(Opcode::Sort, calling(one, plain(some, "arrays", infer_sort)));
  set(Opcode::Topk, plain(one, "operand", infer_topk));

  // Control flow, values and tokens.
  set(Opcode::AddDependency, exact(two, "operand, token", infer_add_dependency));
  set(Opcode::AfterAll, exact(any, "tokens", infer_after_all));
  set(Opcode::Call, calling(one, exact(any, "arguments", infer_call)));
  set(Opcode::Conditional, calling(some, exact(some, "selector, arguments ...", infer_conditional)));
  set(Opcode::Constant, exact(none, "", infer_constant));
  set(Opcode::CustomCall, calling(any, exact(any, "arguments", infer_custom_call)));
  set(Opcode::Fusion, calling(one, exact(any, "arguments", infer_fusion)));
  set(Opcode::GetTupleElement, exact(one, "tuple", infer_get_tuple_element));
  set(Opcode::Iota, exact(none, "", infer_iota));
  set(Opcode::OptBarrier, exact(one, "operand", infer_identity));
  set(Opcode::Parameter, exact(none, "", infer_parameter));
  set(Opcode::Tuple, exact(any, "elements", infer_tuple));
  set(Opcode::While, calling(two, exact(one, "initial state", infer_while)));

  // Operations in two halves, and the host.
  set(Opcode::AsyncDone, calling({0, 1}, exact(one, "state", infer_async_done)));
  set(Opcode::AsyncStart, calling(one, exact(any, "arguments", infer_async_start)));
  set(Opcode::AsyncUpdate, calling({0, 1}, exact(some, "state, further arguments ...", infer_async_update)));
  set(Opcode::CopyDone, exact(one, "state", infer_copy_done));
  set(Opcode::CopyStart, exact(one, "operand", infer_copy_start));
  set(Opcode::Infeed, exact(one, "token", infer_infeed));
  set(Opcode::Outfeed, exact(two, "data, token", infer_outfeed));
  set(Opcode::Recv, exact(one, "token", infer_recv));
  set(Opcode::RecvDone, exact(one, "state", infer_recv_done));
  set(Opcode::Send, exact(two, "data, token", infer_send));
  set(Opcode::SendDone, exact(one, "state", infer_send_done));

  // Collectives.
  set(Opcode::AllGather, plain(some, "arrays", infer_all_gather));
  set(Opcode::AllGatherDone, plain(one, "state", infer_collective_done));
  set(Opcode::AllGatherStart, plain(some, "arrays", infer_all_gather_start));
  set(Opcode::AllReduce, calling(one, plain(some, "arrays", infer_all_reduce)));
  set(Opcode::AllReduceDone, plain(one, "state", infer_all_reduce_done));
  set(Opcode::AllReduceStart, calling(one, plain(some, "arrays", infer_all_reduce)));
  set(Opcode::AllToAll, plain(some, "arrays", infer_all_to_all));
  set(Opcode::CollectiveBroadcast, plain(some, "arrays", infer_collective_broadcast));
  set(Opcode::CollectivePermute, plain(some, "arrays", infer_collective_permute));
  set(Opcode::CollectivePermuteDone, plain(one, "state", infer_collective_done));
  set(Opcode::CollectivePermuteStart, plain(some, "arrays", infer_collective_permute_start));
  set(Opcode::PartitionId, plain(none, "", infer_device_number));
  set(Opcode::RaggedAllToAll, plain({6, 6}, "input, output, input offsets, send sizes, output offsets, receive sizes",
                                    infer_ragged_all_to_all));
  set(Opcode::ReduceScatter, calling(one, plain(some, "arrays", infer_reduce_scatter)));
  set(Opcode::ReplicaId, plain(none, "", infer_device_number));

  // Batch normalization and random numbers.
  set(Opcode::BatchNormGrad, plain({5, 5}, "operand, scale, mean, variance, output gradient", infer_batch_norm_grad));
  set(Opcode::BatchNormInference, plain({5, 5}, "operand, scale, offset, mean, variance", infer_batch_norm_inference));
  set(Opcode::BatchNormTraining, plain(three, "operand, scale, offset", infer_batch_norm_training));
  set(Opcode::Rng, plain(two, "low or mean, high or deviation", infer_rng));
  set(Opcode::RngBitGenerator, plain(one, "state", infer_rng_bit_generator));
  set(Opcode::RngGetAndUpdateState, plain(none, "", infer_rng_get_and_update_state));
  return all;
}();

static_assert(std::ranges::count(table.present, true) == opcode_count, "an opcode has no rule");

}  // namespace

const OpcodeRule& rule_for(Opcode opcode) {
  SAPPER_ASSERT(static_cast<size_t>(opcode) < opcode_count);
  return table.rules[static_cast<size_t>(opcode)];
}

}  // namespace sapper::hlo::verifier
