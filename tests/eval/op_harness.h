// Builds one-operation modules by hand and runs the operation on literals, for tests of the operations in src/eval.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "eval/op.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;
using Dims = std::vector<int64_t>;

// A computation, instruction by instruction.
class ComputationBuilder {
 public:
  hlo::InstructionIndex parameter(const Shape& shape) {
    hlo::Instruction& added = add_instruction(Opcode::Parameter, shape, {});
    added.parameter_number = parameters_++;
    return last();
  }
  hlo::InstructionIndex parameter(ElementType type) { return parameter(Shape::scalar(type)); }
  hlo::InstructionIndex constant(Literal value) {
    const Shape shape = value.shape();
    add_instruction(Opcode::Constant, shape, {}).literal = std::make_shared<Literal>(std::move(value));
    return last();
  }
  hlo::InstructionIndex constant(ElementType type, double value) {
    Literal literal(Shape::scalar(type));
    literal.set_real(0, value);
    return constant(std::move(literal));
  }
  hlo::InstructionIndex add(Opcode opcode, const Shape& shape, std::vector<hlo::InstructionIndex> operands) {
    add_instruction(opcode, shape, std::move(operands));
    return last();
  }
  hlo::InstructionIndex add(Opcode opcode, ElementType type, std::vector<hlo::InstructionIndex> operands) {
    return add(opcode, Shape::scalar(type), std::move(operands));
  }
  hlo::InstructionIndex compare(std::string direction, hlo::InstructionIndex a, hlo::InstructionIndex b,
                                std::string type = "") {
    hlo::Instruction& added = add_instruction(Opcode::Compare, Shape::scalar(ElementType::Pred), {a, b});
    added.edit_attributes().set_comparison_direction(std::move(direction));
    added.edit_attributes().set_comparison_type(std::move(type));
    return last();
  }
  hlo::InstructionIndex tuple(const std::vector<hlo::InstructionIndex>& operands) {
    std::vector<Shape> shapes;
    shapes.reserve(operands.size());
    for (const hlo::InstructionIndex operand : operands) shapes.push_back(computation_.instructions[operand].shape);
    return add(Opcode::Tuple, Shape::tuple(shapes), operands);
  }
  hlo::Instruction& instruction(hlo::InstructionIndex i) { return computation_.instructions[i]; }

  // The last instruction is the root.
  hlo::Computation build(std::string name = "body") {
    computation_.name = std::move(name);
    computation_.root = last();
    return std::move(computation_);
  }

 private:
  hlo::Instruction& add_instruction(Opcode opcode, const Shape& shape, std::vector<hlo::InstructionIndex> operands) {
    hlo::Instruction& added = computation_.instructions.emplace_back();
    added.opcode = opcode;
    added.shape = shape;
    added.operands = std::move(operands);
    added.name = std::string(hlo::to_string(opcode)) + "." + std::to_string(computation_.instructions.size());
    return added;
  }
  [[nodiscard]] hlo::InstructionIndex last() const {
    return static_cast<hlo::InstructionIndex>(computation_.instructions.size() - 1);
  }

  hlo::Computation computation_;
  int64_t parameters_ = 0;
};

// opcode(parameter 0, parameter 1).
inline hlo::Computation binary(Opcode opcode, ElementType type) {
  ComputationBuilder body;
  const auto a = body.parameter(type);
  const auto b = body.parameter(type);
  body.add(opcode, type, {a, b});
  return body.build();
}

// Parameter 1 of two.
inline hlo::Computation second(ElementType type) {
  ComputationBuilder body;
  body.parameter(type);
  body.parameter(type);
  return body.build();
}

// An elementwise body that is no ScalarProgram: opcode(a, b) beside a constant that is not scalar.
inline hlo::Computation interpreted(Opcode opcode, ElementType type) {
  ComputationBuilder body;
  const auto a = body.parameter(type);
  const auto b = body.parameter(type);
  const auto vector = body.constant(Literal(Shape::array(ElementType::S32, {2})));
  const auto reshaped = body.add(opcode, type, {a, b});
  const auto pair = body.tuple({reshaped, vector});
  body.instruction(body.add(Opcode::GetTupleElement, type, {pair})).tuple_index = 0;
  return body.build();
}

