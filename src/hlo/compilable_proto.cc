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

// Ids counted through the module: older compilers refuse those that have their computation's id in the upper half.
void number_plainly(Module& module) {
  int64_t next = 0;
  for (Computation& computation : module.computations) {
    std::unordered_map<int64_t, int64_t> numbered;  // by the old id, and by its lower half
    for (Instruction& instruction : computation.instructions) {
      numbered[instruction.id] = numbered[instruction.id & UINT32_MAX] = next;
      instruction.id = next++;
    }
    for (Instruction& instruction : computation.instructions) {
      if (instruction.attributes().control_predecessor_ids().empty()) continue;
      for (int64_t& id : *instruction.edit_attributes().mutable_control_predecessor_ids())
        if (const auto place = numbered.find(id); place != numbered.end()) id = place->second;
    }
  }
}

bool has_large_ids(const Module& module) {
  bool large = false;
  for_each_instruction(module, [&](const Computation&, const Instruction& i) { large = large || i.id > INT32_MAX; });
  return large;
}

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
  if (has_large_ids(module)) number_plainly(compilable);
  for (Shape& shape : compilable.entry_parameter_layouts) shape = with_layouts(shape);
  compilable.entry_result_layout = with_layouts(compilable.entry_result_layout);
  return to_proto(compilable);
}

}  // namespace sapper::hlo
