#include "tests/check/hlo_mutants.h"

#include <algorithm>
#include <optional>

#include "hlo/rewriter.h"
#include "hlo/verifier.h"

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;
using hlo::Rewriter;
using hlo::Shape;

// One place in a module, and what stands there while the module is rewritten.
struct Place {
  const Module& module;
  const Computation& computation;
  const Instruction& it;

  [[nodiscard]] const Instruction& operand(size_t i) const { return computation.instructions[it.operands[i]]; }
  [[nodiscard]] const Shape& shape(size_t i) const { return operand(i).shape; }
  [[nodiscard]] bool is(std::initializer_list<Opcode> opcodes) const {
    return std::ranges::find(opcodes, it.opcode) != opcodes.end();
  }
  [[nodiscard]] bool is_float_array() const { return it.shape.is_array() && hlo::is_float(it.shape.element_type()); }
  // What called computation `i` ends in, if that takes two operands.
  [[nodiscard]] std::optional<Opcode> body(size_t i) const {
    const Instruction& root = module.computations[it.called[i]].root_instruction();
    return root.operands.size() == 2 ? std::optional(root.opcode) : std::nullopt;
  }
};

// What stands in the place of the changed instruction; nullopt: there is nothing of the kind to change. Called with no
// rewriter to be asked whether there is.
using Change = std::optional<InstructionIndex> (*)(const Place& place, Rewriter* to);

constexpr InstructionIndex asked = 0;

InstructionIndex constant(Rewriter& to, const Instruction& like, ElementType type, double value) {
  Literal literal(Shape::scalar(type));
  literal.set_real(0, value);
  Instruction made;
  made.opcode = Opcode::Constant;
  made.name = fmt::format("{}.constant.{}", like.name, value);
  made.shape = literal.shape();
  made.literal = std::make_shared<const Literal>(std::move(literal));
  return to.copy(std::move(made), {});
}

InstructionIndex splat(Rewriter& to, const Instruction& like, ElementType type, double value) {
  const InstructionIndex scalar = constant(to, like, type, value);
  return like.shape.rank() == 0 ? scalar : to.add(Opcode::Broadcast, like, type, {scalar});
}

// `operand`, an old instruction, through a narrower type and back.
InstructionIndex through(Rewriter& to, const Instruction& operand, InstructionIndex old, ElementType narrow) {
  const InstructionIndex narrowed = to.add(Opcode::Convert, operand, narrow, {to.moved(old)});
  return to.add(Opcode::Convert, operand, operand.shape.element_type(), {narrowed});
}

// A dimension of the result other than `not_this` and as long as it.
std::optional<int64_t> twin(const Shape& shape, int64_t not_this, const std::vector<int64_t>& taken) {
  for (int64_t d = 0; d < static_cast<int64_t>(shape.rank()); ++d)
    if (d != not_this && std::ranges::find(taken, d) == taken.end() && shape.dimension(static_cast<size_t>(d)) > 1 &&
        shape.dimension(static_cast<size_t>(d)) == shape.dimension(static_cast<size_t>(not_this)))
      return d;
  return std::nullopt;
}

std::optional<InstructionIndex> swapped_operands(const Place& place, Rewriter* to) {
  size_t first = 0;
  switch (place.it.opcode) {
    case Opcode::Atan2:
    case Opcode::Complex:
    case Opcode::Divide:
    case Opcode::Dot:
    case Opcode::Power:
    case Opcode::Remainder:
    case Opcode::ShiftLeft:
    case Opcode::ShiftRightLogical:
    case Opcode::ShiftRightArithmetic:
    case Opcode::Subtract: break;
    case Opcode::Compare: {
      const std::string& direction = place.it.attributes().comparison_direction();
      if (direction == "EQ" || direction == "NE") return std::nullopt;
      break;
    }
    case Opcode::Concatenate:
      if (place.it.operands.size() < 2) return std::nullopt;
      break;
    case Opcode::Select: first = 1; break;
    default: return std::nullopt;
  }
  if (place.it.operands[first] == place.it.operands[first + 1] ||
      !place.shape(first).same_ignoring_layout(place.shape(first + 1)))
    return std::nullopt;
  if (to == nullptr) return asked;
  std::vector<InstructionIndex> operands = to->moved_operands(place.it);
  std::swap(operands[first], operands[first + 1]);
  return to->copy(place.it, std::move(operands));
}

