#include "numerics/tolerance.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sapper::numerics {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// Estimated error of one array value.
struct Estimate {
  double relative = 0;   // of each element
  double scaled = 0;     // of the largest element
  bool rounded = false;  // some rounding happened on the way, so another order of operations shows
  std::string decision;
};

using Estimates = std::vector<Estimate>;  // one a leaf of the shape

// The rules' constants; docs/comparison.md explains them.
constexpr double approximation_ulps = 8;   // error of a transcendental in units of epsilon
constexpr double complex_ulps = 8;         // of a complex product, quotient or root: several roundings of real numbers
constexpr double quotient_ulps = 16;       // of a product of a quotient, in units of f32's epsilon
constexpr double amplification = 64;       // of an argument's error by exp, pow, sin, ...
constexpr double largest_error = 0.02;     // beyond this an estimate says nothing
constexpr int walked_iterations = 4;       // of a loop body; then extrapolated linearly
constexpr double assumed_trip_count = 64;  // when a loop's own is not stated
constexpr int deepest_call = 64;

int64_t leaf_count(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements()) count += leaf_count(element);
  return count;
}

const Shape& leaf_shape(const Shape& shape) {
  const Shape* leaf = &shape;
  while (leaf->is_tuple() && !leaf->elements().empty()) leaf = &leaf->elements()[0];
  return *leaf;
}

Estimate join(const Estimate& a, const Estimate& b) {
  return {std::max(a.relative, b.relative), std::max(a.scaled, b.scaled), a.rounded || b.rounded,
          a.decision.empty() ? b.decision : a.decision};
}

Estimate join_all(const std::vector<const Estimates*>& operands) {
  Estimate joined;
  for (const Estimates* operand : operands)
    for (const Estimate& leaf : *operand) joined = join(joined, leaf);
  return joined;
}

bool inexact(const Estimate& estimate) { return estimate.relative > 0 || estimate.scaled > 0; }

Estimate capped(Estimate estimate) {
  estimate.relative = std::min(estimate.relative, largest_error);
  estimate.scaled = std::min(estimate.scaled, largest_error);
  return estimate;
}

enum class Kind { Move, Part, Arithmetic, Cancelling, Smooth, Amplifying, Accumulating, Deciding, Ordering, Convert };

Kind kind_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Multiply:
    case Opcode::Divide:
    case Opcode::Sqrt: return Kind::Arithmetic;
    case Opcode::Real:
    case Opcode::Imag: return Kind::Part;
    case Opcode::Add:
    case Opcode::Subtract: return Kind::Cancelling;
    case Opcode::Rsqrt:
    case Opcode::Cbrt:
    case Opcode::Tanh:
    case Opcode::Atan2:
    case Opcode::Asin:
    case Opcode::Asinh:
    case Opcode::Erf:
    case Opcode::Logistic:
    case Opcode::ExponentialMinusOne:
    case Opcode::LogPlusOne: return Kind::Smooth;
    case Opcode::Exponential:
    case Opcode::Log:
    case Opcode::Power:
    case Opcode::Sine:
    case Opcode::Cosine:
    case Opcode::Tan:
    case Opcode::Sinh:
    case Opcode::Cosh:
    case Opcode::Acos:
    case Opcode::Acosh:
    case Opcode::Atanh: return Kind::Amplifying;
    case Opcode::Dot:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot:
    case Opcode::Convolution:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::SelectAndScatter:
    case Opcode::Scatter:
    case Opcode::Fft:
    case Opcode::Cholesky:
    case Opcode::TriangularSolve:
    case Opcode::BatchNormTraining:
    case Opcode::BatchNormInference:
    case Opcode::BatchNormGrad:
    case Opcode::Scan:
    case Opcode::CustomCall: return Kind::Accumulating;
    case Opcode::Compare:
    case Opcode::Sign:
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::RoundNearestAfz:
    case Opcode::RoundNearestEven:
    case Opcode::Remainder:
    case Opcode::IsFinite:
    case Opcode::BitcastConvert:
    case Opcode::ReducePrecision: return Kind::Deciding;
    case Opcode::Sort:
    case Opcode::Topk: return Kind::Ordering;
    case Opcode::Convert: return Kind::Convert;
    default: return Kind::Move;
  }
}

