// What an instruction says on the wire when its text does not say otherwise.
#include "hlo/text_attributes.h"

namespace sapper::hlo {
namespace {

std::string_view default_comparison_type(ElementType type) {
  switch (element_class(type)) {
    case ElementClass::Signed: return "SIGNED";
    case ElementClass::Unsigned:
    case ElementClass::Pred: return "UNSIGNED";
    default: return "FLOAT";
  }
}

void preset_precisions(Attributes& wire, size_t operands) {
  for (size_t i = 0; i < operands; ++i)
    wire.mutable_precision_config()->add_operand_precision(proto::PrecisionConfig::DEFAULT);
}

void preset_group_counts(Attributes& wire) {
  wire.set_feature_group_count(1);
  wire.set_batch_group_count(1);
}

}  // namespace

bool preset_attributes(const Computation& computation, const Instruction& instruction, Attributes& wire) {
  switch (instruction.opcode) {
    case Opcode::Convolution:
      preset_group_counts(wire);
      preset_precisions(wire, 2);
      wire.mutable_window();
      return true;
    case Opcode::Dot:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot: preset_precisions(wire, 2); return true;
    case Opcode::CustomCall:
      preset_group_counts(wire);
      preset_precisions(wire, instruction.operands.size());
      wire.set_custom_call_api_version(proto::API_VERSION_ORIGINAL);
      return true;
    case Opcode::Compare: {
      if (instruction.operands.empty()) return false;
      const Shape& operand = computation.instructions[instruction.operands[0]].shape;
      wire.set_comparison_type(std::string(default_comparison_type(operand.element_type())));
      return true;
    }
    case Opcode::Topk:
      wire.set_largest(true);
      wire.set_is_stable(true);
      return true;
    case Opcode::Scan: wire.set_is_associative(proto::TRI_STATE_FALSE); return true;
    case Opcode::ReduceWindow:
    case Opcode::SelectAndScatter: wire.mutable_window(); return true;
    case Opcode::Cholesky: wire.mutable_cholesky_options(); return true;
    case Opcode::TriangularSolve: wire.mutable_triangular_solve_options(); return true;
    default: return false;
  }
}

}  // namespace sapper::hlo
