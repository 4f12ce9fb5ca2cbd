// What XLA asks of a serialized module beyond the form itself, and its own text parser supplies: layouts and names.
#include <unordered_map>
#include <unordered_set>

#include "hlo/proto.h"

namespace sapper::hlo {
namespace {

// Some of XLA's passes die of arrays without a layout, and it refuses literals without one.
Shape with_layouts(const Shape& shape) {
  if (shape.is_array()) {
    if (shape.layout() != nullptr) return shape;
    return shape.with_layout(std::make_shared<const Layout>(Layout::descending(shape.rank())));
  }
  if (!shape.is_tuple()) return shape;
  std::vector<Shape> elements;
  for (const Shape& element : shape.elements()) elements.push_back(with_layouts(element));
  return Shape::tuple(std::move(elements));
}

// Text scopes names by computation, the wire form by module: a name that is taken gets a number.
class UniqueNames {
 public:
  std::string get(const std::string& name) {
    if (taken_.insert(name).second) return name;
    int& last = last_suffix_[name];
    std::string candidate;
    do candidate = fmt::format("{}.{}", name, ++last);
    while (!taken_.insert(candidate).second);
    return candidate;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_suffix_;
};

}  // namespace

std::string to_compilable_proto(const Module& module) {
  Module compilable = module;
  UniqueNames names;
  for (Computation& computation : compilable.computations) {
    for (Instruction& instruction : computation.instructions) {
      instruction.name = names.get(instruction.name);
      instruction.shape = with_layouts(instruction.shape);
    }
  }
  for (Shape& shape : compilable.entry_parameter_layouts) shape = with_layouts(shape);
  compilable.entry_result_layout = with_layouts(compilable.entry_result_layout);
  return to_proto(compilable);
}

}  // namespace sapper::hlo
