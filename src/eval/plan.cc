#include "eval/plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/assert.h"
#include "eval/lane_tables.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

constexpr uint32_t none = ~uint32_t{0};

// How the value of an instruction comes about.
enum class Role : uint8_t {
  Unneeded,
  Rename,  // other slots under this name
  Lane,    // an elementwise operation
  View,    // strides over another slot (or over a counter: iota), read in place by lane steps where that is fast
  Constant,
  Step,  // anything else: a step of its own
};

// Elementwise operations that become one lane step.
struct Group {
  InstructionIndex root = 0;
  int64_t element_count = 0;
  std::vector<InstructionIndex> members;  // last first
};

struct Node {
  Role role = Role::Unneeded;
  uint32_t first_leaf = 0;  // in leaves_
  uint32_t leaves = 0;
  uint32_t group = none;
  bool in_place = false;  // views and constants: no step; lane steps read it where it is
  std::optional<LaneOperation> operation;
  // View: what it is of. A counter when `base` is none.
  Slot base = none;
  ElementType base_type = ElementType::Invalid;
  View view;
};

class Planner {
 public:
  Planner(const Module& module, const Computation& computation, bool traced)
      : module_(module), computation_(computation), traced_(traced), nodes_(computation.instructions.size()) {}

  Plan make() {
    find_needed();
    for (InstructionIndex i = 0; i < nodes_.size(); ++i)
      if (needed_[i]) assign(i);
    for (const InstructionIndex i : computation_.parameters()) {
      if (!needed_[i]) assign(i);
      for (const Slot slot : slots_of(i)) plan_.parameters.push_back({slot, false});
    }
    for (const Slot slot : slots_of(computation_.root)) plan_.results.push_back({slot, false});
    form_groups();
    for (InstructionIndex i = 0; i < nodes_.size(); ++i)
      if (needed_[i]) emit(i);
    mark_last_uses();
    plan_.computation = &computation_;
    plan_.slot_count = static_cast<uint32_t>(definition_.size());
    if (traced_) {
      for (InstructionIndex i = 0; i < nodes_.size(); ++i) {
        const auto slots = slots_of(i);
        plan_.instruction_slots.emplace_back(slots.begin(), slots.end());
      }
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const Instruction& instruction(InstructionIndex i) const { return computation_.instructions[i]; }
  [[nodiscard]] std::span<const Slot> slots_of(InstructionIndex i) const {
    return std::span(leaves_).subspan(nodes_[i].first_leaf, nodes_[i].leaves);
  }
  [[nodiscard]] Slot slot_of(InstructionIndex i) const { return leaves_[nodes_[i].first_leaf]; }
  [[nodiscard]] const Shape& operand_shape(const Instruction& user, size_t k) const {
    return instruction(user.operands[k]).shape;
  }

  void find_needed() {
    needed_.assign(nodes_.size(), false);
    needed_[computation_.root] = true;
    for (size_t i = nodes_.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const InstructionIndex operand : computation_.instructions[i].operands) needed_[operand] = true;
    }
  }

  // --- Slots and roles, operands first.

  Slot new_slot(InstructionIndex i) {
    definition_.push_back(i);
    return static_cast<Slot>(definition_.size() - 1);
  }

  void define(InstructionIndex i, Role role) {
    Node& node = nodes_[i];
    node.role = role;
    node.first_leaf = static_cast<uint32_t>(leaves_.size());
    node.leaves = leaf_count(instruction(i).shape);
    for (uint32_t leaf = 0; leaf < node.leaves; ++leaf) leaves_.push_back(new_slot(i));
  }

  // `i` is leaves [first, first + count) of `of`.
  void rename(InstructionIndex i, InstructionIndex of, uint32_t first, uint32_t count) {
    nodes_[i].role = Role::Rename;
    nodes_[i].first_leaf = nodes_[of].first_leaf + first;
    nodes_[i].leaves = count;
  }
  void rename(InstructionIndex i, InstructionIndex of) { rename(i, of, 0, nodes_[of].leaves); }

  void rename_leaves(InstructionIndex i, std::vector<Slot> slots) {
    nodes_[i].role = Role::Rename;
    nodes_[i].first_leaf = static_cast<uint32_t>(leaves_.size());
    nodes_[i].leaves = static_cast<uint32_t>(slots.size());
    leaves_.insert(leaves_.end(), slots.begin(), slots.end());
  }

  // Does a dynamic dimension of result or operands need looking after?
  [[nodiscard]] bool is_dynamic(const Instruction& user) const {
    return user.shape.is_dynamic() ||
           std::any_of(user.operands.begin(), user.operands.end(),
                       [&](InstructionIndex operand) { return instruction(operand).shape.is_dynamic(); });
  }

  void assign(InstructionIndex i) {
    const Instruction& it = instruction(i);
    switch (it.opcode) {
      case Opcode::Tuple: {
        std::vector<Slot> slots;
        for (const InstructionIndex operand : it.operands) {
          const auto leaves = slots_of(operand);
          slots.insert(slots.end(), leaves.begin(), leaves.end());
        }
        return rename_leaves(i, std::move(slots));
      }
      case Opcode::GetTupleElement: return rename_element(i, static_cast<size_t>(it.tuple_index));
      case Opcode::Copy:
      case Opcode::OptBarrier:
      case Opcode::AddDependency:
      case Opcode::Domain:
      case Opcode::AsyncUpdate: return rename(i, it.operands[0]);
      case Opcode::CopyDone: return rename_element(i, 0);
      case Opcode::AsyncDone: return rename_element(i, 1);
      case Opcode::CopyStart:
      case Opcode::AsyncStart: return assign_start(i);
      case Opcode::Constant: return define(i, Role::Constant);
      case Opcode::Reshape:
        if (is_dynamic(it)) return define(i, Role::Step);
        return rename(i, it.operands[0]);
      case Opcode::Bitcast: return assign_bitcast(i);
      case Opcode::BitcastConvert: return assign_bitcast_convert(i);
      case Opcode::Iota:
      case Opcode::Broadcast:
      case Opcode::Transpose:
      case Opcode::Slice:
      case Opcode::Reverse: return assign_view(i);
      default: return assign_operation(i);
    }
  }

  void rename_element(InstructionIndex i, size_t element) {
    const InstructionIndex tuple = instruction(i).operands[0];
    const std::vector<Shape>& elements = instruction(tuple).shape.elements();
    uint32_t first = 0;
    for (size_t k = 0; k < element; ++k) first += leaf_count(elements[k]);
    rename(i, tuple, first, leaf_count(elements[element]));
  }

  // (destination, source, context) of a copy; ((operands), results, contexts...) of an async computation.
  void assign_start(InstructionIndex i) {
    const Instruction& it = instruction(i);
    std::vector<Slot> slots;
    const auto append_operands = [&] {
      for (const InstructionIndex operand : it.operands) {
        const auto leaves = slots_of(operand);
        slots.insert(slots.end(), leaves.begin(), leaves.end());
      }
    };
    if (it.opcode == Opcode::CopyStart) append_operands();
    append_operands();
    const size_t renamed = slots.size();
    const uint32_t leaves = leaf_count(it.shape);
    while (slots.size() < leaves) slots.push_back(new_slot(i));
    rename_leaves(i, slots);
    nodes_[i].role = Role::Step;
    own_leaves_[i] = std::vector<Slot>(slots.begin() + static_cast<int64_t>(renamed), slots.end());
  }

  void assign_bitcast(InstructionIndex i) {
    const Instruction& it = instruction(i);
    bitcasts_[i] = make_bitcast(operand_shape(it, 0), it.shape);
    const auto& bitcast = bitcasts_[i];
    const bool lanes_agree = lanes_are_bits(operand_shape(it, 0).element_type(), it.shape.element_type());
    if (bitcast && bitcast->is_rename() && lanes_agree && !is_dynamic(it)) return rename(i, it.operands[0]);
    define(i, Role::Step);
  }

  // Is a lane of one type, bit for bit, a lane of the other?
  static bool lanes_are_bits(ElementType from, ElementType to) {
    if (from == to) return true;
    return lane_type(from) == from && lane_type(to) == to && to != ElementType::Pred;
  }

  void assign_bitcast_convert(InstructionIndex i) {
    const Instruction& it = instruction(i);
    const ElementType from = operand_shape(it, 0).element_type();
    const ElementType to = it.shape.element_type();
    const bool whole_bytes = hlo::bit_width(from) % 8 == 0 && hlo::bit_width(to) % 8 == 0;
    if (whole_bytes && to != ElementType::Pred && lanes_are_bits(from, to) && !is_dynamic(it))
      return rename(i, it.operands[0]);
    define(i, Role::Step);
  }

  void assign_view(InstructionIndex i) {
    const Instruction& it = instruction(i);
    define(i, Role::View);
    Node& node = nodes_[i];
    if (it.opcode == Opcode::Iota) {
      node.view = iota_view(it);
      node.base_type = it.shape.element_type();
      return;
    }
    if (is_dynamic(it)) {
      node.role = Role::Step;
      return;
    }
    // A view of a view is a view of what that one is of.
    const Shape& shape = operand_shape(it, 0);
    const Slot operand = slot_of(it.operands[0]);
    const Node& source = nodes_[definition_[operand]];
    if (source.role == Role::View && !traced_) {
      if (const auto under_shape = source.view.reshaped(shape.dimensions())) {
        if (auto composed = apply_to_view(it, *under_shape)) {
          node.view = std::move(*composed);
          node.base = source.base;
          node.base_type = source.base_type;
          return;
        }
      }
    }
    node.view = *apply_to_view(it, View::of(shape.dimensions()));
    node.base = operand;
    node.base_type = shape.element_type();
  }

  static View iota_view(const Instruction& it) {
    View view;
    for (const int64_t size : it.shape.dimensions()) view.dims.push_back({size, 0});
    const size_t dimension = it.dimensions.empty() ? 0 : static_cast<size_t>(it.dimensions[0]);
    if (dimension < view.dims.size()) view.dims[dimension].stride = 1;
    return view;
  }

  void assign_operation(InstructionIndex i) {
    const Instruction& it = instruction(i);
    define(i, Role::Step);
    if (it.operands.empty() || it.opcode == Opcode::Parameter || !it.shape.is_array()) return;
    const size_t typed_operand = it.opcode == Opcode::Select ? 1 : 0;
    const Shape& shape = operand_shape(it, typed_operand);
    if (!shape.is_array()) return;
    std::optional<LaneOperation> operation = lane_operation(it, shape.element_type());
    if (it.opcode == Opcode::StochasticConvert) {
      const LaneOperation convert = stochastic_convert(lane_type(shape.element_type()),
                                                       operand_shape(it, 1).element_type(), it.shape.element_type());
      if (convert.function != nullptr) operation = convert;
    }
    if (!operation) return;
    nodes_[i].role = Role::Lane;
    nodes_[i].operation = operation;
  }

  // --- Which elementwise operations go together, users first.

  // The group that all users of a slot so far belong to.
  struct Users {
    uint32_t group = none;
    bool any = false;
    bool elsewhere = false;     // users in several groups, or that are no lane operations
    bool needs_memory = false;  // a user that cannot read views in place
  };

  void use_in_group(Slot slot, uint32_t group) {
    Users& users = users_[slot];
    if (users.any && users.group != group) users.elsewhere = true;
    users.any = true;
    users.group = group;
  }
  void use_in_memory(Slot slot) { users_[slot].any = users_[slot].elsewhere = users_[slot].needs_memory = true; }

  void form_groups() {
    users_.resize(definition_.size());
    for (const SlotUse& result : plan_.results) use_in_memory(result.slot);
    for (size_t n = nodes_.size(); n-- > 0;) {
      const auto i = static_cast<InstructionIndex>(n);
      if (!needed_[i]) continue;
      switch (nodes_[i].role) {
        case Role::Unneeded:
        case Role::Rename: break;
        case Role::Lane: join_group(i); break;
        case Role::View: place_view(i); break;
        case Role::Constant: nodes_[i].in_place = is_immediate(i) && !users_[slot_of(i)].needs_memory; break;
        case Role::Step:
          for (const InstructionIndex operand : instruction(i).operands)
            for (const Slot slot : slots_of(operand)) use_in_memory(slot);
          break;
      }
    }
  }

  [[nodiscard]] bool is_immediate(InstructionIndex i) const {
    const Instruction& it = instruction(i);
    return !traced_ && it.shape.is_array() && it.shape.element_count() == 1 && it.literal != nullptr;
  }

  void join_group(InstructionIndex i) {
    constexpr size_t most_members = 120;  // with three sources each: within LaneProgram's registers
    const Instruction& it = instruction(i);
    const int64_t count = it.shape.element_count();
    const Users users = users_[slot_of(i)];
    Node& node = nodes_[i];
    const bool joins = !traced_ && users.any && !users.elsewhere && groups_[users.group].element_count == count &&
                       groups_[users.group].members.size() < most_members && !is_dynamic(it);
    if (joins) {
      node.group = users.group;
    } else {
      node.group = static_cast<uint32_t>(groups_.size());
      groups_.push_back({i, count, {}});
    }
    groups_[node.group].members.push_back(i);
    for (size_t k = 0; k < it.operands.size(); ++k) {
      const Slot slot = slot_of(it.operands[k]);
      if (traced_ || is_dynamic(it)) {
        use_in_memory(slot);
      } else if (operand_shape(it, k).element_count() == count && lanes_of_slot_are(slot, operand_shape(it, k))) {
        use_in_group(slot, node.group);
      } else {
        use_in_group(slot, none);
        users_[slot].elsewhere = true;
      }
    }
  }

  // A renamed slot may have been defined under another type of the same bits.
  [[nodiscard]] bool lanes_of_slot_are(Slot slot, const Shape& shape) const {
    const Shape& defined = instruction(definition_[slot]).shape;
    return !defined.is_array() || lanes_are_bits(defined.element_type(), shape.element_type());
  }

  void place_view(InstructionIndex i) {
    Node& node = nodes_[i];
    node.in_place = !traced_ && !users_[slot_of(i)].needs_memory && node.view.reads_runs() &&
                    node.view.collapsed().dims.size() <= View::most_dims;
    if (node.base == none) return;
    // An immediate may be read in place through a view of it too.
    const InstructionIndex defined = definition_[node.base];
    if (node.in_place && nodes_[defined].role == Role::Constant) {
      users_[node.base].any = users_[node.base].elsewhere = true;
    } else {
      use_in_memory(node.base);
    }
  }

  // --- Steps, in the order of the instructions.

  Step& add_step(InstructionIndex i, decltype(Step::work) work) {
    Step& step = plan_.steps.emplace_back();
    step.work = std::move(work);
    step.instruction = i;
    return step;
  }

  void add_operands(Step& step, const Instruction& it) {
    for (const InstructionIndex operand : it.operands)
      for (const Slot slot : slots_of(operand)) step.operands.push_back({slot, false});
  }

  void add_plain_step(InstructionIndex i, decltype(Step::work) work) {
    Step& step = add_step(i, std::move(work));
    add_operands(step, instruction(i));
    for (const Slot slot : slots_of(i)) step.outputs.push_back({slot, false});
  }

  void emit(InstructionIndex i) {
    Node& node = nodes_[i];
    switch (node.role) {
      case Role::Unneeded: return;
      case Role::Rename:
        if (traced_) add_step(i, RenameStep{});
        return;
      case Role::Lane:
        if (groups_[node.group].root == i) emit_group(groups_[node.group]);
        return;
      case Role::View:
        if (!node.in_place && users_[slot_of(i)].any) emit_view(i);
        return;
      case Role::Constant:
        if (!node.in_place) add_plain_step(i, ConstantStep{});
        return;
      case Role::Step: return emit_step(i);
    }
  }

  void emit_view(InstructionIndex i) {
    const Node& node = nodes_[i];
    if (node.base != none) {
      Step& step = add_step(i, ViewStep{node.view});
      step.operands.push_back({node.base, false});
      step.outputs.push_back({slot_of(i), false});
      return;
    }
    auto program = std::make_unique<LaneProgram>();
    program->finish(program->add_source(counter(node)));
    Step& step = add_step(i, LaneStep{std::move(program), {}});
    step.outputs.push_back({slot_of(i), false});
  }

  static LaneProgram::Source counter(const Node& node) {
    LaneProgram::Source source;
    source.kind = LaneProgram::Source::Kind::Counter;
    source.type = node.base_type;
    source.view = node.view.collapsed();
    return source;
  }

  static LaneProgram::Source immediate(const Instruction& constant) {
    LaneProgram::Source source;
    source.kind = LaneProgram::Source::Kind::Constant;
    source.type = constant.shape.element_type();
    const auto bytes = constant.literal->bytes();
    std::copy(bytes.begin(), bytes.end(), source.constant);
    return source;
  }

  // What a lane step reads for `slot`, as `type`, `count` times or (when the operand has one element) everywhere.
  LaneProgram::Source source_of(Step& step, Slot slot, ElementType type, int64_t elements, int64_t count) {
    const InstructionIndex defined = definition_[slot];
    const Node& node = nodes_[defined];
    if (node.in_place && node.role == Role::Constant) {
      LaneProgram::Source source = immediate(instruction(defined));
      source.type = type;
      return source;
    }
    LaneProgram::Source source;
    source.type = type;
    if (node.in_place && node.role == Role::View) {
      if (node.base == none) {
        source = counter(node);
        return source;
      }
      const InstructionIndex base = definition_[node.base];
      if (nodes_[base].role == Role::Constant && nodes_[base].in_place) {
        source = immediate(instruction(base));
        source.type = type;
        return source;
      }
      source.view = node.view.collapsed();
      source.kind = LaneProgram::Source::Kind::Strided;
      if (instruction(base).shape.is_array() && source.view.offset == 0 &&
          std::all_of(source.view.dims.begin(), source.view.dims.end(),
                      [](const View::Dim& dim) { return dim.stride == 0; }))
        source.kind = LaneProgram::Source::Kind::Splat;
      slot = node.base;
    } else if (elements != count) {
      source.kind = LaneProgram::Source::Kind::Splat;
    }
    source.operand = operand_index(step, slot);
    return source;
  }

  static uint32_t operand_index(Step& step, Slot slot) {
    for (uint32_t k = 0; k < step.operands.size(); ++k)
      if (step.operands[k].slot == slot) return k;
    step.operands.push_back({slot, false});
    return static_cast<uint32_t>(step.operands.size() - 1);
  }

  void emit_group(const Group& group) {
    auto program = std::make_unique<LaneProgram>();
    LaneStep lanes;
    Step step;
    step.instruction = group.root;
    std::map<std::pair<Slot, ElementType>, LaneProgram::Register> registers;
    std::map<Slot, InstructionIndex> inside;
    for (const InstructionIndex member : group.members) inside.emplace(slot_of(member), member);
    // Sources first, as LaneProgram wants them; members are listed last first.
    for (size_t m = group.members.size(); m-- > 0;) {
      const Instruction& it = instruction(group.members[m]);
      for (size_t k = 0; k < it.operands.size(); ++k) {
        const Slot slot = slot_of(it.operands[k]);
        const Shape& shape = operand_shape(it, k);
        const auto key = std::pair(slot, shape.element_type());
        if (inside.contains(slot) || registers.contains(key)) continue;
        registers[key] = program->add_source(
            source_of(step, slot, shape.element_type(), shape.element_count(), group.element_count));
      }
    }
    LaneProgram::Register result = 0;
    for (size_t m = group.members.size(); m-- > 0;) {
      const InstructionIndex member = group.members[m];
      const Instruction& it = instruction(member);
      std::vector<LaneProgram::Register> operands;
      for (size_t k = 0; k < it.operands.size(); ++k) {
        const Slot slot = slot_of(it.operands[k]);
        const bool is_inside = inside.contains(slot);
        operands.push_back(is_inside ? member_registers_.at(slot)
                                     : registers.at({slot, operand_shape(it, k).element_type()}));
      }
      result = program->add_step(*nodes_[member].operation, it.shape.element_type(), operands);
      member_registers_[slot_of(member)] = result;
    }
    member_registers_.clear();
    program->finish(result);

    // Over which operand may the result be written? One that is read only as it lies, in elements of the result's size.
    const int result_bytes = hlo::host_bytes(program->result_type());
    lanes.reusable.assign(step.operands.size(), 1);
    for (const LaneProgram::Source& source : program->sources()) {
      const bool reads_operand =
          source.kind != LaneProgram::Source::Kind::Constant && source.kind != LaneProgram::Source::Kind::Counter;
      if (!reads_operand) continue;
      if (source.kind != LaneProgram::Source::Kind::Linear || hlo::host_bytes(source.type) != result_bytes)
        lanes.reusable[source.operand] = 0;
    }
    lanes.program = std::move(program);
    step.work = std::move(lanes);
    step.outputs.push_back({slot_of(group.root), false});
    plan_.steps.push_back(std::move(step));
  }

  void emit_step(InstructionIndex i) {
    const Instruction& it = instruction(i);
    switch (it.opcode) {
      case Opcode::Parameter:
        if (traced_) add_step(i, RenameStep{});
        return;
      case Opcode::AfterAll:
        if (traced_) add_step(i, RenameStep{});
        return;
      case Opcode::CopyStart:
      case Opcode::AsyncStart: return emit_start(i);
      case Opcode::Bitcast:
        if (!bitcasts_[i]) return add_plain_step(i, UnsupportedStep{});
        return add_plain_step(i, BitcastStep{*bitcasts_[i]});
      case Opcode::BitcastConvert: return add_plain_step(i, RepackStep{});
      case Opcode::Call:
      case Opcode::Fusion: return add_plain_step(i, CallStep{it.called[0]});
      case Opcode::While: return add_plain_step(i, WhileStep{it.called[0], it.called[1]});
      case Opcode::Conditional: return emit_conditional(i);
      default: break;
    }
    if (is_dynamic(it)) return emit_dynamic_step(i);
    switch (it.opcode) {
      case Opcode::Pad: return add_plain_step(i, PadStep{});
      case Opcode::Concatenate: return add_plain_step(i, ConcatenateStep{});
      case Opcode::DynamicSlice: return add_plain_step(i, DynamicSliceStep{});
      case Opcode::DynamicUpdateSlice: return add_plain_step(i, DynamicUpdateSliceStep{});
      case Opcode::PartitionId:
      case Opcode::ReplicaId: return add_plain_step(i, ZeroStep{});
      case Opcode::Reduce:
        if (auto reduce = FastReduce::make(module_, it, operand_shape(it, 0)))
          return add_plain_step(i, ReduceStep{std::move(*reduce)});
        break;
      default: break;
    }
    if (const Op op = find_op(it.opcode)) return add_plain_step(i, OpStep{op});
    add_plain_step(i, UnsupportedStep{});
  }

  // Operations that know about the actual sizes of dynamic dimensions; with any other the elements past these would
  // count.
  void emit_dynamic_step(InstructionIndex i) {
    const Instruction& it = instruction(i);
    switch (it.opcode) {
      case Opcode::Broadcast:
      case Opcode::Transpose: {
        const Shape& operand = operand_shape(it, 0);
        return add_plain_step(i, ViewStep{*apply_to_view(it, View::of(operand.dimensions()))});
      }
      case Opcode::DynamicReshape:
      case Opcode::Gather:
      case Opcode::GetDimensionSize:
      case Opcode::Map:
      case Opcode::Reduce:
      case Opcode::ReduceWindow:
      case Opcode::Scatter:
      case Opcode::SelectAndScatter:
      case Opcode::SetDimensionSize:
      case Opcode::Sort:
      case Opcode::Topk: return add_plain_step(i, OpStep{find_op(it.opcode)});
      default: return add_plain_step(i, UnsupportedStep{});
    }
  }

  void emit_start(InstructionIndex i) {
    const Instruction& it = instruction(i);
    const std::vector<Slot>& own = own_leaves_.at(i);
    size_t computed = 0;
    if (it.opcode == Opcode::AsyncStart) {
      computed = leaf_count(module_.computations[it.called[0]].root_instruction().shape);
      Step& call = add_step(i, CallStep{it.called[0]});
      add_operands(call, it);
      for (size_t k = 0; k < computed && k < own.size(); ++k) call.outputs.push_back({own[k], false});
    }
    if (computed >= own.size()) return;
    Step& zeros = add_step(i, ZeroStep{});
    for (size_t k = computed; k < own.size(); ++k) zeros.outputs.push_back({own[k], false});
  }

  void emit_conditional(InstructionIndex i) {
    const Instruction& it = instruction(i);
    ConditionalStep work;
    uint32_t position = 1;
    for (size_t k = 1; k < it.operands.size(); ++k) {
      work.branch_operands.push_back(position);
      position += nodes_[it.operands[k]].leaves;
    }
    work.branch_operands.push_back(position);
    add_plain_step(i, std::move(work));
  }

  void mark_last_uses() {
    std::vector<bool> used(definition_.size(), false);
    const auto mark = [&](SlotUse& use) {
      use.dies = !used[use.slot];
      used[use.slot] = true;
    };
    for (size_t k = plan_.results.size(); k-- > 0;) mark(plan_.results[k]);
    for (size_t s = plan_.steps.size(); s-- > 0;) {
      Step& step = plan_.steps[s];
      for (SlotUse& output : step.outputs) output.dies = !used[output.slot];
      for (size_t k = step.operands.size(); k-- > 0;) mark(step.operands[k]);
    }
    for (SlotUse& parameter : plan_.parameters) parameter.dies = !used[parameter.slot];
  }

  const Module& module_;
  const Computation& computation_;
  const bool traced_;
  std::vector<Node> nodes_;
  std::vector<bool> needed_;
  std::vector<Slot> leaves_;
  std::vector<InstructionIndex> definition_;  // of each slot
  std::vector<Users> users_;                  // of each slot
  std::vector<Group> groups_;
  std::map<InstructionIndex, std::optional<Bitcast>> bitcasts_;
  std::map<InstructionIndex, std::vector<Slot>> own_leaves_;  // of starts: those that are no renamed operands
  std::map<Slot, LaneProgram::Register> member_registers_;
  Plan plan_;
};

}  // namespace

uint32_t leaf_count(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  uint32_t count = 0;
  for (const Shape& element : shape.elements()) count += leaf_count(element);
  return count;
}

Plan make_plan(const Module& module, const Computation& computation, bool traced) {
  return Planner(module, computation, traced).make();
}

}  // namespace sapper::eval