// Number of terms that one element of the result sums.
double accumulated_length(const Computation& computation, const Instruction& instruction) {
  const auto operand = [&](size_t i) -> const Shape& {
    return computation.instructions[instruction.operands[i]].shape;
  };
  const auto elements = [](const Shape& shape) { return static_cast<double>(leaf_shape(shape).element_count()); };
  const double results = std::max(1.0, elements(instruction.shape));
  switch (instruction.opcode) {
    case Opcode::Dot: {
      double length = 1;
      for (const int64_t d : instruction.attributes().dot_dimension_numbers().lhs_contracting_dimensions())
        length *= static_cast<double>(operand(0).dimension(static_cast<size_t>(d)));
      return length;
    }
    case Opcode::Convolution: {
      const int64_t output_feature =
          instruction.attributes().convolution_dimension_numbers().kernel_output_feature_dimension();
      return elements(operand(1)) /
             std::max<double>(1, static_cast<double>(operand(1).dimension(static_cast<size_t>(output_feature))));
    }
    case Opcode::ReduceWindow: {
      double length = 1;
      for (const auto& dimension : instruction.attributes().window().dimensions())
        length *= static_cast<double>(dimension.size());
      return length;
    }
    case Opcode::Reduce: return elements(operand(0)) / results;
    case Opcode::Scatter: return 1 + elements(operand(instruction.operands.size() - 1)) / results;
    default: {
      double largest = 1;
      for (size_t i = 0; i < instruction.operands.size(); ++i) largest = std::max(largest, elements(operand(i)));
      return std::sqrt(largest);  // the side of a matrix, or less
    }
  }
}

// How far the formulas of XLA:TPU's emitters are from the functions that they stand for, relative to the result, f32.
double formula_error(Opcode opcode) {
  switch (opcode) {
    case Opcode::Divide:  // x * (1 / y), the reciprocal improved by one Newton step
    case Opcode::Sqrt:    // x * rsqrt(x)
    case Opcode::Rsqrt:
    case Opcode::Cbrt: return 0x1p-21;
    case Opcode::ExponentialMinusOne:
      return 0x1p-14;                         // x + x^2 / 2 where |x| < 0.0125 (v5p: 0.017), 2^(x log2 e) - 1 above
    case Opcode::LogPlusOne: return 0x1p-12;  // (1 - x / 2) x where |x| < 0.00045, log(1 + x) from there on
    default: return 0;
  }
}

class Pass {
 public:
  Pass(const Module& module, Allowance allowance) : module_(module), allowance_(allowance) {}

  Estimates walk(ComputationIndex index, const Estimates& arguments, int depth) {
    const Computation& computation = module_.computations[index];
    std::vector<Estimates> values(computation.instructions.size());
    const std::vector<size_t> offsets = parameter_offsets(computation);
    for (size_t i = 0; i < values.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      std::vector<const Estimates*> operands;
      operands.reserve(instruction.operands.size());
      for (const hlo::InstructionIndex operand : instruction.operands) operands.push_back(&values[operand]);
      if (instruction.opcode == Opcode::Parameter) {
        values[i] = parameter(instruction, arguments, offsets);
      } else {
        values[i] = visit(computation, instruction, operands, depth);
      }
    }
    return values[computation.root];
  }

 private:
  static std::vector<size_t> parameter_offsets(const Computation& computation) {
    std::vector<size_t> offsets;
    size_t next = 0;
    for (const hlo::InstructionIndex parameter : computation.parameters()) {
      offsets.push_back(next);
      next += static_cast<size_t>(leaf_count(computation.instructions[parameter].shape));
    }
    return offsets;
  }

  static Estimates parameter(const Instruction& instruction, const Estimates& arguments,
                             const std::vector<size_t>& offsets) {
    Estimates leaves(static_cast<size_t>(leaf_count(instruction.shape)));
    const size_t offset = offsets[static_cast<size_t>(instruction.parameter_number)];
    for (size_t i = 0; i < leaves.size() && offset + i < arguments.size(); ++i) leaves[i] = arguments[offset + i];
    return leaves;
  }

  Estimates visit(const Computation& computation, const Instruction& instruction,
                  const std::vector<const Estimates*>& operands, int depth) {
    switch (instruction.opcode) {
      case Opcode::Tuple: {
        Estimates all;
        for (const Estimates* operand : operands) all.insert(all.end(), operand->begin(), operand->end());
        return all;
      }
      case Opcode::GetTupleElement: return element(computation, instruction, *operands[0]);
      case Opcode::Call:
      case Opcode::Fusion:
      case Opcode::AsyncStart:
      case Opcode::Map: return call(instruction, operands, depth);
      case Opcode::While: return loop(instruction, *operands[0], depth);
      case Opcode::Conditional: return branches(instruction, operands, depth);
      default: break;
    }
    Estimate applied = apply(computation, instruction, join_all(operands));
    if (allowance_.short_formulas) approximate(instruction, applied);
    const Estimate result = capped(applied);
    return Estimates(static_cast<size_t>(leaf_count(instruction.shape)), result);
  }

