#include "llo/kernel_operand.h"

#include <charconv>

namespace sapper::llo {

tl::unexpected<Error> error_in(const Program& program, const Instruction& instruction, std::string message) {
  return fail(Error{ErrorKind::BadInput,
                    std::move(message),
                    {program.file, static_cast<int>(instruction.line), 0, to_string(instruction.result)}});
}

Result<std::optional<KernelOperand>> kernel_operand(const Program& program, const Instruction& instruction) {
  constexpr std::string_view prefix = "inlined_call_operand.";
  if (!instruction.opcode.starts_with(prefix)) return std::nullopt;
  KernelOperand operand;
  const std::string_view text = instruction.attribute("index").value_or("");
  if (std::from_chars(text.data(), text.data() + text.size(), operand.index).ec != std::errc())
    return error_in(program, instruction, "an operand of the kernel without its index");
  operand.space = data_space_named(instruction.opcode.substr(prefix.size()));
  return operand;
}

std::vector<hlo::Shape> arrays_of(const hlo::Shape& shape) {
  if (shape.is_array()) return {shape};
  std::vector<hlo::Shape> arrays;
  if (shape.is_tuple())
    for (const hlo::Shape& element : shape.elements())
      for (hlo::Shape& array : arrays_of(element)) arrays.push_back(std::move(array));
  return arrays;
}

}  // namespace sapper::llo
