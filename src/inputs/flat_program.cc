#include "inputs/flat_program.h"

#include <unordered_map>

#include "hlo/identity_calls.h"

namespace sapper::inputs {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

using Leaves = std::vector<Node>;

void add_leaf_shapes(const Shape& shape, std::vector<const Shape*>& leaves) {
  if (!shape.is_tuple()) return leaves.push_back(&shape);
  for (const Shape& element : shape.elements()) add_leaf_shapes(element, leaves);
}

class Flattener {
 public:
  explicit Flattener(const Module& module)
      : module_(module), most_work_(4 * static_cast<size_t>(module.instruction_count()) + (size_t{1} << 16)) {}

  FlatProgram run() {
    const Computation& entry = module_.entry_computation();
    Leaves arguments;
    for (const hlo::InstructionIndex parameter : entry.parameters()) {
      const Leaves leaves = add(module_.entry, entry.instructions[parameter], Step::Operation, {});
      arguments.insert(arguments.end(), leaves.begin(), leaves.end());
    }
    program_.parameters = arguments;
    enter(module_.entry, arguments, 0);
    return std::move(program_);
  }

 private:
  static constexpr int deepest_call = 200;
  static constexpr int deepest_loop = 3;  // bodies of deeper ones would be laid out too often

  // Where the leaves of an instruction's result are in the list of its computation.
  struct Result {
    uint32_t first = 0, count = 0;
  };

  // The first leaf of each element of a tuple.
  const std::vector<uint32_t>& element_offsets(const Shape& tuple) {
    std::vector<uint32_t>& offsets = element_offsets_[&tuple];
    if (!offsets.empty()) return offsets;
    uint32_t next = 0;
    for (const Shape& element : tuple.elements()) {
      offsets.push_back(next);
      next += leaf_count(element);
    }
    return offsets;
  }

  uint32_t add_operands(std::span<const Node> operands) {
    const auto first = static_cast<uint32_t>(program_.operands.size());
    program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
    return first;
  }

  Node add_node(const FlatNode& node) {
    program_.nodes.push_back(node);
    return static_cast<Node>(program_.nodes.size() - 1);
  }

  Node add_node(ComputationIndex computation, const Instruction& instruction, const Shape& shape, uint32_t leaf,
                Step step, std::span<const Node> operands) {
    const uint32_t first = add_operands(operands);
    return add_node({&instruction, &shape, computation, first, static_cast<uint32_t>(operands.size()), leaf, step});
  }

  // A node for each leaf of the instruction's result, each on all of `operands`.
  Leaves add(ComputationIndex computation, const Instruction& instruction, Step step, std::span<const Node> operands) {
    std::vector<const Shape*> shapes;
    add_leaf_shapes(instruction.shape, shapes);
    const uint32_t first = add_operands(operands);
    const auto count = static_cast<uint32_t>(operands.size());
    Leaves leaves;
    for (uint32_t leaf = 0; leaf < shapes.size(); ++leaf)
      leaves.push_back(add_node({&instruction, shapes[leaf], computation, first, count, leaf, step}));
    return leaves;
  }

  [[nodiscard]] bool may_enter(ComputationIndex computation, int depth, size_t copies) const {
    return depth < deepest_call && work_ + copies * module_.computations[computation].instructions.size() <= most_work_;
  }

