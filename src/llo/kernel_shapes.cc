// The shapes that a kernel's declarations of operands state.
#include <map>

#include "hlo/text.h"
#include "llo/kernel.h"
#include "llo/kernel_operand.h"

namespace sapper::llo {
namespace {

struct Declared {
  hlo::Shape shape;
  bool is_result = false;
  bool is_element = false;  // of a tuple
};

Result<Declared> read_declared(const Program& program, const Instruction& instruction, bool in_memory) {
  const std::string_view text = instruction.attribute("shape").value_or("");
  Result<hlo::Shape> shape = hlo::parse_shape(text);
  if (!shape) return error_in(program, instruction, fmt::format("'{}' is no shape", text));
  if (in_memory && text.find('{') == std::string_view::npos) {
    return error_in(
        program, instruction,
        fmt::format("how {0} lies in memory is not stated: give the optimized module, or write the layout into "
                    "the declaration ([shape: {0}{{1,0:T(8,128)}}, ...])",
                    text));
  }
  const std::string_view kind = instruction.attribute("kind").value_or("");
  if (kind != "input" && kind != "output") {
    return error_in(program, instruction, "whether this is an input or an output is not stated");
  }
  return Declared{*std::move(shape), kind == "output", instruction.attribute("shape index").value_or("{}") != "{}"};
}

}  // namespace

Result<KernelShapes> declared_shapes(const Program& program) {
  std::map<int, Declared> by_index;
  for (const Instruction& instruction : program.instructions) {
    SAPPER_TRY(const std::optional<KernelOperand> operand, kernel_operand(program, instruction));
    if (!operand || operand->index < 0) continue;
    SAPPER_TRY(by_index[operand->index], read_declared(program, instruction, operand->space.has_value()));
  }
  KernelShapes shapes;
  std::vector<hlo::Shape> results;
  bool is_tuple = false;
  for (auto& [index, declared] : by_index) {
    if (index != static_cast<int>(shapes.operands.size() + results.size())) {
      return fail(ErrorKind::BadInput, "{}: operand {} of the kernel is not declared", program.file,
                  shapes.operands.size() + results.size());
    }
    is_tuple = is_tuple || declared.is_element;
    (declared.is_result ? results : shapes.operands).push_back(declared.shape);
  }
  if (results.empty()) return fail(ErrorKind::BadInput, "{}: the kernel declares no result", program.file);
  shapes.result = is_tuple || results.size() > 1 ? hlo::Shape::tuple(std::move(results)) : results.front();
  return shapes;
}

}  // namespace sapper::llo