  static Estimates element(const Computation& computation, const Instruction& instruction, const Estimates& tuple) {
    const Shape& shape = computation.instructions[instruction.operands[0]].shape;
    size_t offset = 0;
    for (size_t i = 0; i < static_cast<size_t>(instruction.tuple_index); ++i)
      offset += static_cast<size_t>(leaf_count(shape.elements()[i]));
    const auto count = static_cast<size_t>(leaf_count(instruction.shape));
    Estimates leaves(count);
    for (size_t i = 0; i < count && offset + i < tuple.size(); ++i) leaves[i] = tuple[offset + i];
    return leaves;
  }

  Estimates call(const Instruction& instruction, const std::vector<const Estimates*>& operands, int depth) {
    const auto leaves = static_cast<size_t>(leaf_count(instruction.shape));
    if (depth >= deepest_call || instruction.called.empty()) return Estimates(leaves, join_all(operands));
    Estimates arguments;
    for (const Estimates* operand : operands) arguments.insert(arguments.end(), operand->begin(), operand->end());
    Estimates result = walk(instruction.called[0], arguments, depth + 1);
    result.resize(leaves);
    return result;
  }

  Estimates loop(const Instruction& instruction, const Estimates& initial, int depth) {
    if (depth >= deepest_call) return initial;
    const ComputationIndex body = instruction.called[0];
    Estimates before = initial;
    Estimates state = initial;
    for (int i = 0; i < walked_iterations; ++i) {
      before = state;
      state = walk(body, state, depth + 1);
      state.resize(initial.size());
      for (size_t leaf = 0; leaf < state.size(); ++leaf) state[leaf] = join(state[leaf], before[leaf]);
    }
    for (size_t leaf = 0; leaf < state.size(); ++leaf) {
      state[leaf].relative += (state[leaf].relative - before[leaf].relative) * assumed_trip_count;
      state[leaf].scaled += (state[leaf].scaled - before[leaf].scaled) * assumed_trip_count;
      state[leaf] = capped(state[leaf]);
    }
    return state;
  }

  Estimates branches(const Instruction& instruction, const std::vector<const Estimates*>& operands, int depth) {
    Estimates result(static_cast<size_t>(leaf_count(instruction.shape)));
    if (depth >= deepest_call) return result;
    for (size_t i = 0; i < instruction.called.size() && i + 1 < operands.size(); ++i) {
      const Estimates taken = walk(instruction.called[i], *operands[i + 1], depth + 1);
      for (size_t leaf = 0; leaf < result.size() && leaf < taken.size(); ++leaf)
        result[leaf] = join(result[leaf], taken[leaf]);
    }
    return result;
  }

  static void approximate(const Instruction& instruction, Estimate& estimate) {
    if (!hlo::is_float(leaf_shape(instruction.shape).element_type())) return;
    estimate.relative += formula_error(instruction.opcode);
    if (instruction.opcode != Opcode::Remainder) return;
    // x - y * trunc(x / y): the product is rounded, and the quotient's error may take it across an integer.
    estimate.scaled += quotient_ulps * epsilon(ElementType::F32);
    if (estimate.decision.empty()) estimate.decision = instruction.name;
  }

  Estimate apply(const Computation& computation, const Instruction& instruction, Estimate in) const {
    const ElementType type = leaf_shape(instruction.shape).element_type();
    const double unit = epsilon(type);
    const bool is_float = unit > 0;
    switch (kind_of(instruction.opcode)) {
      case Kind::Move: return moved(instruction, in, is_float);
      case Kind::Part:  // the error of a complex number is relative to its modulus, of which this may be little
        in.scaled += in.relative;
        return in;
      case Kind::Arithmetic:
        if (!is_float) return discrete(instruction, in);
        if (in.rounded) in.relative = 2 * in.relative + unit;
        if (hlo::is_complex(type)) in.relative += complex_ulps * unit;
        in.rounded = true;
        return in;
      case Kind::Cancelling:
        if (!is_float) return discrete(instruction, in);
        if (in.rounded) {
          in.scaled += in.relative + unit;
          in.relative += unit;
        }
        in.rounded = true;
        return in;
      case Kind::Smooth:
        in.relative = 2 * in.relative + approximation_ulps * unit;
        in.scaled = 2 * in.scaled;
        in.rounded = true;
        return in;
      case Kind::Amplifying:
        in.relative = amplification * in.relative + approximation_ulps * unit;
        in.scaled = amplification * in.scaled + unit;
        in.rounded = true;
        return in;
      case Kind::Accumulating:
        if (selects(instruction)) return ordered(instruction, in);
        return accumulated(computation, instruction, in, unit);
      case Kind::Deciding: return decided(instruction, in);
      case Kind::Ordering: return ordered(instruction, in);
      case Kind::Convert: return converted(computation, instruction, in);
    }
    return in;
  }

