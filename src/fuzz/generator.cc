#include "fuzz/generator.h"

#include "fuzz/builder.h"

namespace sapper::fuzz {

using hlo::ElementType;
using hlo::Shape;

Program generate(const Grammar& grammar, Choices choices) {
  const auto at_boundary = [&](ElementType type) { return grammar.takes(hlo::Opcode::Parameter, type); };
  const auto array = [&] {
    const ElementType type = choose_type(grammar, choices, at_boundary).value_or(ElementType::F32);
    return Shape::array(type, choose_dimensions(grammar, choices, grammar.rank, grammar.elements));
  };
  const Shape root = choices.chance(15) ? Shape::tuple({array(), array()}) : array();
  return generate_for(grammar, std::move(choices), root);
}

Program generate_for(const Grammar& grammar, Choices choices, const Shape& root) {
  Builder builder(grammar, choices);
  const Builder::Index made = builder.value(root);
  hlo::Module module = builder.finish(made);
  return {std::move(module), choices.made()};
}

}  // namespace sapper::fuzz
