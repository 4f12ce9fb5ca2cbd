// The opcodes of HLO and their names in text and proto. Source: the operation semantics page of XLA and the modules
// that its releases emit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// clang-format off
#define SAPPER_HLO_OPCODES(X) \
  X(Abs, "abs") \
  X(Acos, "acos") \
  X(Acosh, "acosh") \
  X(Add, "add") \
  X(AddDependency, "add-dependency") \
  X(AfterAll, "after-all") \
  X(AllGather, "all-gather") \
  X(AllGatherDone, "all-gather-done") \
  X(AllGatherStart, "all-gather-start") \
  X(AllReduce, "all-reduce") \
  X(AllReduceDone, "all-reduce-done") \
  X(AllReduceStart, "all-reduce-start") \
  X(AllToAll, "all-to-all") \
  X(And, "and") \
  X(Asin, "asin") \
  X(Asinh, "asinh") \
  X(AsyncDone, "async-done") \
  X(AsyncStart, "async-start") \
  X(AsyncUpdate, "async-update") \
  X(Atan2, "atan2") \
  X(Atanh, "atanh") \
  X(BatchNormGrad, "batch-norm-grad") \
  X(BatchNormInference, "batch-norm-inference") \
  X(BatchNormTraining, "batch-norm-training") \
  X(Bitcast, "bitcast") \
  X(BitcastConvert, "bitcast-convert") \
  X(Broadcast, "broadcast") \
  X(Call, "call") \
  X(Cbrt, "cbrt") \
  X(Ceil, "ceil") \
  X(Cholesky, "cholesky") \
  X(Clamp, "clamp") \
  X(CollectiveBroadcast, "collective-broadcast") \
  X(CollectivePermute, "collective-permute") \
  X(CollectivePermuteDone, "collective-permute-done") \
  X(CollectivePermuteStart, "collective-permute-start") \
  X(Compare, "compare") \
  X(Complex, "complex") \
  X(Concatenate, "concatenate") \
  X(Conditional, "conditional") \
  X(Constant, "constant") \
  X(Convert, "convert") \
  X(Convolution, "convolution") \
  X(Copy, "copy") \
  X(CopyDone, "copy-done") \
  X(CopyStart, "copy-start") \
  X(Cosh, "cosh") \
  X(Cosine, "cosine") \
  X(CountLeadingZeros, "count-leading-zeros") \
  X(CustomCall, "custom-call") \
  X(Divide, "divide") \
  X(Domain, "domain") \
  X(Dot, "dot") \
  X(DynamicReshape, "dynamic-reshape") \
  X(DynamicSlice, "dynamic-slice") \
  X(DynamicUpdateSlice, "dynamic-update-slice") \
  X(Erf, "erf") \
  X(Exponential, "exponential") \
  X(ExponentialMinusOne, "exponential-minus-one") \
  X(Fft, "fft") \
  X(Floor, "floor") \
  X(Fusion, "fusion") \
  X(Gather, "gather") \
  X(GetDimensionSize, "get-dimension-size") \
  X(GetTupleElement, "get-tuple-element") \
  X(Imag, "imag") \
  X(Infeed, "infeed") \
  X(Iota, "iota") \
  X(IsFinite, "is-finite") \
  X(Log, "log") \
  X(LogPlusOne, "log-plus-one") \
  X(Logistic, "logistic") \
  X(Map, "map") \
  X(Maximum, "maximum") \
  X(Minimum, "minimum") \
  X(Mulhi, "mulhi") \
  X(Multiply, "multiply") \
  X(Negate, "negate") \
  X(Not, "not") \
  X(OptBarrier, "opt-barrier") \
  X(Or, "or") \
  X(Outfeed, "outfeed") \
  X(Pad, "pad") \
  X(Parameter, "parameter") \
  X(PartitionId, "partition-id") \
  X(Popcnt, "popcnt") \
  X(Power, "power") \
  X(RaggedAllToAll, "ragged-all-to-all") \
  X(RaggedDot, "ragged-dot") \
  X(Real, "real") \
  X(Recv, "recv") \
  X(RecvDone, "recv-done") \
  X(Reduce, "reduce") \
  X(ReducePrecision, "reduce-precision") \
  X(ReduceScatter, "reduce-scatter") \
  X(ReduceWindow, "reduce-window") \
  X(Remainder, "remainder") \
  X(ReplicaId, "replica-id") \
  X(Reshape, "reshape") \
  X(Reverse, "reverse") \
  X(Rng, "rng") \
  X(RngBitGenerator, "rng-bit-generator") \
  X(RngGetAndUpdateState, "rng-get-and-update-state") \
  X(RoundNearestAfz, "round-nearest-afz") \
  X(RoundNearestEven, "round-nearest-even") \
  X(Rsqrt, "rsqrt") \
  X(ScaledDot, "scaled-dot") \
  X(Scan, "scan") \
  X(Scatter, "scatter") \
  X(Select, "select") \
  X(SelectAndScatter, "select-and-scatter") \
  X(Send, "send") \
  X(SendDone, "send-done") \
  X(SetDimensionSize, "set-dimension-size") \
  X(ShiftLeft, "shift-left") \
  X(ShiftRightArithmetic, "shift-right-arithmetic") \
  X(ShiftRightLogical, "shift-right-logical") \
  X(Sign, "sign") \
  X(Sine, "sine") \
  X(Sinh, "sinh") \
  X(Slice, "slice") \
  X(Sort, "sort") \
  X(Sqrt, "sqrt") \
  X(StochasticConvert, "stochastic-convert") \
  X(Subtract, "subtract") \
  X(Tan, "tan") \
  X(Tanh, "tanh") \
  X(Topk, "topk") \
  X(Transpose, "transpose") \
  X(TriangularSolve, "triangular-solve") \
  X(Tuple, "tuple") \
  X(While, "while") \
  X(Xor, "xor")
// clang-format on

namespace sapper::hlo {

enum class Opcode : uint8_t {
#define SAPPER_OPCODE(name, text) name,
  SAPPER_HLO_OPCODES(SAPPER_OPCODE)
#undef SAPPER_OPCODE
};

[[nodiscard]] std::string_view to_string(Opcode opcode);
[[nodiscard]] std::optional<Opcode> parse_opcode(std::string_view name);

}  // namespace sapper::hlo
