// Custom calls that move or mark values: annotations, TPU buffers, and the 32-bit halves of 64-bit types.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "eval/custom_call.h"
#include "eval/dimensions.h"
#include "eval/topk.h"
#include "eval/unwritten.h"
#include "numerics/float_pair.h"

namespace sapper::eval {
namespace {

tl::unexpected<Error> unknown_form(const OpContext& context, std::string_view expected) {
  return unsupported_custom_call(context, fmt::format("its operands and results are not {}", expected));
}

// Where a slice that an operand holds lies in what it was cut from, along `dimension`. The slice may be asynchronous.
std::optional<int64_t> slice_start(const OpContext& context, size_t operand, int dimension) {
  const std::vector<hlo::Instruction>& instructions = context.computation.instructions;
  const hlo::Instruction* made_by = &instructions[context.instruction.operands[operand]];
  while (made_by->opcode == hlo::Opcode::AsyncDone || made_by->opcode == hlo::Opcode::AsyncUpdate)
    made_by = &instructions[made_by->operands[0]];
  if (made_by->opcode == hlo::Opcode::AsyncStart && made_by->called.size() == 1)
    made_by = &context.module.computations[made_by->called[0]].root_instruction();
  const auto& slices = made_by->attributes().slice_dimensions();
  if (made_by->opcode != hlo::Opcode::Slice || dimension >= slices.size()) return std::nullopt;
  return slices[dimension].start();
}

// On TPU a 64-bit integer is two 32-bit words. An f64 is two f32: the value rounded ("low", the leading part), and what
// the rounding left ("high"). A c64 is its real part ("low") and its imaginary part ("high"), which are its words.
bool are_halves(const hlo::Shape& wide, const hlo::Shape& half) {
  if (!wide.same_dimensions(half)) return false;
  const bool of_floats = wide.element_type() == hlo::ElementType::F64 || wide.element_type() == hlo::ElementType::C64;
  if (of_floats) return half.element_type() == hlo::ElementType::F32;
  return hlo::is_integer(wide.element_type()) && hlo::bit_width(wide.element_type()) == 64 &&
         hlo::is_integer(half.element_type()) && hlo::bit_width(half.element_type()) == 32;
}

template <class OfInteger, class OfFloat>
Result<hlo::Literal> split(const OpContext& context, std::span<const hlo::Literal> operands, OfInteger of_integer,
                           OfFloat of_float) {
  const hlo::Shape& shape = context.instruction.shape;
  if (operands.size() != 1 || !are_halves(operands[0].shape(), shape))
    return unknown_form(context, "a 64-bit array, giving a 32-bit half of it");
  hlo::Literal half = hlo::Literal::uninitialized(shape);
  if (operands[0].shape().element_type() == hlo::ElementType::F64) {
    std::ranges::transform(operands[0].data<double>(), half.mutable_data<float>().begin(), of_float);
  } else {
    std::ranges::transform(operands[0].data<uint64_t>(), half.mutable_data<uint32_t>().begin(), of_integer);
  }
  return half;
}

}  // namespace

// The operand itself. A sharding or placement does not change values; on one device a shard is the whole.
Result<hlo::Literal> call_identity(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = context.instruction.shape;
  if (operands.size() != 1 || !shape.same_ignoring_layout(operands[0].shape()))
    return unsupported_custom_call(context, "its result is not of its operand's shape, so it takes part of it");
  return operands[0];
}

// Memory that the program writes before it reads. What it holds until then is undefined; all bits one (NaN in floats,
// -1 in integers) make a program that reads it give a conspicuous result rather than, by luck, the right one.
Result<hlo::Literal> call_allocate_buffer(const OpContext& context, std::span<const hlo::Literal> /*operands*/) {
  const hlo::Shape& shape = context.instruction.shape;
  if (!shape.is_array()) return unsupported_custom_call(context, "it allocates something else than an array");
  hlo::Literal buffer = hlo::Literal::uninitialized(shape);
  fill_unwritten(shape.element_type(), buffer.mutable_bytes());
  return buffer;
}

// A buffer put together from slices of one array that were copied into it. The order of the operands is not that of the
// slices: each goes where it was cut from.
Result<hlo::Literal> call_concat_bitcast(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = context.instruction.shape;
  const std::vector<int64_t>& dimensions = shape.dimensions();
  if (operands.empty() || !shape.is_array()) return unknown_form(context, "arrays to concatenate");
  const auto differing = [&](const hlo::Shape& part) {
    return std::ranges::mismatch(part.dimensions(), dimensions).in2 - dimensions.begin();
  };
  const auto dimension = static_cast<size_t>(differing(operands[0].shape()));
  if (operands.size() == 1 && dimension == dimensions.size()) return operands[0];

  int64_t covered = 0;
  for (const hlo::Literal& part : operands) {
    std::vector<int64_t> expected = dimensions;
    const bool fits = part.shape().rank() == expected.size() && dimension < expected.size() &&
                      part.shape().element_type() == shape.element_type();
    if (fits) expected[dimension] = part.shape().dimension(dimension);
    if (!fits || part.shape().dimensions() != expected)
      return unknown_form(context, "parts of the result along one dimension");
    covered += expected[dimension];
  }
  if (covered != dimensions[dimension]) return unknown_form(context, "parts that cover the result");

  hlo::Literal result = hlo::Literal::uninitialized(shape);
  const auto inner =
      hlo::element_count(std::span(dimensions).subspan(dimension + 1)) * hlo::host_bytes(shape.element_type());
  const int64_t outer = hlo::element_count(std::span(dimensions).first(dimension));
  std::vector<bool> filled(static_cast<size_t>(covered), false);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::optional<int64_t> start = slice_start(context, i, static_cast<int>(dimension));
    const int64_t size = operands[i].shape().dimension(dimension);
    if (!start || *start < 0 || *start + size > covered ||
        std::any_of(filled.begin() + *start, filled.begin() + *start + size, [](bool taken) { return taken; }))
      return unsupported_custom_call(context, "its operands are not slices that make up one array");
    std::fill_n(filled.begin() + *start, size, true);
    const std::byte* from = operands[i].bytes().data();
    std::byte* to = result.mutable_bytes().data() + *start * inner;
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(to + o * covered * inner, from + o * size * inner, static_cast<size_t>(size * inner));
  }
  return result;
}

