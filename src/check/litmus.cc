#include "check/litmus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check/single_instruction.h"
#include "hlo/identity_calls.h"
#include "hlo/window_starts.h"

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

// The constant that a scalar is, looking through converts and copies; null when it is none.
const Instruction* constant_behind(const Computation& computation, const Instruction& instruction) {
  const Instruction* at = &instruction;
  while (at->opcode == Opcode::Convert || at->opcode == Opcode::Copy || at->opcode == Opcode::Reshape ||
         at->opcode == Opcode::Bitcast)
    at = &computation.instructions[at->operands[0]];
  return at->opcode == Opcode::Constant && at->literal ? at : nullptr;
}

bool is_lowest(ElementType type, const Literal& value) {
  if (hlo::is_integer(type)) {
    const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
    return value.integer_at(0) == (is_signed ? -(int64_t{1} << (hlo::bit_width(type) - 1)) : 0);
  }
  const double real = value.real_at(0);
  return real == -std::numeric_limits<double>::infinity() || real <= -std::numeric_limits<float>::max();
}

bool is_highest(ElementType type, const Literal& value) {
  if (hlo::is_integer(type)) {
    const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
    const int value_bits = hlo::bit_width(type) - (is_signed ? 1 : 0);
    const auto all = value_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << value_bits) - 1;
    return static_cast<uint64_t>(value.integer_at(0)) == all;
  }
  const double real = value.real_at(0);
  return real == std::numeric_limits<double>::infinity() || real >= std::numeric_limits<float>::max();
}

// Whether combining with `value` changes nothing; true for bodies that are not one known operation.
bool is_neutral(Opcode body, const Literal& value) {
  const ElementType type = value.shape().element_type();
  switch (body) {
    case Opcode::Add:
    case Opcode::Xor: return value.complex_at(0) == std::complex<double>(0);
    case Opcode::Or: return value.integer_at(0) == 0;
    case Opcode::Multiply: return value.complex_at(0) == std::complex<double>(1);
    case Opcode::And:
      return type == ElementType::Pred ? value.integer_at(0) == 1
                                       : value.integer_at(0) == -1 || is_highest(type, value);
    case Opcode::Maximum: return type == ElementType::Pred ? value.integer_at(0) == 0 : is_lowest(type, value);
    case Opcode::Minimum: return type == ElementType::Pred ? value.integer_at(0) == 1 : is_highest(type, value);
    default: return true;
  }
}

// A comparison that says of equal elements that each comes before the other orders nothing.
std::optional<std::string> open_order(const Module& module, const Instruction& sort) {
  const Instruction& root = module.computations[sort.called[0]].root_instruction();
  const std::string& direction = root.attributes().comparison_direction();
  if (root.opcode != Opcode::Compare || direction == "LT" || direction == "GT") return std::nullopt;
  return fmt::format("{} sorts by a comparison {}, which is no strict order", sort.name, direction);
}

std::optional<std::string> open_start(const Module& module, const Computation& computation, const Instruction& fold) {
  if (fold.shape.is_tuple()) return std::nullopt;
  const Instruction* const init = constant_behind(computation, computation.instructions[fold.operands[1]]);
  const Computation& body = module.computations[fold.called[0]];
  if (init == nullptr || !init->shape.is_array() || body.instructions.size() != 3) return std::nullopt;
  const Opcode operation = body.root_instruction().opcode;
  if (is_neutral(operation, *init->literal)) return std::nullopt;
  return fmt::format(
      "{} starts from {}, which is not neutral for {}: how often a reduction uses its initial value is left open",
      fold.name, init->name, hlo::to_string(operation));
}

std::optional<std::string> why_open(const Module& module, const Computation& computation, const Instruction& of) {
  switch (of.opcode) {
    case Opcode::CustomCall:
      if (of.attributes().custom_call_target() != "Eigh") return std::nullopt;
      return fmt::format("{}: the signs of eigenvectors and the order of equal eigenvalues are left open", of.name);
    case Opcode::Rng: return fmt::format("{}: its random numbers are the device's own", of.name);
    case Opcode::RngBitGenerator:
      if (of.attributes().rng_algorithm() != proto::RNG_DEFAULT) return std::nullopt;
      return fmt::format("{}: the default algorithm for random bits is the device's own", of.name);
    case Opcode::Sort: return open_order(module, of);
    case Opcode::Reduce:
    case Opcode::ReduceWindow: return open_start(module, computation, of);
    default: return std::nullopt;
  }
}

