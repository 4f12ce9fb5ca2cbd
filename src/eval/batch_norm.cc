// batch-norm-training, -inference and -grad: the formulas of the operation semantics, all in f64 (long double where an
// operand is f64) with one rounding into each result. Variances are biased, and summed in a second pass over x - mean.

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/parallel.h"
#include "eval/accumulator.h"
#include "eval/dimensions.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// An array seen as [outer, features, inner].
struct Split {
  int64_t outer, features, inner;

  [[nodiscard]] int64_t count() const { return outer * inner; }  // elements of one feature
  // Calls visit with the index of each element of a feature, ascending.
  template <class Visit>
  void for_each(int64_t feature, const Visit& visit) const {
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t first = (o * features + feature) * inner;
      for (int64_t i = first; i < first + inner; ++i) visit(static_cast<size_t>(i));
    }
  }
};

Split split(const hlo::Shape& shape, int64_t feature_index) {
  const auto at = static_cast<size_t>(feature_index);
  const std::span<const int64_t> dimensions = shape.dimensions();
  return {hlo::element_count(dimensions.first(at)), dimensions[at], hlo::element_count(dimensions.subspan(at + 1))};
}

// An operand in the type that sums are taken in.
template <class Sum, class Operand>
class Input {
 public:
  Input(const hlo::Literal& literal, Accumulator accumulator)
      : bytes_(widen(literal, accumulator)), data_(reinterpret_cast<const Operand*>(bytes_->data())) {}
  Sum operator[](size_t i) const { return static_cast<Sum>(data_[i]); }

 private:
  std::shared_ptr<const hlo::AlignedBytes> bytes_;
  const Operand* data_;
};

template <Accumulator accumulator>
struct BatchNorm {
  using Sum = typename AccumulatorTypes<accumulator>::Sum;
  using Values = Input<Sum, typename AccumulatorTypes<accumulator>::Operand>;
  using Sums = std::vector<Sum>;

  Split elements;
  Sum epsilon;

  template <class Visit>
  void for_each_feature(const Visit& visit) const {
    parallel_for_each(elements.features, visit);
  }
  [[nodiscard]] Sums per_element() const { return Sums(static_cast<size_t>(elements.count() * elements.features)); }
  [[nodiscard]] Sums per_feature() const { return Sums(static_cast<size_t>(elements.features)); }

  void normalize(int64_t feature, const Values& x, Sum scale, Sum offset, Sum mean, Sum variance, Sums& out) const {
    const Sum deviation = std::sqrt(variance + epsilon);
    elements.for_each(feature, [&](size_t i) { out[i] = (x[i] - mean) / deviation * scale + offset; });
  }

  [[nodiscard]] hlo::Literal training(std::span<const hlo::Literal> operands, const hlo::Shape& shape) const {
    const Values x(operands[0], accumulator);
    const Values scale(operands[1], accumulator);
    const Values offset(operands[2], accumulator);
    Sums out = per_element();
    Sums means = per_feature();
    Sums variances = per_feature();
    for_each_feature([&](int64_t feature) {
      const auto f = static_cast<size_t>(feature);
      const auto count = static_cast<Sum>(elements.count());
      Sum sum = 0;
      elements.for_each(feature, [&](size_t i) { sum += x[i]; });
      const Sum mean = sum / count;
      Sum squares = 0;
      elements.for_each(feature, [&](size_t i) { squares += (x[i] - mean) * (x[i] - mean); });
      means[f] = mean;
      variances[f] = squares / count;
      normalize(feature, x, scale[f], offset[f], mean, variances[f], out);
    });
    return hlo::Literal::tuple({round_to_literal(out, shape.elements()[0]),
                                round_to_literal(means, shape.elements()[1]),
                                round_to_literal(variances, shape.elements()[2])});
  }

  [[nodiscard]] hlo::Literal inference(std::span<const hlo::Literal> operands, const hlo::Shape& shape) const {
    const Values x(operands[0], accumulator);
    const Values scale(operands[1], accumulator);
    const Values offset(operands[2], accumulator);
    const Values mean(operands[3], accumulator);
    const Values variance(operands[4], accumulator);
    Sums out = per_element();
    for_each_feature([&](int64_t feature) {
      const auto f = static_cast<size_t>(feature);
      normalize(feature, x, scale[f], offset[f], mean[f], variance[f], out);
    });
    return round_to_literal(out, shape);
  }

  // With c = x - mean and d = sqrt(variance + epsilon):
  //   grad_offset = sum(grad), grad_scale = sum(grad * c) / d,
  //   grad_x = scale / d * (grad - mean(grad) - c * mean(grad * c) / d^2).
  [[nodiscard]] hlo::Literal gradient(std::span<const hlo::Literal> operands, const hlo::Shape& shape) const {
    const Values x(operands[0], accumulator);
    const Values scale(operands[1], accumulator);
    const Values means(operands[2], accumulator);
    const Values variances(operands[3], accumulator);
    const Values grad(operands[4], accumulator);
    Sums grad_x = per_element();
    Sums grad_scale = per_feature();
    Sums grad_offset = per_feature();
    for_each_feature([&](int64_t feature) {
      const auto f = static_cast<size_t>(feature);
      const auto count = static_cast<Sum>(elements.count());
      const Sum mean = means[f];
      const Sum square = variances[f] + epsilon;
      const Sum deviation = std::sqrt(square);
      Sum sum = 0;
      Sum products = 0;
      elements.for_each(feature, [&](size_t i) {
        sum += grad[i];
        products += grad[i] * (x[i] - mean);
      });
      grad_offset[f] = sum;
      grad_scale[f] = products / deviation;
      elements.for_each(feature, [&](size_t i) {
        grad_x[i] = scale[f] / deviation * (grad[i] - sum / count - (x[i] - mean) * (products / count) / square);
      });
    });
    return hlo::Literal::tuple({round_to_literal(grad_x, shape.elements()[0]),
                                round_to_literal(grad_scale, shape.elements()[1]),
                                round_to_literal(grad_offset, shape.elements()[2])});
  }
};

template <Accumulator accumulator>
hlo::Literal run(const hlo::Instruction& instruction, std::span<const hlo::Literal> operands) {
  const hlo::Attributes& attributes = instruction.attributes();
  const BatchNorm<accumulator> op{split(operands[0].shape(), attributes.feature_index()), attributes.epsilon()};
  switch (instruction.opcode) {
    case hlo::Opcode::BatchNormTraining: return op.training(operands, instruction.shape);
    case hlo::Opcode::BatchNormInference: return op.inference(operands, instruction.shape);
    default: break;
  }
  SAPPER_ASSERT(instruction.opcode == hlo::Opcode::BatchNormGrad);
  return op.gradient(operands, instruction.shape);
}

}  // namespace

Result<hlo::Literal> batch_norm(const OpContext& context, std::span<const hlo::Literal> operands) {
  const bool wide = std::ranges::any_of(
      operands, [](const hlo::Literal& operand) { return operand.shape().element_type() == hlo::ElementType::F64; });
  return wide ? run<Accumulator::Extended>(context.instruction, operands)
              : run<Accumulator::F64>(context.instruction, operands);
}

}  // namespace sapper::eval