std::optional<InstructionIndex> neighbouring_compare(const Place& place, Rewriter* to) {
  if (place.it.opcode != Opcode::Compare) return std::nullopt;
  constexpr std::pair<const char*, const char*> neighbours[] = {{"LT", "LE"}, {"LE", "LT"}, {"GT", "GE"},
                                                                {"GE", "GT"}, {"EQ", "GE"}, {"NE", "GT"}};
  for (const auto& [from, other] : neighbours) {
    if (place.it.attributes().comparison_direction() != from) continue;
    if (hlo::is_complex(place.shape(0).element_type())) return std::nullopt;
    if (to == nullptr) return asked;
    Instruction changed = place.it;
    changed.edit_attributes().set_comparison_direction(other);
    return to->copy(std::move(changed), to->moved_operands(place.it));
  }
  return std::nullopt;
}

std::optional<InstructionIndex> dropped_convert(const Place& place, Rewriter* to) {
  if (place.it.opcode == Opcode::ReducePrecision) {
    if (to == nullptr) return asked;
    return to->moved(place.it.operands[0]);
  }
  if (place.it.opcode != Opcode::Convert || place.operand(0).opcode != Opcode::Convert) return std::nullopt;
  const InstructionIndex inner = place.operand(0).operands[0];
  const Shape& from = place.computation.instructions[inner].shape;
  if (from.element_type() != place.it.shape.element_type()) return std::nullopt;
  if (to == nullptr) return asked;
  return to->moved(inner);
}

std::optional<InstructionIndex> changed_rounding(const Place& place, Rewriter* to) {
  const auto other = [&](Opcode opcode) -> std::optional<InstructionIndex> {
    if (to == nullptr) return asked;
    return to->add(opcode, place.it, place.it.shape.element_type(), {to->moved(place.it.operands[0])});
  };
  switch (place.it.opcode) {
    case Opcode::RoundNearestEven: return other(Opcode::RoundNearestAfz);
    case Opcode::RoundNearestAfz:
    case Opcode::Floor:
    case Opcode::Ceil: return other(Opcode::RoundNearestEven);
    case Opcode::Convert: break;
    default: return std::nullopt;
  }
  const Instruction& operand = place.operand(0);
  const ElementType from = operand.shape.element_type(), type = place.it.shape.element_type();
  if (hlo::is_float(from) && hlo::is_integer(type)) {
    if (to == nullptr) return asked;
    const InstructionIndex rounded =
        to->add(Opcode::RoundNearestEven, operand, from, {to->moved(place.it.operands[0])});
    return to->copy(place.it, {rounded});
  }
  return std::nullopt;
}

// The low half cut off instead of rounded away.
std::optional<InstructionIndex> truncated_convert(const Place& place, Rewriter* to) {
  if (place.it.opcode != Opcode::Convert || place.shape(0).element_type() != ElementType::F32 ||
      place.it.shape.element_type() != ElementType::BF16)
    return std::nullopt;
  if (to == nullptr) return asked;
  const Instruction& operand = place.operand(0);
  const InstructionIndex bits =
      to->add(Opcode::BitcastConvert, operand, ElementType::U32, {to->moved(place.it.operands[0])});
  const InstructionIndex mask = splat(*to, operand, ElementType::U32, 4294901760.0);
  const InstructionIndex cut = to->add(Opcode::And, operand, ElementType::U32, {bits, mask});
  return to->copy(place.it, {to->add(Opcode::BitcastConvert, operand, ElementType::F32, {cut})});
}

