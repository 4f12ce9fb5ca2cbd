// Which opcode is whose: the table of the operations that live in files of their own.
#include "eval/op.h"

namespace sapper::eval {

Op find_op(hlo::Opcode opcode) {
  using enum hlo::Opcode;
  switch (opcode) {
    case BatchNormGrad:
    case BatchNormInference:
    case BatchNormTraining: return &batch_norm;
    case Cholesky: return &cholesky;
    case Convolution: return &convolution;
    case CustomCall: return &custom_call;
    case Dot: return &dot;
    case Fft: return &fft;
    case RaggedDot: return &ragged_dot;
    case Rng:
    case RngGetAndUpdateState: return &rng_of_device;
    case RngBitGenerator: return &rng_bit_generator;
    case ScaledDot: return &scaled_dot;
    case TriangularSolve: return &triangular_solve;

    case DynamicReshape: return &dynamic_reshape;
    case Gather: return &gather;
    case GetDimensionSize: return &get_dimension_size;
    case Map: return &map;
    case Reduce: return &reduce;
    case ReduceWindow: return &reduce_window;
    case Scan: return &scan;
    case SelectAndScatter: return &select_and_scatter;
    case SetDimensionSize: return &set_dimension_size;
    case Sort: return &sort;
    case Topk: return &topk;

    case AllGather:
    case AllGatherDone:
    case AllGatherStart:
    case AllReduce:
    case AllReduceDone:
    case AllReduceStart:
    case AllToAll:
    case CollectiveBroadcast:
    case CollectivePermute:
    case CollectivePermuteDone:
    case CollectivePermuteStart:
    case RaggedAllToAll:
    case ReduceScatter: return &collective;

    default: return nullptr;
  }
}

}  // namespace sapper::eval
