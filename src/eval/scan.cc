// scan: a computation applied along one dimension with values carried from step to step. Operands are the inputs, then
// the initial carries; each step gets one slice of every input (without the dimension) and the carries, and gives one
// slice of every output and the next carries; the result is the outputs, then the last carries.
#include "eval/index_space.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// One array taken apart, or put together, along the scanned dimension.
class Slices {
 public:
  Slices(const hlo::Shape& shape, size_t dimension)
      : outer_(hlo::element_count(std::span(shape.dimensions()).first(dimension))),
        size_(shape.dimension(dimension)),
        inner_bytes_(hlo::element_count(std::span(shape.dimensions()).subspan(dimension + 1)) *
                     hlo::host_bytes(shape.element_type())) {
    std::vector<int64_t> dimensions = shape.dimensions();
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(dimension));
    shape_ = hlo::Shape::array(shape.element_type(), std::move(dimensions));
  }

  hlo::Literal take(const hlo::Literal& array, int64_t i) const {
    hlo::Literal slice = hlo::Literal::uninitialized(shape_);
    std::byte* to = slice.mutable_bytes().data();
    for (int64_t o = 0; o < outer_; ++o) {
      std::memcpy(to + o * inner_bytes_, array.bytes().data() + (o * size_ + i) * inner_bytes_, bytes());
    }
    return slice;
  }

  void put(const hlo::Literal& slice, int64_t i, std::byte* array) const {
    for (int64_t o = 0; o < outer_; ++o) {
      std::memcpy(array + (o * size_ + i) * inner_bytes_, slice.bytes().data() + o * inner_bytes_, bytes());
    }
  }

 private:
  [[nodiscard]] size_t bytes() const { return static_cast<size_t>(inner_bytes_); }

  int64_t outer_;
  int64_t size_;
  int64_t inner_bytes_;
  hlo::Shape shape_;
};

std::vector<hlo::Literal> elements_of(hlo::Literal value) {
  if (value.shape().is_tuple()) return std::move(value.mutable_elements());
  std::vector<hlo::Literal> single;
  single.push_back(std::move(value));
  return single;
}

}  // namespace

Result<hlo::Literal> scan(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Instruction& instruction = context.instruction;
  const auto dimension = static_cast<size_t>(instruction.dimensions[0]);
  const auto carried = static_cast<size_t>(instruction.attributes().num_carries());
  const std::span<const hlo::Literal> inputs = operands.first(operands.size() - carried);
  std::vector<hlo::Literal> carries(operands.end() - static_cast<std::ptrdiff_t>(carried), operands.end());
  if (inputs.empty()) {
    return fail(hlo::error_at(ErrorKind::Unsupported, instruction,
                              fmt::format("not evaluated: scan ({}) without inputs", instruction.name)));
  }

  std::vector<hlo::Literal> results = elements_of(hlo::Literal(instruction.shape));
  const size_t output_count = results.size() - carried;
  std::vector<Slices> input_slices;
  std::vector<Slices> output_slices;
  for (const hlo::Literal& input : inputs) input_slices.emplace_back(input.shape(), dimension);
  for (size_t k = 0; k < output_count; ++k) output_slices.emplace_back(results[k].shape(), dimension);

  const int64_t steps = inputs[0].shape().dimension(dimension);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t i = instruction.attributes().is_reverse() ? steps - 1 - step : step;
    std::vector<hlo::Literal> arguments;
    for (size_t k = 0; k < inputs.size(); ++k) arguments.push_back(input_slices[k].take(inputs[k], i));
    for (hlo::Literal& carry : carries) arguments.push_back(std::move(carry));
    SAPPER_TRY(hlo::Literal value, context.call(instruction.called[0], arguments));
    std::vector<hlo::Literal> given = elements_of(std::move(value));
    for (size_t k = 0; k < output_count; ++k) {
      output_slices[k].put(given[k], i, results[k].mutable_bytes().data());
    }
    carries.assign(std::make_move_iterator(given.begin() + static_cast<std::ptrdiff_t>(output_count)),
                   std::make_move_iterator(given.end()));
  }
  std::move(carries.begin(), carries.end(), results.begin() + static_cast<std::ptrdiff_t>(output_count));
  return instruction.shape.is_tuple() ? hlo::Literal::tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace sapper::eval