std::optional<InstructionIndex> wrong_init(const Place& place, Rewriter* to) {
  if (!place.is({Opcode::Reduce, Opcode::ReduceWindow}) || place.it.operands.size() != 2) return std::nullopt;
  const ElementType type = place.it.shape.element_type();
  const std::optional<Opcode> body = place.body(0);
  if (!body || hlo::is_complex(type)) return std::nullopt;
  double init = 0;
  switch (*body) {
    case Opcode::Add: init = 1; break;
    case Opcode::Multiply: init = 2; break;
    case Opcode::And: init = 0; break;
    case Opcode::Or: init = 1; break;
    case Opcode::Maximum:
    case Opcode::Minimum: init = 0; break;
    default: return std::nullopt;
  }
  if (to == nullptr) return asked;
  return to->copy(place.it, {to->moved(place.it.operands[0]), constant(*to, place.it, type, init)});
}

std::optional<InstructionIndex> slice_off_by_one(const Place& place, Rewriter* to) {
  if (place.it.opcode != Opcode::Slice) return std::nullopt;
  for (int d = 0; d < place.it.attributes().slice_dimensions_size(); ++d) {
    const auto& range = place.it.attributes().slice_dimensions(d);
    const int64_t size = place.shape(0).dimension(static_cast<size_t>(d));
    const int64_t by = range.limit() < size ? 1 : -1;
    if (range.limit() >= size && range.start() == 0) continue;
    if (to == nullptr) return asked;
    Instruction changed = place.it;
    auto* const moved = changed.edit_attributes().mutable_slice_dimensions(d);
    moved->set_start(range.start() + by);
    moved->set_limit(range.limit() + by);
    return to->copy(std::move(changed), to->moved_operands(place.it));
  }
  return std::nullopt;
}

// The first start of a window that can move at all.
std::optional<InstructionIndex> index_off_by_one(const Place& place, Rewriter* to) {
  const bool updates = place.it.opcode == Opcode::DynamicUpdateSlice;
  if (!updates && place.it.opcode != Opcode::DynamicSlice) return std::nullopt;
  const size_t first = updates ? 2 : 1;
  const Shape& window = updates ? place.shape(1) : place.it.shape;
  for (size_t d = 0; d < window.rank(); ++d) {
    if (first + d >= place.it.operands.size() || place.shape(first + d).rank() != 0) return std::nullopt;
    if (window.dimension(d) == place.shape(0).dimension(d)) continue;
    if (to == nullptr) return asked;
    std::vector<InstructionIndex> operands = to->moved_operands(place.it);
    const Instruction& index = place.operand(first + d);
    const ElementType type = index.shape.element_type();
    operands[first + d] = to->add(Opcode::Add, index, type, {operands[first + d], constant(*to, index, type, 1)});
    return to->copy(place.it, std::move(operands));
  }
  return std::nullopt;
}

std::optional<InstructionIndex> pad_off_by_one(const Place& place, Rewriter* to) {
  if (place.it.opcode != Opcode::Pad) return std::nullopt;
  for (int d = 0; d < place.it.attributes().padding_config().dimensions_size(); ++d) {
    const auto& padding = place.it.attributes().padding_config().dimensions(d);
    if (padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0) continue;
    if (to == nullptr) return asked;
    Instruction changed = place.it;
    auto* const moved = changed.edit_attributes().mutable_padding_config()->mutable_dimensions(d);
    const int64_t by = padding.edge_padding_high() > 0 ? 1 : -1;
    moved->set_edge_padding_low(padding.edge_padding_low() + by);
    moved->set_edge_padding_high(padding.edge_padding_high() - by);
    return to->copy(std::move(changed), to->moved_operands(place.it));
  }
  return std::nullopt;
}

std::optional<InstructionIndex> iota_off_by_one(const Place& place, Rewriter* to) {
  if (place.it.opcode != Opcode::Iota || hlo::is_complex(place.it.shape.element_type())) return std::nullopt;
  if (to == nullptr) return asked;
  const ElementType type = place.it.shape.element_type();
  const InstructionIndex counts = to->copy(place.it, {});
  return to->add(Opcode::Add, place.it, type, {counts, splat(*to, place.it, type, 1)});
}