// The index vectors of a gather or scatter, in order.
std::vector<std::vector<int64_t>> index_vectors(const Literal& indices, int64_t vector_dim) {
  const hlo::Shape& shape = indices.shape();
  const bool implicit = vector_dim == static_cast<int64_t>(shape.rank());
  const int64_t components = implicit ? 1 : shape.dimension(static_cast<size_t>(vector_dim));
  int64_t inner = 1;  // elements between two components of a vector
  for (size_t d = static_cast<size_t>(vector_dim) + 1; d < shape.rank(); ++d) inner *= shape.dimension(d);
  std::vector<std::vector<int64_t>> vectors;
  const int64_t count = components == 0 ? 0 : indices.element_count() / components;
  for (int64_t v = 0; v < count; ++v) {
    std::vector<int64_t>& vector = vectors.emplace_back();
    for (int64_t c = 0; c < components; ++c)
      vector.push_back(indices.integer_at((v / inner * components + c) * inner + v % inner));
  }
  return vectors;
}

bool overwrites(const Module& module, const Instruction& scatter) {
  const Instruction& root = module.computations[scatter.called[0]].root_instruction();
  return root.opcode == Opcode::Parameter && root.parameter_number == 1;
}

// The operand of a gather or scatter that holds its indices.
hlo::InstructionIndex indices_of(const Instruction& indexing) {
  return indexing.operands[indexing.opcode == Opcode::Scatter ? indexing.operands.size() / 2 : 1];
}

// Whether the indices come through a mark, so that the kernel is made for indices in bounds alone.
bool promises_bounds(const Computation& computation, const Instruction& indexing) {
  std::vector<hlo::InstructionIndex> open{indices_of(indexing)};
  std::vector<bool> seen(computation.instructions.size());
  while (!open.empty()) {
    const hlo::InstructionIndex at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const Instruction& instruction = computation.instructions[at];
    if (hlo::is_index_mark(instruction)) return true;
    open.insert(open.end(), instruction.operands.begin(), instruction.operands.end());
  }
  return false;
}

// An index whose window is not inside; `last` as in hlo/window_starts.h.
std::optional<std::string> out_of_bounds(const Instruction& indexing, const std::vector<std::vector<int64_t>>& vectors,
                                         const std::vector<int64_t>& last) {
  for (const std::vector<int64_t>& vector : vectors)
    for (size_t c = 0; c < vector.size(); ++c)
      if (vector[c] < 0 || vector[c] > last[c])
        return fmt::format("{} is made for indices in bounds, and {} is not", indexing.name, vector[c]);
  return std::nullopt;
}

std::optional<std::string> open_scatter(const Module& module, const Computation& computation,
                                        const Instruction& scatter, const Literal& indices) {
  std::vector<std::vector<int64_t>> vectors =
      index_vectors(indices, scatter.attributes().scatter_dimension_numbers().index_vector_dim());
  if (scatter.attributes().indices_are_sorted() && !std::ranges::is_sorted(vectors))
    return fmt::format("{} says that its indices are sorted, and they are not", scatter.name);
  if (promises_bounds(computation, scatter)) {
    const auto shape = [&](size_t operand) { return computation.instructions[scatter.operands[operand]].shape; };
    const auto last = hlo::last_scatter_starts(scatter, shape(0), shape(scatter.operands.size() / 2 + 1));
    if (auto why = out_of_bounds(scatter, vectors, last)) return why;
  }
  const bool promised = scatter.attributes().unique_indices();
  if (!promised && !overwrites(module, scatter)) return std::nullopt;
  std::ranges::sort(vectors);
  if (std::ranges::adjacent_find(vectors) == vectors.end()) return std::nullopt;
  if (promised) return fmt::format("{} says that its indices are unique, and they are not", scatter.name);
  return fmt::format("{} overwrites an element twice: which of the two stays is left open", scatter.name);
}

std::optional<std::string> open_division(const Instruction& division, const Literal& dividend, const Literal& divisor) {
  const ElementType type = divisor.shape().element_type();
  if (!hlo::is_integer(type)) return std::nullopt;
  const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
  const auto least = static_cast<int64_t>(~uint64_t{0} << (hlo::bit_width(type) - 1));
  for (int64_t i = 0; i < divisor.element_count(); ++i) {
    const int64_t by = divisor.integer_at(i);
    if (by == 0) return fmt::format("{} divides by 0: the result is the device's own", division.name);
    if (is_signed && by == -1 && dividend.integer_at(i) == least)
      return fmt::format("{} divides the least number by -1: the result is the device's own", division.name);
  }
  return std::nullopt;
}

