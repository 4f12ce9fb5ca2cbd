// What the verifier's rules (verifier_rules.h) see and say: a Site is one instruction with everything its rule may look
// at; an Inferred is the shape that a rule found; ShapeBuilder makes one without allocating while it equals the stated
// shape. A rule may assume that operands and called computations exist, that their counts are those of its table entry
// and that every shape it meets is well-formed; it must check everything else before it uses it.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo::verifier {

struct OpcodeRule;

// Sums and products of attributes are formed in 128 bits, where they cannot overflow, and then checked.
__extension__ using Wide = __int128;

// Sizes and offsets that a window or padding may state: small enough that a few of them can be added in 64 bits.
constexpr int64_t largest_extent = int64_t{1} << 60;

// Instruction indices of a computation's parameters, by parameter number.
using Parameters = std::vector<InstructionIndex>;

// A shape that exists already (an operand's, the stated one: the usual case, which costs nothing) or a new one.
class Inferred {
 public:
  Inferred(const Shape& existing) : existing_(&existing) {}  // NOLINT(google-explicit-constructor): rules return shapes
  Inferred(Shape&& built) : built_(std::move(built)) {}      // NOLINT(google-explicit-constructor)
  [[nodiscard]] const Shape& shape() const { return existing_ != nullptr ? *existing_ : *built_; }

 private:
  const Shape* existing_ = nullptr;
  std::optional<Shape> built_;
};

struct Site {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  const OpcodeRule& rule;
  std::span<const Parameters> parameters_by_computation;  // filled in for the computations this instruction calls

  [[nodiscard]] size_t operand_count() const { return instruction.operands.size(); }
  [[nodiscard]] const Instruction& operand_instruction(size_t i) const {
    return computation.instructions[instruction.operands[i]];
  }
  [[nodiscard]] const Shape& operand(size_t i) const { return operand_instruction(i).shape; }
  [[nodiscard]] const Shape& stated() const { return instruction.shape; }
  [[nodiscard]] const Attributes& attributes() const { return instruction.attributes(); }

  // Of the called computation i, in the order of Instruction::called.
  [[nodiscard]] const Computation& called(size_t i) const { return module.computations[instruction.called[i]]; }
  [[nodiscard]] const Shape& result_of(size_t i) const { return called(i).root_instruction().shape; }
  [[nodiscard]] size_t parameter_count(size_t i) const {
    return parameters_by_computation[instruction.called[i]].size();
  }
  [[nodiscard]] const Shape& parameter(size_t i, size_t number) const {
    return called(i).instructions[parameters_by_computation[instruction.called[i]][number]].shape;
  }

  // BadInput at this instruction: "OPCODE: message".
  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> bad(fmt::format_string<Args...> format, Args&&... args) const {
    return bad_message(fmt::vformat(format, fmt::make_format_args(args...)));
  }
  [[nodiscard]] tl::unexpected<Error> bad_message(std::string_view message) const;
};

// `shape` for a message: without layouts, and cut short when it is a long tuple.
[[nodiscard]] std::string text(const Shape& shape);

// Late stages of TPU compilers keep bf16 and f16 values in f32 or the other way round wherever it pays, also in
// operations that only move data, so these types stand for each other wherever an operation makes a value.
[[nodiscard]] bool interchangeable(ElementType a, ElementType b);

// Equal types, dimensions and tuple structure; layouts and dynamism aside, as in XLA's verifier.
[[nodiscard]] bool compatible(const Shape& a, const Shape& b);
// The same with interchangeable element types.
[[nodiscard]] bool compatible_ignoring_precision(const Shape& a, const Shape& b);

// A set of dimension numbers: one word for all ranks that occur, more for hostile ones.
class DimensionSet {
 public:
  explicit DimensionSet(size_t rank);
  // False when it was there before. Only for 0 <= dimension < rank.
  bool insert(int64_t dimension);
  [[nodiscard]] bool contains(int64_t dimension) const;

 private:
  uint64_t first_ = 0;         // dimensions below 64
  std::vector<bool> further_;  // the others
};

// Adds `dimensions` to `set`; each must be in [0, rank) and new. `what` names them in the error.
[[nodiscard]] Status add_dimensions(const Site& site, std::string_view what, std::span<const int64_t> dimensions,
                                    size_t rank, DimensionSet* set);
// The same for a set of its own.
[[nodiscard]] Result<DimensionSet> dimension_set(const Site& site, std::string_view what,
                                                 std::span<const int64_t> dimensions, size_t rank);

// Operand i is an array; is a scalar; is a token.
[[nodiscard]] Status expect_array(const Site& site, size_t i);
[[nodiscard]] Status expect_scalar(const Site& site, size_t i);
[[nodiscard]] Status expect_token(const Site& site, size_t i);
// All operands are arrays.
[[nodiscard]] Status expect_arrays(const Site& site);

// An array shape, dimension by dimension from the major one.
class ShapeBuilder {
 public:
  // Until the first difference nothing is stored: `stated` is what was built.
  ShapeBuilder(const Shape& stated, ElementType type);
  void add(int64_t size, bool dynamic = false);
  [[nodiscard]] Inferred finish();

 private:
  void depart();  // from now on stored

  const Shape& stated_;
  ElementType type_;
  size_t rank_ = 0;
  bool follows_stated_;
  std::vector<int64_t> dimensions_;
  std::vector<bool> dynamic_;
};

// The array `shape` with element type `type`; the stated shape when that is it. Does not refer to `shape`.
[[nodiscard]] Inferred with_element_type(const Shape& stated, const Shape& shape, ElementType type);

// Element i of the stated tuple, or the invalid shape.
[[nodiscard]] const Shape& stated_element(const Shape& stated, size_t i);

// The tuple of infer(0) .. infer(count - 1), each an Inferred; the stated shape when that is it.
template <class Infer>
[[nodiscard]] Inferred tuple_of(const Shape& stated, size_t count, Infer&& infer) {
  size_t same = 0;
  if (stated.is_tuple() && stated.elements().size() == count)
    while (same < count && infer(same).shape().same_ignoring_layout(stated.elements()[same])) ++same;
  if (stated.is_tuple() && same == count && stated.elements().size() == count) return stated;
  std::vector<Shape> elements;
  elements.reserve(count);
  for (size_t i = 0; i < count; ++i) elements.push_back(infer(i).shape());
  return Shape::tuple(std::move(elements));
}

// The span of a protobuf repeated int64.
template <class Repeated>
[[nodiscard]] std::span<const int64_t> span_of(const Repeated& repeated) {
  return {repeated.data(), static_cast<size_t>(repeated.size())};
}

}  // namespace sapper::hlo::verifier