std::optional<InstructionIndex> wrong_dimension(const Place& place, Rewriter* to) {
  std::vector<int64_t> dimensions = place.it.dimensions;
  bool changed = false;
  switch (place.it.opcode) {
    case Opcode::Broadcast:
    case Opcode::Iota:
    case Opcode::Reverse:
      for (size_t i = 0; i < dimensions.size() && !changed; ++i)
        if (const auto other = twin(place.it.shape, dimensions[i], dimensions)) {
          dimensions[i] = *other;
          changed = std::ranges::is_sorted(dimensions) || place.it.opcode != Opcode::Broadcast;
          if (!changed) dimensions = place.it.dimensions;
        }
      break;
    case Opcode::Reduce:
      if (place.it.shape.is_array() && place.it.operands.size() == 2)
        for (size_t i = 0; i < dimensions.size() && !changed; ++i)
          if (const auto other = twin(place.shape(0), dimensions[i], dimensions)) {
            dimensions[i] = *other;
            changed = true;
          }
      break;
    case Opcode::Transpose:
      for (size_t i = 0; i < dimensions.size() && !changed; ++i)
        if (const auto other = twin(place.it.shape, static_cast<int64_t>(i), {})) {
          std::swap(dimensions[i], dimensions[static_cast<size_t>(*other)]);
          changed = true;
        }
      break;
    default: break;
  }
  if (!changed) return std::nullopt;
  if (to == nullptr) return asked;
  Instruction made = place.it;
  made.dimensions = std::move(dimensions);
  return to->copy(std::move(made), to->moved_operands(place.it));
}

std::optional<InstructionIndex> narrowed_index(const Place& place, Rewriter* to) {
  size_t first = 1;
  switch (place.it.opcode) {
    case Opcode::Gather:
    case Opcode::Scatter:
    case Opcode::DynamicSlice: break;
    case Opcode::DynamicUpdateSlice: first = 2; break;
    case Opcode::Iota: {
      const ElementType type = place.it.shape.element_type();
      const auto d = static_cast<size_t>(place.it.dimensions[0]);
      if (!hlo::is_integer(type) || hlo::bit_width(type) <= 8 || place.it.shape.dimension(d) <= 128)
        return std::nullopt;
      if (to == nullptr) return asked;
      const InstructionIndex narrow = to->add(Opcode::Convert, place.it, ElementType::S8, {to->copy(place.it, {})});
      return to->add(Opcode::Convert, place.it, type, {narrow});
    }
    default: return std::nullopt;
  }
  const bool scatters = place.it.opcode == Opcode::Scatter;
  if (scatters && place.it.operands.size() != 3) return std::nullopt;
  const auto& sizes = place.shape(0).dimensions();
  if (std::ranges::none_of(sizes, [](int64_t size) { return size > 128; })) return std::nullopt;
  if (to == nullptr) return asked;
  std::vector<InstructionIndex> operands = to->moved_operands(place.it);
  const size_t end = place.is({Opcode::Gather, Opcode::Scatter}) ? first + 1 : operands.size();
  for (size_t i = first; i < end; ++i)
    operands[i] = through(*to, place.operand(i), place.it.operands[i], ElementType::S8);
  return to->copy(place.it, std::move(operands));
}

bool is_constant(const Place& place, size_t i) {
  const Instruction& operand = place.operand(i);
  if (operand.opcode == Opcode::Constant) return true;
  return operand.opcode == Opcode::Broadcast &&
         place.computation.instructions[operand.operands[0]].opcode == Opcode::Constant;
}

std::optional<InstructionIndex> missing_clamp(const Place& place, Rewriter* to) {
  size_t kept = 1;
  if (place.is({Opcode::Maximum, Opcode::Minimum})) {
    if (is_constant(place, 0) == is_constant(place, 1)) return std::nullopt;
    kept = is_constant(place, 0) ? 1 : 0;
  } else if (place.it.opcode != Opcode::Clamp) {
    return std::nullopt;
  }
  if (to == nullptr) return asked;
  return to->moved(place.it.operands[kept]);
}

