// What a legal implementation may make of some instructions: functions within their stated errors, sums in any order in
// f32, subnormals as zero. Computed in doubles here, independently of the rules in src/bounds.
#pragma once

#include <cmath>
#include <complex>
#include <optional>
#include <random>
#include <vector>

#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "numerics/contract.h"

namespace sapper::bounds {

class LegalVariant {
 public:
  LegalVariant(const hlo::Module& module, const numerics::Contract& contract, uint64_t seed)
      : module_(module), contract_(contract), random_(seed), style_(static_cast<int>(random_() % 3)) {}

  [[nodiscard]] eval::Substitute substitute() {
    return {[this](const hlo::Computation&, const hlo::Instruction& instruction) { return covers(instruction); },
            [this](const hlo::Computation& computation, const hlo::Instruction& instruction,
                   const std::vector<hlo::Literal>& operands) -> Result<hlo::Literal> {
              return made(computation, instruction, operands);
            }};
  }

 private:
  using Opcode = hlo::Opcode;
  using Literal = hlo::Literal;

  static bool is_real(const hlo::Shape& shape) {
    if (!shape.is_array()) return false;
    const hlo::ElementType type = shape.element_type();
    return type == hlo::ElementType::F32 || type == hlo::ElementType::BF16 || type == hlo::ElementType::F16;
  }

  [[nodiscard]] bool adds(const hlo::Instruction& instruction) const {
    return module_.computations[instruction.called[0]].root_instruction().opcode == Opcode::Add;
  }

  [[nodiscard]] bool covers(const hlo::Instruction& instruction) const {
    if (!is_real(instruction.shape)) return false;
    switch (instruction.opcode) {
      case Opcode::Reduce:
      case Opcode::ReduceWindow:
      case Opcode::Scatter: return adds(instruction);
      case Opcode::Dot: return true;
      default: return function(instruction.opcode, 2, 2).has_value();
    }
  }

  // The functions; nullopt: another operation.
  static std::optional<double> function(Opcode opcode, double x, double y) {
    switch (opcode) {
      case Opcode::Exponential: return std::exp(x);
      case Opcode::ExponentialMinusOne: return std::expm1(x);
      case Opcode::Log: return std::log(x);
      case Opcode::LogPlusOne: return std::log1p(x);
      case Opcode::Logistic: return 1 / (1 + std::exp(-x));
      case Opcode::Tanh: return std::tanh(x);
      case Opcode::Sine: return std::sin(x);
      case Opcode::Cosine: return std::cos(x);
      case Opcode::Tan: return std::tan(x);
      case Opcode::Sqrt: return std::sqrt(x);
      case Opcode::Rsqrt: return 1 / std::sqrt(x);
      case Opcode::Cbrt: return std::cbrt(x);
      case Opcode::Erf: return std::erf(x);
      case Opcode::Asin: return std::asin(x);
      case Opcode::Acos: return std::acos(x);
      case Opcode::Asinh: return std::asinh(x);
      case Opcode::Acosh: return std::acosh(x);
      case Opcode::Atanh: return std::atanh(x);
      case Opcode::Sinh: return std::sinh(x);
      case Opcode::Cosh: return std::cosh(x);
      case Opcode::Add: return x + y;
      case Opcode::Subtract: return x - y;
      case Opcode::Multiply: return x * y;
      case Opcode::Divide: return x / y;
      case Opcode::Power: return std::pow(x, y);
      case Opcode::Atan2: return std::atan2(x, y);
      default: return std::nullopt;
    }
  }

  // What an implementation may multiply before it reduces its argument.
  static double scaled_argument(Opcode opcode, double x, double y) {
    if (opcode != Opcode::Power) return std::fabs(x);
    return y == 0 || x == 0 ? 0 : std::fabs(y * std::log(std::fabs(x)));
  }

  Literal made(const hlo::Computation& computation, const hlo::Instruction& instruction,
               const std::vector<Literal>& operands) {
    switch (instruction.opcode) {
      case Opcode::Reduce: return reduced(instruction, operands);
      case Opcode::ReduceWindow: return summed_up(instruction, operands);
      case Opcode::Scatter: return scattered(instruction, operands);
      case Opcode::Dot: return dot(computation, instruction, operands);
      default: return elementwise(instruction, operands);
    }
  }

  Literal elementwise(const hlo::Instruction& instruction, const std::vector<Literal>& operands) {
    Literal result(instruction.shape);
    const numerics::FunctionError error =
        numerics::function_error(contract_, instruction.opcode, instruction.shape.element_type());
    for (int64_t i = 0; i < result.element_count(); ++i) {
      const double x = flushed(operands[0].real_at(i)), y = operands.size() > 1 ? flushed(operands[1].real_at(i)) : 0;
      double r = *function(instruction.opcode, x, y);
      const double absolute = std::fabs(x) < numerics::unreduced_below(instruction.opcode) ? 0 : error.absolute;
      if (std::isfinite(r) && std::isfinite(x) && std::isfinite(y) && (r != 0 || absolute > 0)) {
        const double relative =
            error.relative +
            (error.argument > 0 && r != 0 ? error.argument * scaled_argument(instruction.opcode, x, y) : 0);
        r += any() * (relative * std::fabs(r)) + any() * absolute;
      }
      result.set_real(i, flushed(r));
    }
    return result;
  }

