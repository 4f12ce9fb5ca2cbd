// Small wire-form modules for tests.
#pragma once

#include <initializer_list>
#include <string>

#include "hlo/hlo.pb.h"

namespace sapper::hlo {

// For adding fields that the schema does not name.
inline google::protobuf::UnknownFieldSet& unknown_fields(google::protobuf::Message* message) {
  return *message->GetReflection()->MutableUnknownFields(message);
}

inline void set_array_shape(proto::ShapeProto* shape, proto::PrimitiveType type,
                            std::initializer_list<int64_t> dimensions) {
  shape->set_element_type(type);
  int64_t minor = static_cast<int64_t>(dimensions.size());
  shape->mutable_layout()->set_tail_padding_alignment_in_elements(1);
  for (const int64_t dimension : dimensions) {
    shape->add_dimensions(dimension);
    shape->add_is_dynamic_dimension(false);
    shape->mutable_layout()->add_minor_to_major(--minor);
  }
}

inline proto::HloInstructionProto* add_instruction(proto::HloComputationProto* computation, const std::string& opcode,
                                                   int64_t id, std::initializer_list<int64_t> operands = {}) {
  proto::HloInstructionProto* instruction = computation->add_instructions();
  instruction->set_name(opcode + "." + std::to_string(id));
  instruction->set_opcode(opcode);
  instruction->set_id(id);
  for (const int64_t operand : operands) instruction->add_operand_ids(operand);
  set_array_shape(instruction->mutable_shape(), proto::F32, {2, 3});
  return instruction;
}

// main(p) = add(p, p), as computation 1, with parameter id 1 and root id 2.
inline proto::HloModuleProto small_module() {
  proto::HloModuleProto module;
  module.set_name("small");
  module.set_entry_computation_name("main");
  module.set_entry_computation_id(1);
  proto::HloComputationProto* main = module.add_computations();
  main->set_name("main");
  main->set_id(1);
  main->set_root_id(2);
  add_instruction(main, "parameter", 1);
  add_instruction(main, "add", 2, {1, 1});
  return module;
}

}  // namespace sapper::hlo