// `operand` without what is last along `dimension`.
InstructionIndex without_last(Rewriter& to, const Instruction& operand, InstructionIndex old, int64_t dimension) {
  Instruction slice;
  slice.opcode = Opcode::Slice;
  slice.name = operand.name + ".but_last";
  std::vector<int64_t> sizes = operand.shape.dimensions();
  sizes[static_cast<size_t>(dimension)] -= 1;
  for (const int64_t size : sizes) {
    auto* const range = slice.edit_attributes().add_slice_dimensions();
    range->set_limit(size);
    range->set_stride(1);
  }
  slice.shape = Shape::array(operand.shape.element_type(), std::move(sizes));
  return to.copy(std::move(slice), {to.moved(old)});
}

std::optional<InstructionIndex> dropped_term(const Place& place, Rewriter* to) {
  if (place.it.opcode == Opcode::Reduce && place.it.operands.size() == 2 && !place.it.dimensions.empty()) {
    if (place.shape(0).dimension(static_cast<size_t>(place.it.dimensions[0])) < 2) return std::nullopt;
    if (to == nullptr) return asked;
    return to->copy(place.it, {without_last(*to, place.operand(0), place.it.operands[0], place.it.dimensions[0]),
                               to->moved(place.it.operands[1])});
  }
  if (place.it.opcode != Opcode::Dot) return std::nullopt;
  const auto& numbers = place.it.attributes().dot_dimension_numbers();
  if (numbers.lhs_contracting_dimensions_size() == 0) return std::nullopt;
  const int64_t left = numbers.lhs_contracting_dimensions(0), right = numbers.rhs_contracting_dimensions(0);
  if (place.shape(0).dimension(static_cast<size_t>(left)) < 2 || place.it.operands[0] == place.it.operands[1])
    return std::nullopt;
  if (to == nullptr) return asked;
  return to->copy(place.it, {without_last(*to, place.operand(0), place.it.operands[0], left),
                             without_last(*to, place.operand(1), place.it.operands[1], right)});
}

std::optional<InstructionIndex> wrong_sign(const Place& place, Rewriter* to) {
  if (!place.it.shape.is_array() || place.it.shape.element_type() == ElementType::Pred) return std::nullopt;
  switch (place.it.opcode) {
    case Opcode::Add:
    case Opcode::Subtract: {
      if (to == nullptr) return asked;
      Instruction changed = place.it;
      changed.opcode = place.it.opcode == Opcode::Add ? Opcode::Subtract : Opcode::Add;
      return to->copy(std::move(changed), to->moved_operands(place.it));
    }
    case Opcode::Abs:
      if (!place.shape(0).same_ignoring_layout(place.it.shape)) return std::nullopt;
      [[fallthrough]];
    case Opcode::Negate: return to == nullptr ? asked : to->moved(place.it.operands[0]);
    default: return std::nullopt;
  }
}

// The last column of an elementwise operation is its operand: a loop over vectors that forgets the rest.
std::optional<InstructionIndex> forgotten_rest(const Place& place, Rewriter* to) {
  if (!place.is_float_array() || place.it.operands.empty() || place.it.operands.size() > 2 ||
      place.it.shape.rank() == 0)
    return std::nullopt;
  if (!place.is({Opcode::Add, Opcode::Multiply, Opcode::Divide, Opcode::Exponential, Opcode::Tanh, Opcode::Logistic,
                 Opcode::Log, Opcode::Sqrt, Opcode::Rsqrt, Opcode::Negate, Opcode::Maximum}))
    return std::nullopt;
  const auto last = static_cast<int64_t>(place.it.shape.rank()) - 1;
  const int64_t size = place.it.shape.dimension(static_cast<size_t>(last));
  if (size < 2 || place.it.shape.element_count() == 0) return std::nullopt;
  if (to == nullptr) return asked;
  Instruction iota;
  iota.opcode = Opcode::Iota;
  iota.name = place.it.name + ".column";
  iota.shape = Shape::array(ElementType::S32, place.it.shape.dimensions());
  iota.dimensions = {last};
  const InstructionIndex column = to->copy(std::move(iota), {});
  const InstructionIndex end = splat(*to, place.it, ElementType::S32, static_cast<double>(size - 1));
  const InstructionIndex done = to->copy(place.it, to->moved_operands(place.it));
  Instruction compare;
  compare.opcode = Opcode::Compare;
  compare.name = place.it.name + ".is_rest";
  compare.shape = Shape::array(ElementType::Pred, place.it.shape.dimensions());
  compare.edit_attributes().set_comparison_direction("EQ");
  const InstructionIndex rest = to->copy(std::move(compare), {column, end});
  return to->add(Opcode::Select, place.it, place.it.shape.element_type(),
                 {rest, to->moved(place.it.operands[0]), done});
}