using Call = std::function<Result<Literal>(std::span<const Literal>)>;

// Runs `instruction` (its called computations are `called`, in order) on `operands`.
inline Result<Literal> run_op(hlo::Instruction instruction, std::vector<hlo::Computation> called,
                              std::span<const Literal> operands, const Call& call = nullptr,
                              const std::function<void(hlo::Module&)>& edit = nullptr) {
  hlo::Module module;
  instruction.name = "op";
  for (hlo::ComputationIndex i = 0; i < called.size(); ++i) instruction.called.push_back(i);
  module.computations = std::move(called);
  ComputationBuilder entry;
  for (const Literal& operand : operands) instruction.operands.push_back(entry.parameter(operand.shape()));
  hlo::Computation computation = entry.build("entry");
  computation.instructions.push_back(instruction);
  computation.root = static_cast<hlo::InstructionIndex>(operands.size());
  module.computations.push_back(std::move(computation));
  module.entry = static_cast<hlo::ComputationIndex>(module.computations.size() - 1);
  if (edit) edit(module);

  const Options options;
  const OpContext context{module, module.entry_computation(), module.entry_computation().root_instruction(), options,
                          [&](hlo::ComputationIndex, std::span<const Literal> arguments) -> Result<Literal> {
                            if (!call) return fail(ErrorKind::Internal, "unexpected call");
                            return call(arguments);
                          }};
  if (instruction.opcode == Opcode::Scatter) {
    const auto arrays = operands.first(operands.size() / 2);
    return scatter(context, {arrays.begin(), arrays.end()}, operands.subspan(arrays.size()));
  }
  const Op op = find_op(instruction.opcode);
  if (op == nullptr) return fail(ErrorKind::Unsupported, "no operation");
  return op(context, operands);
}

inline Literal must_run(hlo::Instruction instruction, std::vector<hlo::Computation> called,
                        std::span<const Literal> operands, const Call& call = nullptr) {
  Result<Literal> result = run_op(std::move(instruction), std::move(called), operands, call);
  if (!result) throw std::runtime_error(result.error().describe());
  return std::move(*result);
}

inline hlo::Instruction instruction_of(Opcode opcode, const Shape& shape, Dims dimensions = {}) {
  hlo::Instruction instruction;
  instruction.opcode = opcode;
  instruction.shape = shape;
  instruction.dimensions = std::move(dimensions);
  return instruction;
}

// A whole number in an array of any real type.
inline void set_number(Literal& literal, int64_t i, int64_t value) {
  if (hlo::is_float(literal.shape().element_type())) {
    literal.set_real(i, static_cast<double>(value));
  } else {
    literal.set_integer(i, value);
  }
}

template <class T>
Literal literal_of(ElementType type, const Dims& dimensions, const std::vector<T>& values) {
  Literal literal(Shape::array(type, dimensions));
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      literal.set_real(static_cast<int64_t>(i), values[i]);
    } else {
      set_number(literal, static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
    }
  }
  return literal;
}

inline std::vector<double> reals(const Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.element_count(); ++i) values.push_back(literal.real_at(i));
  return values;
}

inline std::vector<int64_t> integers(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.element_count(); ++i) values.push_back(literal.integer_at(i));
  return values;
}

// Row-major index arithmetic in the plainest form, to check the real one against.
inline int64_t flat(const Dims& index, const Dims& dimensions) {
  int64_t position = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) position = position * dimensions[d] + index[d];
  return position;
}

// Calls visit(index) for every index of `dimensions` in row-major order.
template <class Visit>
void for_each_index(const Dims& dimensions, Visit&& visit) {
  if (hlo::element_count(dimensions) == 0) return;
  Dims index(dimensions.size(), 0);
  for (;;) {
    visit(index);
    size_t d = dimensions.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < dimensions[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace sapper::eval