  // The leaves of the root's value.
  Leaves enter(ComputationIndex index, const Leaves& arguments, int depth) {
    const Computation& computation = module_.computations[index];
    work_ += computation.instructions.size();
    std::vector<uint32_t> argument_offsets;
    for (uint32_t next = 0; const hlo::InstructionIndex parameter : computation.parameters()) {
      argument_offsets.push_back(next);
      next += leaf_count(computation.instructions[parameter].shape);
    }
    std::vector<Result> results;
    results.reserve(computation.instructions.size());
    Leaves all;  // of the results
    all.reserve(computation.instructions.size());
    for (const Instruction& instruction : computation.instructions) {
      const auto operand = [&](size_t i) { return results[instruction.operands[i]]; };
      const auto keep = [&](std::span<const Node> leaves) {
        results.push_back({static_cast<uint32_t>(all.size()), static_cast<uint32_t>(leaves.size())});
        all.insert(all.end(), leaves.begin(), leaves.end());
        work_ += leaves.size() > 1 ? leaves.size() : 0;
      };
      switch (instruction.opcode) {
        case Opcode::Parameter: {
          const auto count = leaf_count(instruction.shape);
          const auto number = static_cast<size_t>(instruction.parameter_number);
          keep(std::span(arguments).subspan(argument_offsets[number], count));
          continue;
        }
        case Opcode::GetTupleElement: {
          const Shape& tuple = computation.instructions[instruction.operands[0]].shape;
          Result part = operand(0);
          part.first += element_offsets(tuple)[static_cast<size_t>(instruction.tuple_index)];
          part.count = leaf_count(instruction.shape);
          results.push_back(part);
          continue;
        }
        case Opcode::OptBarrier:
        case Opcode::AddDependency:
        case Opcode::Domain:
        case Opcode::AsyncUpdate: results.push_back(operand(0)); continue;
        case Opcode::AsyncDone: {  // of ((operands), result, ...)
          const Shape& started = computation.instructions[instruction.operands[0]].shape;
          Result part = operand(0);
          part.first += leaf_count(started.elements()[0]);
          part.count = leaf_count(instruction.shape);
          results.push_back(part);
          continue;
        }
        case Opcode::CopyDone: results.push_back({operand(0).first, 1}); continue;
        default: break;
      }
      Leaves operands;
      std::vector<uint32_t> offsets;  // of each operand's leaves
      for (const hlo::InstructionIndex o : instruction.operands) {
        offsets.push_back(static_cast<uint32_t>(operands.size()));
        const auto first = all.begin() + results[o].first;
        operands.insert(operands.end(), first, first + results[o].count);
      }
      keep(instruction.opcode == Opcode::Tuple ? operands : lay_out(index, instruction, operands, offsets, depth));
    }
    const Result root = results[computation.root];
    return {all.begin() + root.first, all.begin() + root.first + root.count};
  }

  bool is_mark(ComputationIndex computation, const Instruction& instruction) const {
    if (!hlo::is_identity_call(instruction) || instruction.operands.size() != 1) return false;
    const Instruction& operand = module_.computations[computation].instructions[instruction.operands[0]];
    return instruction.shape.same_ignoring_layout(operand.shape);
  }

  Leaves lay_out(ComputationIndex computation, const Instruction& instruction, const Leaves& operands,
                 const std::vector<uint32_t>& offsets, int depth) {
    switch (instruction.opcode) {
      case Opcode::Call:
      case Opcode::Fusion:
        if (may_enter(instruction.called[0], depth, 1)) return enter(instruction.called[0], operands, depth + 1);
        return add(computation, instruction, Step::Unknown, operands);
      case Opcode::Map:  // what its computation says of scalars holds for the elements of an array of the map's shape
        if (!may_enter(instruction.called[0], depth, 1)) return add(computation, instruction, Step::Unknown, operands);
        return add(computation, instruction, Step::Join, enter(instruction.called[0], operands, depth + 1));
      case Opcode::AsyncStart: return start(computation, instruction, operands, depth);
      case Opcode::CopyStart: {
        const Node context = add_node(computation, instruction, instruction.shape.elements()[2], 2, Step::Unknown, {});
        return {operands[0], operands[0], context};
      }
      case Opcode::Copy:
        if (instruction.shape.is_tuple()) return operands;
        return add(computation, instruction, Step::Operation, operands);
      case Opcode::CustomCall:
        return is_mark(computation, instruction) ? operands : add(computation, instruction, Step::Operation, operands);
      case Opcode::While: return loop(computation, instruction, operands, depth);
      case Opcode::Conditional: return branches(computation, instruction, operands, offsets, depth);
      default: return add(computation, instruction, Step::Operation, operands);
    }
  }

  // ((operands), result, ...)
  Leaves start(ComputationIndex computation, const Instruction& instruction, const Leaves& operands, int depth) {
    Leaves leaves = add(computation, instruction, Step::Unknown, operands);
    if (instruction.called.empty() || !may_enter(instruction.called[0], depth, 1)) return leaves;
    const Leaves result = enter(instruction.called[0], operands, depth + 1);
    for (size_t i = 0; i < result.size() && operands.size() + i < leaves.size(); ++i)
      leaves[operands.size() + i] = result[i];
    return leaves;
  }