// Terms rounded to bf16 before they are added up.
std::optional<InstructionIndex> narrowed_terms(const Place& place, Rewriter* to) {
  const bool sums = place.it.opcode == Opcode::Reduce && place.it.operands.size() == 2 && place.body(0) == Opcode::Add;
  if (!sums && !place.is({Opcode::Dot, Opcode::Convolution})) return std::nullopt;
  if (place.it.shape.element_type() != ElementType::F32 || place.shape(0).element_type() != ElementType::F32)
    return std::nullopt;
  if (to == nullptr) return asked;
  std::vector<InstructionIndex> operands = to->moved_operands(place.it);
  operands[0] = through(*to, place.operand(0), place.it.operands[0], ElementType::BF16);
  return to->copy(place.it, std::move(operands));
}

struct Kind {
  std::string_view name;
  Change change;
};

constexpr Kind kinds[] = {{"swapped operands", swapped_operands},
                          {"neighbouring compare", neighbouring_compare},
                          {"dropped convert", dropped_convert},
                          {"changed rounding", changed_rounding},
                          {"truncated convert", truncated_convert},
                          {"wrong init", wrong_init},
                          {"slice off by one", slice_off_by_one},
                          {"index off by one", index_off_by_one},
                          {"pad off by one", pad_off_by_one},
                          {"iota off by one", iota_off_by_one},
                          {"wrong dimension", wrong_dimension},
                          {"narrowed index", narrowed_index},
                          {"missing clamp", missing_clamp},
                          {"dropped term", dropped_term},
                          {"wrong sign", wrong_sign},
                          {"forgotten rest", forgotten_rest},
                          {"narrowed terms", narrowed_terms}};

Module with_change(const Module& module, size_t computation, InstructionIndex changed, Change change) {
  Module mutant = module;
  const Computation& from = module.computations[computation];
  Rewriter rewriter(from);
  mutant.computations[computation] = rewriter.run([&](const Instruction& instruction) {
    if (&instruction != &from.instructions[changed])
      return rewriter.copy(instruction, rewriter.moved_operands(instruction));
    return *change({module, from, instruction}, &rewriter);
  });
  return mutant;
}

}  // namespace

std::vector<std::string_view> hlo_mutant_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

std::vector<HloMutant> mutants_of(const Module& module, size_t most) {
  std::vector<HloMutant> mutants;
  for (const Kind& kind : kinds) {
    std::vector<std::pair<size_t, InstructionIndex>> places;
    for (size_t c = 0; c < module.computations.size(); ++c) {
      const Computation& computation = module.computations[c];
      for (InstructionIndex i = 0; i < computation.instructions.size(); ++i)
        if (kind.change({module, computation, computation.instructions[i]}, nullptr)) places.emplace_back(c, i);
    }
    const size_t taken = std::min(most, places.size());
    for (size_t k = 0; k < taken; ++k) {
      const auto [c, i] = places[k * places.size() / taken];
      HloMutant mutant{kind.name, module.computations[c].instructions[i].name, with_change(module, c, i, kind.change)};
      if (hlo::verify(mutant.module)) mutants.push_back(std::move(mutant));
    }
  }
  return mutants;
}

}  // namespace sapper::check
