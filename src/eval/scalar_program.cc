#include "eval/scalar_program.h"

#include <algorithm>
#include <cstring>

#include "eval/lane_memory.h"

namespace sapper::eval {
namespace {

using hlo::Opcode;

// Inlined computations may call one another many times over: programs beyond this are not worth compiling.
constexpr size_t step_limit = 4096;
constexpr int depth_limit = 64;

bool is_scalars(const hlo::Shape& shape) {
  const auto is_scalar = [](const hlo::Shape& element) { return element.is_scalar(); };
  return shape.is_scalar() ||
         (shape.is_tuple() && std::all_of(shape.elements().begin(), shape.elements().end(), is_scalar));
}

// The instructions that the root depends on.
std::vector<bool> needed_instructions(const hlo::Computation& computation) {
  std::vector<bool> needed(computation.instructions.size(), false);
  needed[computation.root] = true;
  for (size_t i = computation.root + 1; i-- > 0;) {
    if (!needed[i]) continue;
    for (const hlo::InstructionIndex operand : computation.instructions[i].operands) needed[operand] = true;
  }
  return needed;
}

bool forwards_its_operand(const hlo::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::Copy:
    case Opcode::OptBarrier:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::Transpose: return true;
    default: return false;
  }
}

}  // namespace

class ScalarCompiler {
 public:
  explicit ScalarCompiler(const hlo::Module& module) : module_(module) {}

  std::optional<ScalarProgram> compile(hlo::ComputationIndex index) {
    const hlo::Computation& computation = module_.computations[index];
    std::vector<Registers> parameters;
    for (const hlo::InstructionIndex parameter : computation.parameters()) {
      const hlo::Shape& shape = computation.instructions[parameter].shape;
      if (!shape.is_scalar()) return std::nullopt;
      program_.parameter_types_.push_back(shape.element_type());
      parameters.push_back({add_register(shape.element_type())});
    }
    std::optional<Registers> outputs = inline_computation(computation, parameters, 0);
    if (!outputs) return std::nullopt;
    program_.outputs_ = std::move(*outputs);
    if (program_.outputs_.size() > 1) {
      for (const Register r : program_.outputs_) {
        if (r < parameters.size()) allocate(r);
      }
    }
    return std::move(program_);
  }

 private:
  using Register = ScalarProgram::Register;
  using Registers = std::vector<Register>;

  Register add_register(hlo::ElementType type) {
    program_.register_types_.push_back(type);
    program_.storage_.emplace_back();
    return static_cast<Register>(program_.storage_.size() - 1);
  }

  std::byte* allocate(Register r) {
    constexpr size_t alignment = 64;
    const size_t begin = program_.memory_.size();
    const size_t bytes = ScalarProgram::block * lane_bytes(program_.register_types_[r]);
    program_.memory_.resize(begin + (bytes + alignment - 1) / alignment * alignment);
    program_.storage_[r].begin = begin;
    return program_.memory_.data() + begin;
  }

  std::optional<Registers> inline_computation(const hlo::Computation& computation,
                                              const std::vector<Registers>& arguments, int depth) {
    if (depth > depth_limit) return std::nullopt;
    const std::vector<bool> needed = needed_instructions(computation);
    std::vector<Registers> values(computation.instructions.size());
    for (size_t i = 0; i <= computation.root; ++i) {
      if (!needed[i]) continue;
      const hlo::Instruction& instruction = computation.instructions[i];
      if (!is_scalars(instruction.shape) || program_.steps_.size() > step_limit) return std::nullopt;
      if (instruction.opcode == Opcode::Parameter) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
        continue;
      }
      std::vector<Registers> operands;
      for (const hlo::InstructionIndex operand : instruction.operands) operands.push_back(values[operand]);
      std::optional<Registers> value = compile_instruction(instruction, operands, depth);
      if (!value) return std::nullopt;
      values[i] = std::move(*value);
    }
    return values[computation.root];
  }

  std::optional<Registers> compile_instruction(const hlo::Instruction& instruction,
                                               const std::vector<Registers>& operands, int depth) {
    switch (instruction.opcode) {
      case Opcode::Constant: return compile_constant(instruction);
      case Opcode::Tuple: return flatten(operands);
      case Opcode::GetTupleElement: return Registers{operands[0][static_cast<size_t>(instruction.tuple_index)]};
      case Opcode::Call:
      case Opcode::Fusion:
      case Opcode::Map: return inline_computation(module_.computations[instruction.called[0]], operands, depth + 1);
      default: break;
    }
    if (instruction.shape.is_tuple() || operands.empty() || operands.size() > 3) return std::nullopt;
    if (forwards_its_operand(instruction)) {
      const hlo::ElementType from = program_.register_types_[operands[0][0]];
      const hlo::ElementType to = instruction.shape.element_type();
      if (from == to) return operands[0];
      return instruction.opcode == Opcode::Bitcast ? add_step(instruction, operands[0], bitcast_lanes(from, to))
                                                   : std::nullopt;
    }
    return compile_step(instruction, flatten(operands));
  }

  std::optional<Registers> compile_constant(const hlo::Instruction& instruction) {
    if (!instruction.literal || !instruction.shape.is_scalar()) return std::nullopt;
    const hlo::ElementType type = instruction.shape.element_type();
    const Register result = add_register(type);
    std::byte* lanes = allocate(result);
    const std::span<const std::byte> bytes = instruction.literal->bytes();
    if (const LaneFunction load = load_lanes(type)) {
      load(1, lanes, bytes.data(), nullptr, nullptr, 0);
    } else {
      std::memcpy(lanes, bytes.data(), lane_bytes(type));
    }
    for (size_t i = 1; i < ScalarProgram::block; ++i)
      std::memcpy(lanes + i * lane_bytes(type), lanes, lane_bytes(type));
    program_.storage_[result].is_constant = true;
    return Registers{result};
  }

  std::optional<Registers> compile_step(const hlo::Instruction& instruction, const Registers& operands) {
    const bool is_select = instruction.opcode == Opcode::Select;
    const hlo::ElementType operand_type = program_.register_types_[operands[is_select ? 1 : 0]];
    return add_step(instruction, operands, lane_operation(instruction, operand_type));
  }

  std::optional<Registers> add_step(const hlo::Instruction& instruction, const Registers& operands,
                                    const std::optional<LaneOperation>& operation) {
    if (!operation) return std::nullopt;
    const Register result = add_register(instruction.shape.element_type());
    allocate(result);
    ScalarProgram::Step step{*operation, &instruction, result, {}, static_cast<uint32_t>(operands.size())};
    std::copy(operands.begin(), operands.end(), step.operands);
    program_.steps_.push_back(step);
    return Registers{result};
  }

  static Registers flatten(const std::vector<Registers>& operands) {
    Registers all;
    for (const Registers& operand : operands) all.insert(all.end(), operand.begin(), operand.end());
    return all;
  }

  const hlo::Module& module_;
  ScalarProgram program_;
};

