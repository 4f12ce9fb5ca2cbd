// What rules build with: the module that is being made, computation by computation, and the choices that make it.
#pragma once

#include <string>
#include <vector>

#include "fuzz/choices.h"
#include "fuzz/grammar.h"
#include "hlo/module.h"

namespace sapper::fuzz {

class Builder {
 public:
  using Index = hlo::InstructionIndex;

  // `choices` must outlive the builder. Begins the entry computation, whose parameters come as they are needed.
  Builder(Grammar grammar, Choices& choices);

  [[nodiscard]] Choices& choices() { return choices_; }
  [[nodiscard]] const Grammar& grammar() const { return grammar_; }

  // A value of the shape, by a rule; from the bounds of the grammar on a leaf.
  Index value(const hlo::Shape& shape);
  // A parameter, a constant, an iota, or what there is already.
  Index leaf(const hlo::Shape& shape);
  // A value with its elements (of an ordered type) in low .. high: clamped; with `safe` also a parameter, which the
  // samplers of inputs keep where the program needs it.
  Index within(const hlo::Shape& shape, double low, double high, bool safe = false);

  Index add(hlo::Opcode opcode, const hlo::Shape& shape, std::vector<Index> operands);
  // The instruction, to set its attributes; until the next one is added.
  hlo::Instruction& at(Index index) { return frame().computation.instructions[index]; }
  [[nodiscard]] const hlo::Shape& shape_of(Index index) { return at(index).shape; }

  Index constant(hlo::Literal literal);
  // A scalar, or all elements of an array.
  Index number(hlo::ElementType type, double value);
  Index splat(const hlo::Shape& shape, double value);
  Index iota(const hlo::Shape& shape, int64_t dimension);
  Index element_of(Index tuple, int64_t index);
  // direction: EQ, NE, LT, LE, GT, GE.
  Index compare(std::string_view direction, Index left, Index right, bool total_order = false);
  Index convert(Index operand, hlo::ElementType type);
  // What there is of another shape, cut, filled with zeros and converted to this one.
  Index adapted(Index operand, const hlo::Shape& shape);

  // A computation over such parameters; `body` gets their indices and returns the root.
  template <class Body>
  hlo::ComputationIndex computation(const std::string& name, const std::vector<hlo::Shape>& parameters, Body&& body) {
    const std::vector<Index> indices = begin(name, parameters);
    const Index root = body(indices);
    return end(root);
  }
  // One that rules fill, of what its parameters give.
  hlo::ComputationIndex lifted(const std::string& name, const std::vector<hlo::Shape>& parameters,
                               const hlo::Shape& result);
  // A value that rules make of these, in the computation at hand.
  Index over(const std::vector<Index>& leaves, const hlo::Shape& result);
  // operation(a, b) over scalars.
  hlo::ComputationIndex combiner(hlo::Opcode operation, hlo::ElementType type);

  // The same with only these opcodes, so many operations deep.
  Index over(const std::vector<Index>& leaves, const hlo::Shape& result, std::set<hlo::Opcode> only, int depth);

  // New parameters of the computation at hand are numbered from here on.
  void reserve_parameters(int64_t count) { frame().parameters = count; }

  // The module, with this root of the entry.
  [[nodiscard]] hlo::Module finish(Index root);

 private:
  struct Frame {
    hlo::Computation computation;
    std::vector<Index> leaves;   // to be taken before others
    std::vector<Index> visible;  // arrays that may be used again
    bool is_entry = false;
    int64_t parameters = 0;
  };

  Frame& frame() { return frames_.back(); }
  std::vector<Index> begin(const std::string& name, const std::vector<hlo::Shape>& parameters);
  hlo::ComputationIndex end(Index root);
  Index parameter(const hlo::Shape& shape);
  Index chosen_constant(const hlo::Shape& shape);
  std::optional<Index> existing(const hlo::Shape& shape);

  Grammar grammar_;
  Choices& choices_;
  hlo::Module module_;
  std::vector<Frame> frames_;
  int depth_ = 0;
  int64_t instructions_ = 0;
  int64_t names_ = 0;
};

}  // namespace sapper::fuzz
