// Edits that leave the graph as it is: fewer flags and attributes, plainer element types, simpler numbers.
#include <algorithm>
#include <cmath>
#include <set>

#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

template <class Visit>
void for_each_editable(Program& program, Visit&& visit) {
  for (Computation& computation : program.module.computations)
    for (Instruction& instruction : computation.instructions) visit(instruction);
}

// Attributes that many instructions have and few failures need.
struct Attribute {
  const char* what;
  void (*drop)(Instruction&);
};

Shape without_layouts(const Shape& shape) { return shape.without_layout(); }

constexpr Attribute attributes[] = {
    {"metadata", [](Instruction& instruction) { instruction.metadata.reset(); }},
    {"backend configs",
     [](Instruction& instruction) {
       instruction.edit_attributes().clear_backend_config();
       instruction.edit_attributes().clear_backend_config_payload();
     }},
    {"frontend attributes",
     [](Instruction& instruction) { instruction.edit_attributes().clear_frontend_attributes(); }},
    {"precision",
     [](Instruction& instruction) {
       auto& precision = *instruction.edit_attributes().mutable_precision_config();
       if (instruction.opcode != Opcode::Dot && instruction.opcode != Opcode::Convolution)
         instruction.edit_attributes().clear_precision_config();
       else
         for (auto& operand : *precision.mutable_operand_precision()) operand = 0;
     }},
    {"result accuracy", [](Instruction& instruction) { instruction.edit_attributes().clear_result_accuracy(); }},
    {"promises of sorted and unique indices",
     [](Instruction& instruction) {
       instruction.edit_attributes().clear_indices_are_sorted();
       instruction.edit_attributes().clear_unique_indices();
     }},
    {"layouts", [](Instruction& instruction) { instruction.shape = without_layouts(instruction.shape); }},
};

Shape retyped(const Shape& shape, ElementType from, ElementType to) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements()) elements.push_back(retyped(element, from, to));
    return Shape::tuple(std::move(elements));
  }
  return shape.is_array() && shape.element_type() == from ? shape.with_element_type(to) : shape;
}

Literal retyped(const Literal& literal, ElementType to) {
  Literal other(literal.shape().with_element_type(to));
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (hlo::is_integer(to) && hlo::is_integer(literal.shape().element_type()))
      other.set_integer(i, literal.integer_at(i));
    else
      other.set_real(i, literal.real_at(i));
  }
  return other;
}

void retype(Program& program, ElementType from, ElementType to) {
  for_each_editable(program, [&](Instruction& instruction) {
    instruction.shape = retyped(instruction.shape, from, to);
    if (instruction.literal && instruction.literal->shape().is_array() &&
        instruction.literal->shape().element_type() == from)
      instruction.literal = std::make_shared<Literal>(retyped(*instruction.literal, to));
  });
  for (Literal& argument : program.arguments)
    if (argument.shape().element_type() == from) argument = retyped(argument, to);
}

std::vector<ElementType> plainer(ElementType type) {
  if (type == ElementType::F32 || type == ElementType::S32) return {};
  if (hlo::is_float(type)) return {ElementType::F32};
  if (hlo::is_integer(type)) return {ElementType::S32};
  return {};
}

// Arrays whose numbers may be changed: arguments, then constants in their order.
std::vector<const Literal*> arrays_of(const Program& program) {
  std::vector<const Literal*> arrays;
  for (const Literal& argument : program.arguments) arrays.push_back(&argument);
  hlo::for_each_instruction(program.module, [&](const Computation&, const Instruction& instruction) {
    if (instruction.literal && instruction.literal->shape().is_array()) arrays.push_back(instruction.literal.get());
  });
  return arrays;
}

void set_array(Program& program, size_t index, Literal value) {
  if (index < program.arguments.size()) {
    program.arguments[index] = std::move(value);
    return;
  }
  index -= program.arguments.size();
  for_each_editable(program, [&](Instruction& instruction) {
    if (!instruction.literal || !instruction.literal->shape().is_array()) return;
    if (index-- == 0) instruction.literal = std::make_shared<Literal>(value);
  });
}

void set_number(Literal& array, int64_t i, double value) {
  if (hlo::is_complex(array.shape().element_type()))
    array.set_complex(i, value);
  else
    array.set_real(i, value);
}

Literal filled(const Literal& like, double value) {
  Literal array(like.shape());
  for (int64_t i = 0; i < array.element_count(); ++i) set_number(array, i, value);
  return array;
}