std::optional<std::string> open_conversion(const Instruction& convert, const Literal& operand) {
  const ElementType to = convert.shape.element_type();
  if (!hlo::is_float(operand.shape().element_type()) || !hlo::is_integer(to)) return std::nullopt;
  const bool is_signed = hlo::element_class(to) == hlo::ElementClass::Signed;
  const double high = std::ldexp(1.0, hlo::bit_width(to) - (is_signed ? 1 : 0));
  for (int64_t i = 0; i < operand.element_count(); ++i) {
    const double value = std::trunc(operand.real_at(i));
    if (value >= (is_signed ? -high : 0) && value < high) continue;
    return fmt::format("{} makes an integer of {}, which does not fit: the result is the device's own", convert.name,
                       operand.real_at(i));
  }
  return std::nullopt;
}

bool holds_nan(const Literal& array) {
  if (!hlo::is_float(array.shape().element_type())) return false;
  for (int64_t i = 0; i < array.element_count(); ++i)
    if (std::isnan(array.real_at(i))) return true;
  return false;
}

std::optional<std::string> open_gather(const Computation& computation, const Instruction& gather,
                                       const Literal& indices) {
  const auto& numbers = gather.attributes().gather_dimension_numbers();
  const auto vectors = index_vectors(indices, numbers.index_vector_dim());
  if (gather.attributes().indices_are_sorted() && !std::ranges::is_sorted(vectors))
    return fmt::format("{} says that its indices are sorted, and they are not", gather.name);
  if (!promises_bounds(computation, gather)) return std::nullopt;
  const hlo::Shape& from = computation.instructions[gather.operands[0]].shape;
  return out_of_bounds(gather, vectors, hlo::last_gather_starts(gather, from));
}

std::optional<std::string> why_open_on(const Module& module, const Computation& computation, const Instruction& of,
                                       const std::vector<Literal>& operands) {
  switch (of.opcode) {
    case Opcode::Scatter: return open_scatter(module, computation, of, operands[operands.size() / 2]);
    case Opcode::Gather: return open_gather(computation, of, operands[1]);
    case Opcode::Divide:
    case Opcode::Remainder: return open_division(of, operands[0], operands[1]);
    case Opcode::Convert: return open_conversion(of, operands[0]);
    case Opcode::Sort: {
      const Instruction& root = module.computations[of.called[0]].root_instruction();
      const bool total = root.opcode != Opcode::Compare || root.attributes().comparison_type() == "TOTALORDER";
      if (total || !holds_nan(operands[0])) return std::nullopt;
      return fmt::format("{} sorts NaNs by a comparison that does not order them", of.name);
    }
    default: return std::nullopt;
  }
}

bool may_be_open(const Computation& computation, const Instruction& of) {
  switch (of.opcode) {
    case Opcode::Scatter:
    case Opcode::Sort: return true;
    case Opcode::Gather: return of.attributes().indices_are_sorted() || promises_bounds(computation, of);
    case Opcode::Divide:
    case Opcode::Remainder: return hlo::is_integer(of.shape.element_type());
    case Opcode::Convert:
      return hlo::is_integer(of.shape.element_type()) &&
             hlo::is_float(computation.instructions[of.operands[0]].shape.element_type());
    default: return false;
  }
}

}  // namespace

std::optional<OpenMeaning> open_meaning(const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions)
      if (auto why = why_open(module, computation, instruction)) return OpenMeaning{*why, instruction.opcode};
  return std::nullopt;
}

std::optional<OpenMeaning> open_meaning_on(const Module& module, std::span<const Literal> arguments,
                                           const eval::Options& evaluation) {
  std::optional<OpenMeaning> found;
  eval::Options options = evaluation;
  options.substitute.covers = may_be_open;
  options.substitute.run = [&](const Computation& computation, const Instruction& instruction,
                               std::vector<Literal> operands) -> Result<Literal> {
    if (!found)
      if (auto why = why_open_on(module, computation, instruction, operands))
        found = OpenMeaning{*why, instruction.opcode};
    return eval::evaluate(single_instruction_module(module, computation, instruction), operands);
  };
  const auto evaluated = eval::evaluate(module, arguments, options);
  if (!evaluated && !found)
    return OpenMeaning{
        fmt::format("whether the program has one meaning was not found out: {}", evaluated.error().describe())};
  return found;
}

}  // namespace sapper::check
