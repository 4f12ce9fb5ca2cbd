#include "hlo/verifier_structure.h"

#include <algorithm>
#include <unordered_map>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

constexpr int deepest_tuple = 100;

std::optional<std::string> layout_defect(const Shape& shape, const Layout& layout) {
  const std::vector<int64_t>& order = layout.minor_to_major;
  if (order.size() != shape.rank())
    return fmt::format("its layout orders {} dimensions, expected {}", order.size(), shape.rank());
  DimensionSet seen(order.size());
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(order.size()) || !seen.insert(dimension))
      return "its layout is not a permutation of the dimensions";
  }
  for (const Tile& tile : layout.tiles) {
    for (const int64_t size : tile.dimensions)
      if (size <= 0 && size != Tile::combine) return fmt::format("its layout has a tile dimension of {}", size);
  }
  if (layout.element_size_in_bits < 0 || layout.memory_space < 0 || layout.tail_padding_alignment_in_elements < 0 ||
      layout.dynamic_shape_metadata_prefix_bytes < 0)
    return "its layout has a negative size or memory space";
  for (const SplitConfig& split : layout.split_configs) {
    if (split.dimension < 0 || split.dimension >= static_cast<int64_t>(shape.rank()))
      return fmt::format("its layout splits dimension {}", split.dimension);
  }
  return std::nullopt;
}

std::optional<std::string> array_defect(const Shape& shape) {
  int64_t bytes = std::max(host_bytes(shape.element_type()), 1);
  for (const int64_t dimension : shape.dimensions()) {
    if (dimension == Shape::unbounded) continue;
    if (dimension < 0) return fmt::format("a dimension of {}", dimension);
    if (dimension > 1 && __builtin_mul_overflow(bytes, dimension, &bytes)) return "its size overflows 64 bits";
  }
  return shape.layout() == nullptr ? std::nullopt : layout_defect(shape, *shape.layout());
}

std::optional<std::string> defect_at(const Shape& shape, int depth) {
  const ElementType type = shape.element_type();
  if (type == ElementType::Invalid || type > ElementType::Buffer) return "it has no type";
  if (is_array_type(type)) return array_defect(shape);
  if (depth > deepest_tuple) return fmt::format("its tuples are nested deeper than {}", deepest_tuple);
  if (type == ElementType::Buffer && shape.elements().size() != 1) return "a buffer of no single array";
  for (const Shape& element : shape.elements())
    if (auto defect = defect_at(element, depth + 1)) return defect;
  return std::nullopt;
}

std::string count_text(Count count) {
  if (count.least == count.most) return fmt::format("{}", count.least);
  if (count.most == Count::any) return fmt::format("at least {}", count.least);
  return fmt::format("{} to {}", count.least, count.most);
}