  Leaves loop(ComputationIndex computation, const Instruction& instruction, const Leaves& initial, int depth) {
    const ComputationIndex body = instruction.called[0];
    const ComputationIndex condition = instruction.called[1];
    if (loops_ >= deepest_loop || !may_enter(body, depth, 2))
      return add(computation, instruction, Step::Unknown, initial);
    ++loops_;
    std::vector<const Shape*> shapes;
    add_leaf_shapes(instruction.shape, shapes);
    const Leaves once = enter(body, initial, depth + 1);
    Leaves entry = initial;
    for (uint32_t k = 0; k < entry.size(); ++k)
      if (once[k] != initial[k])
        entry[k] = add_node(computation, instruction, *shapes[k], k, Step::LoopEntry,
                            std::vector<Node>{initial[k], once[k], no_node});
    const Leaves runs_on = enter(condition, entry, depth + 1);
    limit_counter(program_.nodes[runs_on[0]]);
    const Leaves later = enter(body, entry, depth + 1);
    Leaves result = entry;
    for (uint32_t k = 0; k < result.size(); ++k)
      if (later[k] != entry[k])
        result[k] =
            add_node(computation, instruction, *shapes[k], k, Step::Join, std::vector<Node>{entry[k], later[k]});
    --loops_;
    return result;
  }

  // A loop that runs while one of its state's numbers is less than a constant.
  void limit_counter(const FlatNode& condition) {
    if (condition.instruction->opcode != Opcode::Compare || condition.step != Step::Operation ||
        condition.instruction->attributes().comparison_direction() != "LT")
      return;
    const auto operands = program_.operands_of(condition);
    const FlatNode& counter = program_.nodes[operands[0]];
    if (counter.step != Step::LoopEntry || program_.nodes[operands[1]].instruction->opcode != Opcode::Constant) return;
    program_.operands[counter.first_operand + 2] = operands[1];
  }

  Leaves branches(ComputationIndex computation, const Instruction& instruction, const Leaves& operands,
                  const std::vector<uint32_t>& offsets, int depth) {
    const size_t count = instruction.called.size();
    std::vector<Leaves> results;
    for (size_t b = 0; b < count; ++b) {
      if (!may_enter(instruction.called[b], depth, 1)) return add(computation, instruction, Step::Unknown, operands);
      const auto first = operands.begin() + offsets[b + 1];
      const auto last = b + 2 < offsets.size() ? operands.begin() + offsets[b + 2] : operands.end();
      results.push_back(enter(instruction.called[b], Leaves(first, last), depth + 1));
    }
    std::vector<const Shape*> shapes;
    add_leaf_shapes(instruction.shape, shapes);
    Leaves joined;
    for (uint32_t leaf = 0; leaf < shapes.size(); ++leaf) {
      Leaves choices;
      for (const Leaves& result : results) choices.push_back(result[leaf]);
      joined.push_back(add_node(computation, instruction, *shapes[leaf], leaf, Step::Join, choices));
    }
    return joined;
  }

  const Module& module_;
  const size_t most_work_;  // instructions entered, and leaves of tuples made
  size_t work_ = 0;
  FlatProgram program_;
  int loops_ = 0;
  std::unordered_map<const Shape*, std::vector<uint32_t>> element_offsets_;
};

}  // namespace

Node behind_moves(const FlatProgram& program, Node node) {
  constexpr int most_moves = 64;
  for (int i = 0; i < most_moves; ++i) {
    const FlatNode& at = program.nodes[node];
    if (at.step != Step::Operation) return node;
    switch (at.instruction->opcode) {
      case Opcode::Broadcast:
      case Opcode::Bitcast:
      case Opcode::Convert:
      case Opcode::Copy:
      case Opcode::Reshape: node = program.operands_of(at)[0]; break;
      default: return node;
    }
  }
  return node;
}

FlatProgram flatten(const Module& module) { return Flattener(module).run(); }

}  // namespace sapper::inputs