  Literal reduced(const hlo::Instruction& instruction, const std::vector<Literal>& operands) {
    Literal result(instruction.shape);
    const std::vector<int64_t>& from = operands[0].shape().dimensions();
    std::vector<std::vector<double>> terms(static_cast<size_t>(result.element_count()));
    for (int64_t i = 0; i < operands[0].element_count(); ++i) {
      int64_t to = 0, rest = i, stride = 1;
      for (size_t d = from.size(); d-- > 0; rest /= from[d]) {
        const bool summed = std::find(instruction.dimensions.begin(), instruction.dimensions.end(),
                                      static_cast<int64_t>(d)) != instruction.dimensions.end();
        if (summed) continue;
        to += rest % from[d] * stride;
        stride *= from[d];
      }
      terms[static_cast<size_t>(to)].push_back(operands[0].real_at(i));
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      terms[i].push_back(operands[1].real_at(0));
      result.set_real(static_cast<int64_t>(i), sum(terms[i]));
    }
    return result;
  }

  // A row's running sums.
  Literal summed_up(const hlo::Instruction& instruction, const std::vector<Literal>& operands) {
    Literal result(instruction.shape);
    const int64_t columns = instruction.shape.dimension(1);
    for (int64_t i = 0; i < result.element_count(); ++i) {
      std::vector<double> terms = {operands[1].real_at(0)};
      for (int64_t k = i - i % columns; k <= i; ++k) terms.push_back(operands[0].real_at(k));
      result.set_real(i, sum(terms));
    }
    return result;
  }

  // Rows are added to rows.
  Literal scattered(const hlo::Instruction& instruction, const std::vector<Literal>& operands) {
    Literal result(instruction.shape);
    const int64_t columns = instruction.shape.dimension(1);
    for (int64_t i = 0; i < result.element_count(); ++i) {
      std::vector<double> terms = {operands[0].real_at(i)};
      for (int64_t row = 0; row < operands[1].element_count(); ++row)
        if (operands[1].integer_at(row) == i / columns)
          terms.push_back(operands[2].real_at(row * columns + i % columns));
      result.set_real(i, terms.size() == 1 ? terms[0] : sum(terms));
    }
    return result;
  }

  Literal dot(const hlo::Computation& computation, const hlo::Instruction& instruction,
              const std::vector<Literal>& operands) {
    Literal result(instruction.shape);
    const auto& numbers = instruction.attributes().dot_dimension_numbers();
    const bool transposed = numbers.rhs_contracting_dimensions(0) == 1;
    const bool in_one_pass = numerics::bfloat16_passes(contract_, computation, instruction) == 1;
    const int64_t n = operands[0].shape().dimension(1), columns = instruction.shape.dimension(1);
    const auto taken = [&](const Literal& from, int64_t i) {
      const double value = flushed(from.real_at(i));
      if (!in_one_pass) return value;
      Literal narrow(hlo::Shape::scalar(hlo::ElementType::BF16));
      narrow.set_real(0, value);
      return narrow.real_at(0);
    };
    for (int64_t i = 0; i < result.element_count(); ++i) {
      std::vector<double> terms;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t right = transposed ? i % columns * n + k : k * columns + i % columns;
        const double product = taken(operands[0], i / columns * n + k) * taken(operands[1], right);
        terms.push_back(flushed(static_cast<float>(product)));
      }
      result.set_real(i, sum(terms));
    }
    return result;
  }

  // In f32, in a random order.
  double sum(std::vector<double> terms) {
    for (double& term : terms) term = flushed(term);
    while (terms.size() > 1) {
      std::swap(terms[random_() % terms.size()], terms.back());
      const double last = terms.back();
      terms.pop_back();
      double& other = terms[random_() % terms.size()];
      other = flushed(static_cast<float>(other + last));
    }
    return terms[0];
  }

  double flushed(double value) {
    const bool flush = contract_.flush_subnormals && std::fabs(value) < 0x1p-126 && random_() % 2 == 0;
    return flush ? std::copysign(0.0, value) : value;
  }

  // In [-1, 1]: all values, the ends, or one end.
  double any() {
    if (style_ == 0) return std::uniform_real_distribution<double>(-1, 1)(random_);
    return style_ == 1 && random_() % 2 == 0 ? -1 : 1;
  }

  const hlo::Module& module_;
  const numerics::Contract contract_;
  std::mt19937_64 random_;
  int style_;
};

}  // namespace sapper::bounds