std::optional<ScalarProgram> ScalarProgram::compile(const hlo::Module& module, hlo::ComputationIndex computation) {
  return ScalarCompiler(module).compile(computation);
}

void ScalarProgram::run(size_t n, std::span<const void* const> inputs, std::span<void* const> outputs) {
  const auto place = [&](Register r) -> const void* {
    return r < inputs.size() ? inputs[r] : memory_.data() + storage_[r].begin;
  };
  // Elementwise steps read all of an element before they write it: the last may write where an input is.
  const bool is_direct = outputs_.size() == 1 && !steps_.empty() && steps_.back().result == outputs_[0];
  for (const Step& step : steps_) {
    void* result = is_direct && step.result == outputs_[0] ? outputs[0] : memory_.data() + storage_[step.result].begin;
    step.operation.apply(n, result, place(step.operands[0]), step.operand_count > 1 ? place(step.operands[1]) : nullptr,
                         step.operand_count > 2 ? place(step.operands[2]) : nullptr);
  }
  if (is_direct) return;

  const auto bytes = [&](size_t k) { return n * lane_bytes(output_type(k)); };
  if (outputs_.size() == 1) {
    std::memmove(outputs[0], place(outputs_[0]), bytes(0));
    return;
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {  // forwarded inputs first: an output may overwrite them
    const Register r = outputs_[k];
    if (r < inputs.size()) std::memcpy(memory_.data() + storage_[r].begin, inputs[r], bytes(k));
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {
    std::memcpy(outputs[k], memory_.data() + storage_[outputs_[k]].begin, bytes(k));
  }
}

std::optional<hlo::Opcode> ScalarProgram::single_operation() const {
  if (steps_.size() != 1 || outputs_.size() != 1 || parameter_count() != 2) return std::nullopt;
  const Step& step = steps_[0];
  if (step.result != outputs_[0] || step.operand_count != 2) return std::nullopt;
  if (step.operands[0] + step.operands[1] != 1) return std::nullopt;
  switch (step.instruction->opcode) {
    case Opcode::Add:
    case Opcode::And:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Multiply:
    case Opcode::Or:
    case Opcode::Xor: return step.instruction->opcode;
    default: return std::nullopt;
  }
}

std::optional<size_t> ScalarProgram::forwarded_parameter(size_t k) const {
  return outputs_[k] < parameter_count() ? std::optional<size_t>(outputs_[k]) : std::nullopt;
}

std::span<const std::byte> ScalarProgram::constant(Register r) const {
  if (!storage_[r].is_constant) return {};
  return {memory_.data() + storage_[r].begin, lane_bytes(register_types_[r])};
}

ScalarProgram ScalarProgram::computing(Register r) const {
  ScalarProgram program = *this;
  program.outputs_ = {r};
  std::vector<bool> needed(register_types_.size(), false);
  needed[r] = true;
  program.steps_.clear();
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (!needed[step.result]) continue;
    for (uint32_t o = 0; o < step.operand_count; ++o) needed[step.operands[o]] = true;
    program.steps_.push_back(step);
  }
  std::reverse(program.steps_.begin(), program.steps_.end());
  return program;
}

}  // namespace sapper::eval