Result<hlo::Literal> call_x64_split_low(const OpContext& context, std::span<const hlo::Literal> operands) {
  return split(
      context, operands, [](uint64_t value) { return static_cast<uint32_t>(value); },
      [](double value) { return numerics::as_pair(value).leading; });
}

Result<hlo::Literal> call_x64_split_high(const OpContext& context, std::span<const hlo::Literal> operands) {
  return split(
      context, operands, [](uint64_t value) { return static_cast<uint32_t>(value >> 32); },
      [](double value) { return numerics::as_pair(value).rest; });
}

Result<hlo::Literal> call_x64_combine(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = context.instruction.shape;
  if (operands.size() != 2 || !are_halves(shape, operands[0].shape()) || !are_halves(shape, operands[1].shape()))
    return unknown_form(context, "two 32-bit halves of a 64-bit array");
  hlo::Literal result = hlo::Literal::uninitialized(shape);
  if (shape.element_type() == hlo::ElementType::F64) {
    std::ranges::transform(operands[0].data<float>(), operands[1].data<float>(), result.mutable_data<double>().begin(),
                           [](float leading, float rest) {
                             return numerics::number_of({leading, rest});
                           });
  } else {
    std::ranges::transform(operands[0].data<uint32_t>(), operands[1].data<uint32_t>(),
                           result.mutable_data<uint64_t>().begin(),
                           [](uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; });
  }
  return result;
}

// (values, indices) of the largest or smallest elements of each row, in the total order, best first, earlier ones
// before their equals. The called computation compares two elements.
Result<hlo::Literal> call_top_k(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Instruction& instruction = context.instruction;
  if (operands.size() != 1 || instruction.called.size() != 1)
    return unknown_form(context, "one array and a comparison");
  const std::vector<hlo::Shape>& shapes = instruction.shape.elements();
  const hlo::Shape& operand = operands[0].shape();
  if (shapes.size() != 2 || operand.rank() == 0 || shapes[0].rank() != operand.rank() ||
      !shapes[0].same_dimensions(shapes[1]) || shapes[0].element_type() != operand.element_type() ||
      !hlo::is_integer(shapes[1].element_type()) || shapes[0].dimensions().back() > operand.dimensions().back() ||
      !std::equal(operand.dimensions().begin(), operand.dimensions().end() - 1, shapes[0].dimensions().begin()))
    return unknown_form(context, "one array, giving k values of each row and their indices");
  const hlo::Instruction& root = context.module.computations[instruction.called[0]].root_instruction();
  const std::string& direction = root.attributes().comparison_direction();
  if (root.opcode != hlo::Opcode::Compare || (direction != "GT" && direction != "LT"))
    return unsupported_custom_call(context, "its comparison is not GT or LT");
  return top_k(operands[0], direction == "GT", instruction.shape);
}

// The largest elements of each row in descending order, alone: the compiler packs value and index into one integer
// first.
Result<hlo::Literal> call_top_k_values(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = context.instruction.shape;
  if (operands.size() != 1 || !shape.is_array() || shape.rank() == 0 || operands[0].shape().rank() != shape.rank() ||
      !hlo::is_integer(shape.element_type()) || operands[0].shape().element_type() != shape.element_type() ||
      shape.dimensions().back() > operands[0].shape().dimensions().back() ||
      !std::equal(shape.dimensions().begin(), shape.dimensions().end() - 1, operands[0].shape().dimensions().begin()))
    return unknown_form(context, "one array of integers, giving k values of each row");
  const hlo::Shape indices = hlo::Shape::array(hlo::ElementType::S32, shape.dimensions());
  return top_k(operands[0], /*largest=*/true, hlo::Shape::tuple({shape, indices})).elements()[0];
}

}  // namespace sapper::eval
