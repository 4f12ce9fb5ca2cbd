#include "reduce/program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "hlo/dead_code.h"
#include "hlo/fingerprint.h"
#include "hlo/rewriter.h"
#include "inputs/draw.h"
#include "isolate/sanitize.h"

namespace sapper::reduce {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

int64_t complexity_of(hlo::ElementType type) {
  if (type == hlo::ElementType::F32 || type == hlo::ElementType::S32) return 0;
  if (type == hlo::ElementType::Pred) return 1;
  return hlo::is_complex(type) ? 3 : 2;
}

// Nothing for zeros, little for ones and small integers, most for what takes many digits.
int64_t information_of(double value) {
  if (value == 0) return 0;
  if (value == 1) return 1;
  if (std::abs(value) < 256 && value == std::round(value)) return 2;
  return std::abs(value) < 256 && value * 256 == std::round(value * 256) ? 3 : 4;
}

int64_t information_of(const Literal& literal) {
  if (literal.shape().is_tuple()) {
    int64_t all = 0;
    for (const Literal& element : literal.elements()) all += information_of(element);
    return all;
  }
  if (!literal.shape().is_array()) return 0;
  int64_t all = 0;
  for (int64_t i = 0; i < literal.element_count(); ++i)
    all += hlo::is_complex(literal.shape().element_type())
               ? information_of(literal.complex_at(i).real()) + information_of(literal.complex_at(i).imag())
               : information_of(literal.real_at(i));
  return all;
}

uint64_t hash_of(const Literal& literal) {
  uint64_t hash = static_cast<uint64_t>(literal.element_count());
  const auto bytes = literal.bytes();
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = inputs::mix(hash ^ word);
  }
  return hash;
}

void drop_parameters(Program& program, const std::vector<bool>& alive) {
  Computation& entry = program.module.computations[program.module.entry];
  std::vector<Literal> arguments;
  for (const InstructionIndex parameter : entry.parameters()) {
    if (!alive[parameter]) continue;
    Instruction& kept = entry.instructions[parameter];
    arguments.push_back(std::move(program.arguments[static_cast<size_t>(kept.parameter_number)]));
    kept.parameter_number = static_cast<int64_t>(arguments.size()) - 1;
  }
  program.arguments = std::move(arguments);
}

// Names that nobody else in the module has: values are traced by name.
void name_uniquely(Module& module) {
  std::set<std::string> taken;
  for (Computation& computation : module.computations)
    for (Instruction& instruction : computation.instructions) {
      std::string name = instruction.name;
      for (int k = 1; !taken.insert(name).second; ++k) name = fmt::format("{}.{}", instruction.name, k);
      instruction.name = name;
    }
}

// What speaks of parameters and results by their number.
void forget_boundary(Module& module) {
  module.has_entry_layout = false;
  module.entry_parameter_layouts.clear();
  module.attributes.clear_host_program_shape();
  module.attributes.clear_input_output_alias();
  module.attributes.clear_buffer_donor();
  module.attributes.clear_cross_program_prefetches();
  module.attributes.clear_spmd_output_sharding();
  module.attributes.clear_spmd_parameters_shardings();
  for (Computation& computation : module.computations) {
    computation.attributes.clear_program_shape();
    computation.listed_order.clear();
  }
  if (module.is_scheduled) isolate::state_boundary_layouts(module);
}

// Without what ties instructions to their surroundings, which are about to change.
void sanitize(Module& module) {
  for (Computation& computation : module.computations)
    for (Instruction& instruction : computation.instructions) {
      Instruction kept = isolate::sanitized(module, instruction);
      kept.operands = std::move(instruction.operands);
      kept.called = std::move(instruction.called);
      instruction = std::move(kept);
    }
}

// A parameter of the entry that is a tuple of arrays becomes one parameter an array.
void take_tuples_apart(Program& program) {
  const Computation entry = program.module.entry_computation();
  std::vector<Literal> arguments;
  hlo::Rewriter rewriter(entry);
  program.module.computations[program.module.entry] =
      rewriter.run([&](const Instruction& instruction) -> InstructionIndex {
        if (instruction.opcode != Opcode::Parameter || !instruction.shape.is_tuple())
          return rewriter.copy(instruction, rewriter.moved_operands(instruction));
        std::vector<InstructionIndex> elements;
        for (size_t k = 0; k < instruction.shape.elements().size(); ++k) {
          Instruction element = instruction;
          element.name += fmt::format(".element{}", k);
          element.shape = instruction.shape.elements()[k];
          elements.push_back(rewriter.copy(std::move(element), {}));
        }
        Instruction tuple = instruction;
        tuple.opcode = Opcode::Tuple;
        return rewriter.copy(std::move(tuple), std::move(elements));
      });
  // In the order of the old numbers, elements in their own.
  Computation& taken = program.module.computations[program.module.entry];
  int64_t number = 0;
  for (const InstructionIndex parameter : taken.parameters()) taken.instructions[parameter].parameter_number = number++;
  for (const Literal& argument : program.arguments) {
    const std::vector<Literal> elements = hlo::leaves(argument);
    arguments.insert(arguments.end(), elements.begin(), elements.end());
  }
  program.arguments = std::move(arguments);
}

}  // namespace

