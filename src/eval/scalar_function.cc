#include "eval/scalar_function.h"

#include "eval/lane_memory.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;

hlo::Literal literal_of_lane(ElementType type, const void* lane) {
  hlo::Literal scalar(hlo::Shape::scalar(type));
  LaneWriter(type, 1).write(1, scalar.mutable_bytes().data(), 1, lane);
  return scalar;
}

// Whether values of an array's type can stand for those of a computation's: the same, or narrower in the same lanes.
bool fits(ElementType of_array, ElementType of_computation) {
  return of_array == of_computation || lane_type(of_array) == of_computation;
}

tl::unexpected<Error> mismatch(const OpContext& context, hlo::ComputationIndex computation, ElementType of_array,
                               ElementType of_computation) {
  const hlo::Instruction& instruction = context.instruction;
  return fail(
      hlo::error_at(ErrorKind::Unsupported, instruction,
                    fmt::format("not evaluated: {} ({}): {} elements where {} works on {}",
                                hlo::to_string(instruction.opcode), instruction.name, hlo::to_string(of_array),
                                context.module.computations[computation].name, hlo::to_string(of_computation))));
}

void copy_lane(const hlo::Literal& scalar, void* lane) {
  const ElementType type = scalar.shape().element_type();
  std::memcpy(lane, LaneReader(type, 1).read(1, scalar.bytes().data(), 1), lane_bytes(type));
}

}  // namespace

ScalarFunction::ScalarFunction(const OpContext& context, hlo::ComputationIndex computation)
    : context_(&context), computation_(computation), program_(ScalarProgram::compile(context.module, computation)) {
  const hlo::Computation& called = context.module.computations[computation];
  for (const hlo::InstructionIndex parameter : called.parameters()) {
    parameter_types_.push_back(called.instructions[parameter].shape.element_type());
  }
  const hlo::Shape& root = called.root_instruction().shape;
  if (!root.is_tuple()) output_types_.push_back(root.element_type());
  for (const hlo::Shape& element : root.elements()) output_types_.push_back(element.element_type());
}

Result<ScalarFunction> ScalarFunction::make(const OpContext& context, size_t which,
                                            std::span<const ElementType> arguments,
                                            std::span<const ElementType> results) {
  ScalarFunction function(context, context.instruction.called[which]);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!fits(arguments[i], function.parameter_types_[i])) {
      return mismatch(context, function.computation_, arguments[i], function.parameter_types_[i]);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (!fits(results[k], function.output_types_[k])) {
      return mismatch(context, function.computation_, results[k], function.output_types_[k]);
    }
    function.narrow_.push_back(results[k] == function.output_types_[k] ? nullptr : narrow_lanes(results[k]));
  }
  return function;
}

Status ScalarFunction::run(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs) {
  if (program_) {
    program_->run(n, inputs, outputs);
  } else {
    SAPPER_CHECKED(interpret(n, inputs, outputs));
  }
  for (size_t k = 0; k < narrow_.size(); ++k) {
    if (narrow_[k] != nullptr) narrow_[k](n, outputs[k], outputs[k], nullptr, nullptr, 0);
  }
  return {};
}

Status ScalarFunction::interpret(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs) const {
  std::vector<hlo::Literal> arguments(inputs.size());
  for (size_t i = 0; i < n; ++i) {
    for (size_t p = 0; p < inputs.size(); ++p) {
      const ElementType type = parameter_types_[p];
      arguments[p] = literal_of_lane(type, static_cast<const std::byte*>(inputs[p]) + i * lane_bytes(type));
    }
    SAPPER_TRY(const hlo::Literal value, context_->call(computation_, arguments));
    for (size_t k = 0; k < outputs.size(); ++k) {
      const hlo::Literal& element = value.shape().is_tuple() ? value.elements()[k] : value;
      copy_lane(element, static_cast<std::byte*>(outputs[k]) + i * lane_bytes(output_types_[k]));
    }
  }
  return {};
}

}  // namespace sapper::eval
