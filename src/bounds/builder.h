// Building a computation: instructions are added one after the other; Expression makes arithmetic on them readable.
// What the rule of one instruction asks for twice is there once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/module.h"

namespace sapper::bounds {

class Builder {
 public:
  explicit Builder(std::string_view name) { computation_.name.assign(name); }

  // From now on for the instruction `name`: names of added ones begin with it. Those before it are not given again:
  // they would have to be kept in memory, which costs more than computing them again.
  void name_after(std::string_view name);

  [[nodiscard]] const hlo::Instruction& at(hlo::InstructionIndex index) const {
    return computation_.instructions[index];
  }
  [[nodiscard]] hlo::Shape shape(hlo::InstructionIndex index) const { return at(index).shape; }

  // Keeps the instruction's name.
  hlo::InstructionIndex copy(hlo::Instruction instruction, std::vector<hlo::InstructionIndex> operands);
  hlo::InstructionIndex add(hlo::Opcode opcode, hlo::Shape shape, std::vector<hlo::InstructionIndex> operands);
  // Like `like` with another shape and other operands: a movement, a sum, ... of something else.
  hlo::InstructionIndex add_like(const hlo::Instruction& like, hlo::Shape shape,
                                 std::vector<hlo::InstructionIndex> operands);
  hlo::InstructionIndex compare(std::string_view direction, hlo::InstructionIndex a, hlo::InstructionIndex b);
  hlo::InstructionIndex parameter(int64_t number, hlo::Shape shape);
  hlo::InstructionIndex element(hlo::InstructionIndex tuple, size_t index);
  // A scalar.
  hlo::InstructionIndex constant(hlo::ElementType type, double value);
  // `value` everywhere in an array of `like`'s dimensions.
  hlo::InstructionIndex splat(double value, const hlo::Shape& like);
  hlo::InstructionIndex broadcast(hlo::InstructionIndex scalar, const hlo::Shape& like);
  // Dimension i of `array` becomes dimension `dimensions[i]` of `shape`.
  hlo::InstructionIndex broadcast_along(hlo::InstructionIndex array, std::vector<int64_t> dimensions, hlo::Shape shape);

  [[nodiscard]] hlo::Computation finish(hlo::InstructionIndex root) &&;

 private:
  hlo::InstructionIndex append(hlo::Instruction made);
  std::optional<hlo::InstructionIndex> before_broadcast(const hlo::Instruction& made);
  // One that is there and is the same but for its name; else appends it.
  hlo::InstructionIndex once(hlo::Instruction made);

  hlo::Computation computation_;
  std::string name_;
  // Added since name_after().
  std::map<std::pair<hlo::Opcode, std::vector<hlo::InstructionIndex>>, std::vector<hlo::InstructionIndex>> added_;
};

// An array of real numbers (or preds, where a condition is meant) of the computation under construction. Operands of
// one operation have the same dimensions; f32 with f64 is computed in f64.
struct Expression {
  Builder* builder = nullptr;
  hlo::InstructionIndex index = 0;
  [[nodiscard]] hlo::Shape shape() const { return builder->shape(index); }
  [[nodiscard]] Expression constant(double value) const { return {builder, builder->splat(value, shape())}; }
};

[[nodiscard]] Expression converted(Expression a, hlo::ElementType type);
[[nodiscard]] Expression unary(hlo::Opcode opcode, Expression a);
[[nodiscard]] Expression binary(hlo::Opcode opcode, Expression a, Expression b);
[[nodiscard]] Expression compare(std::string_view direction, Expression a, Expression b);
[[nodiscard]] Expression where(Expression condition, Expression a, Expression b);

inline Expression operator+(Expression a, Expression b) { return binary(hlo::Opcode::Add, a, b); }
inline Expression operator-(Expression a, Expression b) { return binary(hlo::Opcode::Subtract, a, b); }
inline Expression operator*(Expression a, Expression b) { return binary(hlo::Opcode::Multiply, a, b); }
inline Expression operator/(Expression a, Expression b) { return binary(hlo::Opcode::Divide, a, b); }
inline Expression operator+(Expression a, double b) { return a + a.constant(b); }
inline Expression operator-(Expression a, double b) { return a - a.constant(b); }
inline Expression operator-(double a, Expression b) { return b.constant(a) - b; }
inline Expression operator*(Expression a, double b) { return a * a.constant(b); }
inline Expression operator/(Expression a, double b) { return a / a.constant(b); }
inline Expression operator/(double a, Expression b) { return b.constant(a) / b; }
inline Expression operator>(Expression a, Expression b) { return compare("GT", a, b); }
inline Expression operator>(Expression a, double b) { return a > a.constant(b); }
inline Expression operator>=(Expression a, Expression b) { return compare("GE", a, b); }
inline Expression operator<=(Expression a, Expression b) { return compare("LE", a, b); }
inline Expression operator<=(Expression a, double b) { return a <= a.constant(b); }
inline Expression operator<(Expression a, Expression b) { return compare("LT", a, b); }
inline Expression operator<(Expression a, double b) { return a < a.constant(b); }
inline Expression operator&(Expression a, Expression b) { return binary(hlo::Opcode::And, a, b); }
inline Expression operator|(Expression a, Expression b) { return binary(hlo::Opcode::Or, a, b); }
inline Expression operator!(Expression a) { return unary(hlo::Opcode::Not, a); }
inline Expression max(Expression a, Expression b) { return binary(hlo::Opcode::Maximum, a, b); }
inline Expression max(Expression a, double b) { return max(a, a.constant(b)); }
inline Expression min(Expression a, Expression b) { return binary(hlo::Opcode::Minimum, a, b); }
inline Expression min(Expression a, double b) { return min(a, a.constant(b)); }
// Of what cannot be negative: itself.
[[nodiscard]] Expression abs(Expression a);
inline Expression sqrt(Expression a) { return unary(hlo::Opcode::Sqrt, a); }
inline Expression exp(Expression a) { return unary(hlo::Opcode::Exponential, a); }
inline Expression log(Expression a) { return unary(hlo::Opcode::Log, a); }
inline Expression floor(Expression a) { return unary(hlo::Opcode::Floor, a); }
inline Expression ceil(Expression a) { return unary(hlo::Opcode::Ceil, a); }

}  // namespace sapper::bounds