// The computations from `from` to `to` along calls, both included; empty when there is no way.
std::vector<ComputationIndex> find_path(const Module& module, ComputationIndex from, ComputationIndex to) {
  constexpr ComputationIndex unseen = ~ComputationIndex{0};
  std::vector<ComputationIndex> came_from(module.computations.size(), unseen);
  std::vector<ComputationIndex> pending = {from};
  came_from[from] = from;
  while (!pending.empty() && came_from[to] == unseen) {
    const ComputationIndex at = pending.back();
    pending.pop_back();
    for (const Instruction& instruction : module.computations[at].instructions) {
      for (const ComputationIndex callee : instruction.called) {
        if (callee >= came_from.size() || came_from[callee] != unseen) continue;
        came_from[callee] = at;
        pending.push_back(callee);
      }
    }
  }
  if (came_from[to] == unseen) return {};
  std::vector<ComputationIndex> path = {to};
  while (path.back() != from) path.push_back(came_from[path.back()]);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::optional<std::string> shape_defect(const Shape& shape) { return defect_at(shape, 0); }

bool has_unbounded_dimension(const Shape& shape) {
  const std::vector<int64_t>& dimensions = shape.dimensions();
  return std::find(dimensions.begin(), dimensions.end(), Shape::unbounded) != dimensions.end() ||
         std::any_of(shape.elements().begin(), shape.elements().end(), has_unbounded_dimension);
}

Status check_entry(const Module& module) {
  if (module.entry >= module.computations.size())
    return fail(ErrorKind::BadInput, "module '{}' has no entry computation", module.name);
  return {};
}

Status check_computation(const Computation& computation) {
  if (computation.instructions.empty())
    return fail(ErrorKind::BadInput, "computation '{}' has no instructions", computation.name);
  if (computation.root >= computation.instructions.size())
    return fail(ErrorKind::BadInput, "computation '{}' has no root: index {} of {} instructions", computation.name,
                computation.root, computation.instructions.size());
  return {};
}

Result<Parameters> collect_parameters(const Computation& computation) {
  Parameters found = computation.parameters();
  int64_t expected = 0;
  for (const InstructionIndex i : found) {
    const Instruction& instruction = computation.instructions[i];
    const int64_t number = instruction.parameter_number;
    if (number == expected++) continue;
    const std::string problem =
        expected > 1 && number == expected - 2
            ? fmt::format("parameter: computation '{}' has parameter {} twice", computation.name, number)
            : fmt::format("parameter: number {} in computation '{}', which has {} parameters", number, computation.name,
                          found.size());
    return fail(error_at(ErrorKind::BadInput, instruction, problem));
  }
  return found;
}

Status check_references(const Module& module, const Computation& computation, const Instruction& instruction,
                        size_t at) {
  const auto bad = [&](std::string message) {
    return fail(
        error_at(ErrorKind::BadInput, instruction, fmt::format("{}: {}", to_string(instruction.opcode), message)));
  };
  const OpcodeRule& rule = rule_for(instruction.opcode);
  if (!rule.operands.contains(instruction.operands.size()))
    return bad(fmt::format("{} operands, expected {}{}{}{}", instruction.operands.size(), count_text(rule.operands),
                           rule.operand_names.empty() ? "" : " (", rule.operand_names,
                           rule.operand_names.empty() ? "" : ")"));
  for (const InstructionIndex operand : instruction.operands) {
    if (operand >= computation.instructions.size()) return bad("an operand does not exist");
    if (operand >= at)
      return bad(fmt::format("operand '{}' does not come before it", computation.instructions[operand].name));
  }
  if (!rule.called.contains(instruction.called.size()))
    return bad(fmt::format("{} called computations, expected {}", instruction.called.size(), count_text(rule.called)));
  for (const ComputationIndex called : instruction.called)
    if (called >= module.computations.size()) return bad("a called computation does not exist");
  return {};
}

Status check_shape(const Instruction& instruction) {
  const auto defect = shape_defect(instruction.shape);
  if (!defect) return {};
  return fail(error_at(
      ErrorKind::BadInput, instruction,
      fmt::format("{}: stated shape {}: {}", to_string(instruction.opcode), text(instruction.shape), *defect)));
}

Error call_order_error(const Module& module, ComputationIndex caller, const Instruction& instruction,
                       ComputationIndex callee) {
  const auto name = [&](ComputationIndex i) { return module.computations[i].name; };
  const std::vector<ComputationIndex> path = find_path(module, callee, caller);
  std::string message;
  if (callee == module.entry) {
    message = fmt::format("the entry computation '{}' is called", name(callee));
  } else if (path.empty()) {
    message = fmt::format("calls computation '{}', which does not come before '{}'", name(callee), name(caller));
  } else {
    message = fmt::format("recursion: '{}'", name(caller));
    for (const ComputationIndex i : path) message += fmt::format(" calls '{}'", name(i));
  }
  return error_at(ErrorKind::BadInput, instruction, fmt::format("{}: {}", to_string(instruction.opcode), message));
}

Status check_control_predecessors(const Computation& computation) {
  std::unordered_map<int64_t, size_t> index_by_id;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    for (const int64_t id : instruction.attributes().control_predecessor_ids()) {
      if (id < 0 || !index_by_id.contains(id))
        return fail(error_at(ErrorKind::BadInput, instruction,
                             fmt::format("{}: control predecessor with id {} does not come before it in '{}'",
                                         to_string(instruction.opcode), id, computation.name)));
    }
    index_by_id.emplace(instruction.id, i);
  }
  return {};
}

}  // namespace sapper::hlo::verifier
