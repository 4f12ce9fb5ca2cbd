#include "eval/fold.h"

#include <algorithm>
#include <complex>

#include "eval/dynamic_shape.h"
#include "eval/lane_reduce.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Opcode;

template <Opcode opcode>
void fold_complex(size_t n, const void* lanes, void* running) {
  const auto* elements = static_cast<const std::complex<float>*>(lanes);
  auto* values = static_cast<std::complex<double>*>(running);
  for (size_t i = 0; i < n; ++i) {
    const std::complex<double> element(elements[i]);
    if constexpr (opcode == Opcode::Add) {
      values[i] += element;
    } else {
      values[i] *= element;
    }
  }
}

using WideFunction = void (*)(size_t, const void*, void*);

// How sums and products of a type are carried wider than it; null for types that are not.
WideFunction wide_function(Opcode opcode, ElementType type) {
  if (opcode != Opcode::Add && opcode != Opcode::Multiply) return nullptr;
  if (lane_type(type) == ElementType::F32) return lane_fold(opcode, ElementType::F32).columns;
  if (type != ElementType::C64) return nullptr;
  return opcode == Opcode::Add ? &fold_complex<Opcode::Add> : &fold_complex<Opcode::Multiply>;
}

ElementType wide_type(ElementType type) { return hlo::is_complex(type) ? ElementType::C128 : ElementType::F64; }

const hlo::Shape& part_shape(const hlo::Shape& shape, size_t part) {
  return shape.is_tuple() ? shape.elements()[part] : shape;
}

}  // namespace

Result<Fold> Fold::make(const OpContext& context, std::span<const hlo::Literal> operands) {
  const size_t parts = operands.size() / 2;
  std::vector<ElementType> types;  // of the reducer's arguments: running values, elements
  for (size_t p = 0; p < parts; ++p) types.push_back(operands[parts + p].shape().element_type());
  for (size_t p = 0; p < parts; ++p) types.push_back(operands[p].shape().element_type());
  SAPPER_TRY(ScalarFunction function, ScalarFunction::make(context, 0, types));

  Fold fold(std::move(function));
  if (const ScalarProgram* program = fold.function_.program()) {
    const std::optional<Opcode> operation = program->single_operation();
    if (operation) fold.wide_ = wide_function(*operation, program->parameter_type(0));
  }
  for (size_t p = 0; p < parts; ++p) {
    const hlo::Literal& operand = operands[p];
    const hlo::Literal& init = operands[parts + p];
    const ElementType init_type = init.shape().element_type();
    const ElementType result_type = part_shape(context.instruction.shape, p).element_type();
    const ElementType output_type = fold.function_.output_type(p);
    const ElementType running_type = fold.wide_ != nullptr ? wide_type(init_type) : output_type;

    Part part{operand.bytes().data(),
              LaneReader(operand.shape().element_type(), block),
              LaneBuffer(running_type, block),
              LaneBuffer(running_type, block),
              convert_lanes(running_type, result_type),
              LaneBuffer(result_type, block),
              LaneWriter(result_type, block),
              hlo::host_bytes(result_type),
              hlo::host_bytes(operand.shape().element_type())};
    const LaneOperation to_running = convert_lanes(init_type, running_type);
    LaneReader init_reader(init_type, 1);
    const void* lane = init_reader.read(1, init.bytes().data(), 1);
    for (size_t i = 0; i < block; ++i) to_running.apply(1, part.init.at(i), lane);
    fold.parts_.push_back(std::move(part));
  }
  fold.inputs_.resize(2 * parts);
  fold.outputs_.resize(parts);
  return fold;
}

void Fold::begin(size_t n) {
  for (Part& part : parts_) std::copy(part.init.at(0), part.init.at(n), part.running.at(0));
}

Status Fold::add(size_t first, size_t n, int64_t offset, int64_t stride) {
  const size_t count = parts_.size();
  for (size_t p = 0; p < count; ++p) {
    Part& part = parts_[p];
    outputs_[p] = part.running.at(first);
    inputs_[p] = outputs_[p];
    inputs_[count + p] = part.reader.read(n, part.elements + offset * part.operand_bytes, stride);
  }
  if (wide_ != nullptr) {
    wide_(n, inputs_[1], outputs_[0]);
    return {};
  }
  return function_.run(n, inputs_, outputs_);
}

void Fold::write(size_t n, std::span<std::byte* const> results, int64_t offset, int64_t stride) {
  for (size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    part.to_result.apply(n, part.result_lanes.at(0), part.running.at(0));
    part.writer.write(n, results[p] + offset * part.result_bytes, stride, part.result_lanes.at(0));
  }
}

bool Fold::is_order_free() const {
  if (wide_ != nullptr) return true;
  if (function_.program() == nullptr) return false;
  const std::optional<Opcode> operation = function_.program()->single_operation();
  if (!operation) return false;
  const bool is_arithmetic = *operation == Opcode::Add || *operation == Opcode::Multiply;
  return !is_arithmetic || hlo::is_integer(function_.output_type(0)) || function_.output_type(0) == ElementType::Pred;
}

int64_t Fold::cost() const {
  return wide_ != nullptr ? 2 : 2 * static_cast<int64_t>(function_.program() ? function_.program()->steps().size() : 1);
}

FoldResults::FoldResults(const hlo::Shape& shape) : is_tuple(shape.is_tuple()) {
  const size_t parts = is_tuple ? shape.elements().size() : 1;
  for (size_t p = 0; p < parts; ++p) {
    arrays.push_back(hlo::Literal::uninitialized(part_shape(shape, p)));
    bytes.push_back(arrays.back().mutable_bytes().data());
  }
}

hlo::Literal FoldResults::finish(const std::vector<int64_t>& sizes) {
  for (hlo::Literal& array : arrays) set_actual_sizes(array, sizes);
  return is_tuple ? hlo::Literal::tuple(std::move(arrays)) : std::move(arrays[0]);
}

}  // namespace sapper::eval