  // A reduction that picks elements (maximum, arg-max, and, ...) rather than summing them.
  bool selects(const Instruction& instruction) const {
    if (instruction.opcode != Opcode::Reduce && instruction.opcode != Opcode::ReduceWindow) return false;
    const Opcode root = module_.computations[instruction.called[0]].root_instruction().opcode;
    return root != Opcode::Add && root != Opcode::Multiply;
  }

  // A maximum of values with errors has no larger error; which element a tuple of them came from is a decision.
  static Estimate ordered(const Instruction& instruction, Estimate in) {
    const bool many = instruction.shape.is_tuple() || instruction.operands.size() > 2;
    if (many && inexact(in) && in.decision.empty()) in.decision = instruction.name;
    return in;
  }

  static Estimate moved(const Instruction& instruction, Estimate in, bool is_float) {
    return is_float || instruction.shape.is_tuple() || instruction.shape.is_token() ? in : discrete(instruction, in);
  }

  // Integers and preds carry no error of their own, only the doubt about decisions.
  static Estimate discrete(const Instruction&, const Estimate& in) { return {0, 0, false, in.decision}; }

  static Estimate decided(const Instruction& instruction, Estimate in) {
    if (inexact(in) && in.decision.empty()) in.decision = instruction.name;
    if (epsilon(leaf_shape(instruction.shape).element_type()) == 0) in.relative = in.scaled = 0;
    return in;
  }

  Estimate converted(const Computation& computation, const Instruction& instruction, Estimate in) const {
    const double to = epsilon(instruction.shape.element_type());
    const double from = epsilon(computation.instructions[instruction.operands[0]].shape.element_type());
    if (to == 0) return decided(instruction, in);
    if (to > from && from > 0) {
      if (inexact(in) || allowance_.excess_precision)
        in.relative += to;  // may land on either side of a tie, or stay unrounded
      in.rounded = true;
    }
    return in;
  }

  Estimate accumulated(const Computation& computation, const Instruction& instruction, Estimate in, double unit) const {
    if (unit == 0) return discrete(instruction, in);
    const double length = accumulated_length(computation, instruction);
    const int passes = allowance_.bfloat16_products ? bfloat16_passes(computation, instruction) : 0;
    if (passes > 0) {
      constexpr double bfloat16 = 0x1p-7;
      // Three passes leave out the product of the low parts and what two parts do not hold of each operand.
      in.relative += passes == 1 ? 2 * bfloat16 : 3 * bfloat16 * bfloat16;
      in.rounded = true;
    }
    if (length <= 1 && !in.rounded && instruction.opcode != Opcode::CustomCall) {
      in.rounded = true;
      return in;
    }
    const double growth = std::min(length, 4 * std::sqrt(length) + 8) * unit;
    in.scaled += in.relative + growth;
    in.relative += growth;
    in.rounded = true;
    return in;
  }

  const Module& module_;
  Allowance allowance_;
};

}  // namespace

int bfloat16_passes(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode != Opcode::Dot && instruction.opcode != Opcode::Convolution) return 0;
  int passes = 1;
  for (const int precision : instruction.attributes().precision_config().operand_precision()) {
    if (precision == proto::PrecisionConfig::HIGH) passes = 3;
    if (precision != proto::PrecisionConfig::HIGH && precision != proto::PrecisionConfig::DEFAULT) return 0;
  }
  const auto is_f32 = [&](hlo::InstructionIndex operand) {
    return computation.instructions[operand].shape.element_type() == ElementType::F32;
  };
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), is_f32) ? passes : 0;
}

std::vector<OutputTolerance> derive_tolerances(const Module& module, Allowance allowance) {
  const Estimates outputs = Pass(module, allowance).walk(module.entry, {}, 0);
  std::vector<OutputTolerance> tolerances;
  for (const Estimate& output : outputs)
    tolerances.push_back({{.relative = output.relative, .scaled = output.scaled},
                          output.decision,
                          std::max(output.relative, output.scaled) >= largest_error});
  return tolerances;
}

}  // namespace sapper::numerics