Size size_of(const Program& program) {
  Size size;
  size.flags = static_cast<int64_t>(program.configuration.options.size() + init_flags_of(program.configuration).size());
  hlo::for_each_instruction(program.module, [&](const Computation&, const Instruction& instruction) {
    ++size.instructions;
    hlo::for_each_leaf(instruction.shape, [&](const hlo::Shape& leaf) {
      size.elements += leaf.element_count();
      size.complexity += complexity_of(leaf.element_type()) + static_cast<int64_t>(leaf.rank()) +
                         (leaf.layout() != nullptr && *leaf.layout() != hlo::Layout::descending(leaf.rank()) ? 1 : 0);
    });
    if (instruction.metadata) ++size.complexity;
    if (instruction.literal) size.information += information_of(*instruction.literal);
    size.complexity += static_cast<int64_t>(instruction.attributes().ByteSizeLong());
  });
  size.complexity += static_cast<int64_t>(program.module.attributes.ByteSizeLong());
  size.complexity += program.module.is_scheduled ? 1 : 0;
  for (const Literal& argument : program.arguments) size.information += information_of(argument);
  return size;
}

std::vector<std::string> init_flags_of(const target::Configuration& configuration) {
  const std::string& text = configuration.init_flags;
  std::vector<std::string> flags;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) flags.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return flags;
}

std::string identity(const Program& program) {
  std::string text = hlo::fingerprint(program.module).to_hex();
  for (const Literal& argument : program.arguments) text += fmt::format(" {:x}", hash_of(argument));
  for (const auto& [name, value] : program.configuration.options)
    text += fmt::format(" {}={}", name, target::to_string(value));
  return text + " " + program.configuration.init_flags;
}

Result<Program> normalized(Module module, const std::vector<Literal>& arguments, target::Configuration configuration) {
  Program program{std::move(module), arguments, std::move(configuration)};
  const Computation& entry = program.module.entry_computation();
  const std::vector<InstructionIndex> parameters = entry.parameters();
  if (parameters.size() != arguments.size())
    return fail(ErrorKind::BadInput, "{} arguments for {} parameters", arguments.size(), parameters.size());
  for (const InstructionIndex parameter : parameters)
    for (const hlo::Shape& element : entry.instructions[parameter].shape.elements())
      if (!element.is_array())
        return fail(ErrorKind::Unsupported, "parameter {} is a tuple of more than arrays; sapper does not reduce it",
                    entry.instructions[parameter].name);
  sanitize(program.module);
  take_tuples_apart(program);
  clean(program);
  return program;
}

void clean(Program& program) {
  Module& module = program.module;
  for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
    Computation& computation = module.computations[c];
    bypass_tuples(computation);
    const std::vector<bool> alive = alive_in(computation, c != module.entry);
    if (c == module.entry) drop_parameters(program, alive);
    if (std::ranges::find(alive, false) != alive.end()) computation = without_dead(computation, alive);
    computation.listed_order.clear();
  }
  drop_uncalled(module);
  name_uniquely(module);
  forget_boundary(module);
}

Literal part_of(const Literal& array, size_t dimension, int64_t first, int64_t size) {
  std::vector<int64_t> dimensions = array.shape().dimensions();
  const auto bytes_of = [&](size_t from) {
    int64_t bytes = hlo::host_bytes(array.shape().element_type());
    for (size_t d = from; d < dimensions.size(); ++d) bytes *= dimensions[d];
    return bytes;
  };
  const int64_t row = bytes_of(dimension + 1);
  const int64_t from_stride = bytes_of(dimension);
  const int64_t blocks = from_stride == 0 ? 0 : array.shape().host_byte_size() / from_stride;
  dimensions[dimension] = size;
  Literal part = Literal::uninitialized(hlo::Shape::array(array.shape().element_type(), dimensions));
  for (int64_t block = 0; block < blocks; ++block)
    std::memcpy(part.mutable_bytes().data() + block * size * row,
                array.bytes().data() + block * from_stride + first * row, static_cast<size_t>(size * row));
  return part;
}

Literal in_shape(const Literal& array, const hlo::Shape& shape) {
  return Literal::over(shape.without_layout(), array.shared_bytes());
}

}  // namespace sapper::reduce