// One of its own elements all over.
Literal repeated(const Literal& like, int64_t element) {
  Literal array(like.shape());
  for (int64_t i = 0; i < array.element_count(); ++i) {
    const ElementType type = like.shape().element_type();
    if (hlo::is_complex(type))
      array.set_complex(i, like.complex_at(element));
    else if (hlo::is_float(type))
      array.set_real(i, like.real_at(element));
    else
      array.set_integer(i, like.integer_at(element));
  }
  return array;
}

// Numbers without fraction, at most 8.
Literal rounded(const Literal& like) {
  Literal array = like;
  for (int64_t i = 0; i < array.element_count(); ++i) {
    if (hlo::is_complex(array.shape().element_type())) continue;
    const double value = array.real_at(i);
    if (std::isfinite(value)) array.set_real(i, std::clamp(std::round(value), -8.0, 8.0));
  }
  return array;
}

}  // namespace

std::vector<Edit> drop_flags(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  for (const auto& [name, value] : program.configuration.options)
    edits.push_back({"without option " + name,
                     [name = name](Program& edited) { return edited.configuration.options.erase(name) > 0; }});
  const std::vector<std::string> flags = init_flags_of(program.configuration);
  for (size_t k = 0; k < flags.size(); ++k)
    edits.push_back({"without flag " + flags[k], [flags, k](Program& edited) {
                       std::string& text = edited.configuration.init_flags;
                       text.clear();
                       for (size_t i = 0; i < flags.size(); ++i)
                         if (i != k) text += (text.empty() ? "" : " ") + flags[i];
                       return true;
                     }});
  return edits;
}

std::vector<Edit> drop_attributes(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  edits.push_back({"without attributes of the module", [](Program& edited) {
                     edited.module.attributes.Clear();
                     edited.module.config.Clear();
                     return true;
                   }});
  if (program.module.is_scheduled)
    edits.push_back({"without a schedule", [](Program& edited) {
                       edited.module.is_scheduled = false;
                       return true;
                     }});
  for (const Attribute& attribute : attributes)
    edits.push_back({fmt::format("without {}", attribute.what), [&attribute](Program& edited) {
                       for_each_editable(edited, attribute.drop);
                       return true;
                     }});
  return edits;
}

std::vector<Edit> simplify_types(const Program& program, size_t /*chunk*/) {
  std::set<ElementType> types;
  hlo::for_each_instruction(program.module, [&](const Computation&, const Instruction& instruction) {
    hlo::for_each_leaf(instruction.shape, [&](const Shape& leaf) { types.insert(leaf.element_type()); });
  });
  std::vector<Edit> edits;
  for (const ElementType from : types)
    for (const ElementType to : plainer(from))
      edits.push_back(
          {fmt::format("{} in the place of {}", to_string(to), to_string(from)), [from, to](Program& edited) {
             retype(edited, from, to);
             return true;
           }});
  return edits;
}

std::vector<Edit> simplify_arrays(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  const std::vector<const Literal*> arrays = arrays_of(program);
  const auto add = [&](size_t k, const char* what, Literal value) {
    edits.push_back({fmt::format("array {}: {}", k, what), [k, value = std::move(value)](Program& edited) {
                       set_array(edited, k, value);
                       return true;
                     }});
  };
  for (size_t k = 0; k < arrays.size(); ++k) {
    const Literal& array = *arrays[k];
    if (array.element_count() == 0) continue;
    add(k, "zeros", filled(array, 0));
    add(k, "ones", filled(array, 1));
    add(k, "its first element", repeated(array, 0));
    add(k, "its last element", repeated(array, array.element_count() - 1));
    add(k, "small whole numbers", rounded(array));
  }
  return edits;
}

size_t all_elements(const Program& program) {
  size_t all = 0;
  for (const Literal* array : arrays_of(program)) all += static_cast<size_t>(array->element_count());
  return all;
}

std::vector<Edit> simplify_elements(const Program& program, size_t chunk) {
  constexpr size_t most_edits = 256;  // of a chunk's size: numbers of large arrays are not looked at one by one
  std::vector<Edit> edits;
  const std::vector<const Literal*> arrays = arrays_of(program);
  if (all_elements(program) / chunk > most_edits) return edits;
  for (size_t k = 0; k < arrays.size(); ++k)
    for (int64_t first = 0; first < arrays[k]->element_count(); first += static_cast<int64_t>(chunk))
      for (const double value : {0.0, 1.0})
        edits.push_back({fmt::format("array {}: {} from element {} on", k, value, first),
                         [k, first, chunk, value](Program& edited) {
                           Literal array = *arrays_of(edited)[k];
                           const int64_t end = std::min(first + static_cast<int64_t>(chunk), array.element_count());
                           for (int64_t i = first; i < end; ++i) set_number(array, i, value);
                           set_array(edited, k, std::move(array));
                           return true;
                         }});
  return edits;
}

}  // namespace sapper::reduce
