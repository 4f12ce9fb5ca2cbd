// The table of rules.
#include "bounds/rules.h"

namespace sapper::bounds {

ControlRule find_control_rule(hlo::Opcode opcode) {
  using enum hlo::Opcode;
  switch (opcode) {
    case Call:
    case Fusion: return &bound_call;
    case While: return &bound_while;
    case Conditional: return &bound_conditional;
    default: return nullptr;
  }
}

Rule find_rule(hlo::Opcode opcode) {
  using enum hlo::Opcode;
  switch (opcode) {
    case Bitcast: return &bound_bitcast;
    case Broadcast:
    case Concatenate:
    case Copy:
    case Pad:
    case Reshape:
    case Reverse:
    case Slice:
    case Transpose: return &bound_movement;
    case DynamicSlice: return &bound_dynamic_slice;
    case DynamicUpdateSlice: return &bound_dynamic_update_slice;
    case Gather: return &bound_gather;

    case Tuple: return &bound_tuple;
    case GetTupleElement: return &bound_get_tuple_element;
    case AddDependency:
    case AfterAll:
    case CopyDone:
    case CopyStart:
    case Domain:
    case OptBarrier: return &bound_pass_through;
    case AllGather:
    case AllReduce:
    case AllToAll:
    case CollectiveBroadcast:
    case CollectivePermute:
    case ReduceScatter: return &bound_collective;

    case Constant:
    case GetDimensionSize:
    case Iota:
    case PartitionId:
    case ReplicaId:
    case RngBitGenerator: return &bound_exact;

    case Dot: return &bound_dot;
    case Convolution: return &bound_convolution;
    case Fft: return &bound_fft;
    case Reduce: return &bound_reduce;
    case ReduceWindow: return &bound_reduce_window;
    case Scatter: return &bound_scatter;
    case SelectAndScatter: return &bound_select_and_scatter;
    case Sort: return &bound_sort;
    case Topk: return &bound_topk;
    case Cholesky: return &bound_cholesky;
    case TriangularSolve: return &bound_triangular_solve;
    case CustomCall: return &bound_custom_call;

    case Abs:
    case Acos:
    case Acosh:
    case Add:
    case And:
    case Asin:
    case Asinh:
    case Atan2:
    case Atanh:
    case BitcastConvert:
    case Cbrt:
    case Ceil:
    case Clamp:
    case Compare:
    case Complex:
    case Convert:
    case Cosh:
    case Cosine:
    case CountLeadingZeros:
    case Divide:
    case Erf:
    case Exponential:
    case ExponentialMinusOne:
    case Floor:
    case Imag:
    case IsFinite:
    case Log:
    case LogPlusOne:
    case Logistic:
    case Maximum:
    case Minimum:
    case Mulhi:
    case Multiply:
    case Negate:
    case Not:
    case Or:
    case Popcnt:
    case Power:
    case Real:
    case ReducePrecision:
    case Remainder:
    case RoundNearestAfz:
    case RoundNearestEven:
    case Rsqrt:
    case Select:
    case ShiftLeft:
    case ShiftRightArithmetic:
    case ShiftRightLogical:
    case Sign:
    case Sine:
    case Sinh:
    case Sqrt:
    case StochasticConvert:
    case Subtract:
    case Tan:
    case Tanh:
    case Xor: return &bound_elementwise;
    default: return nullptr;
  }
}

}  // namespace sapper::bounds
