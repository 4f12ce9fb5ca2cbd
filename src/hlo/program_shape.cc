#include "hlo/program_shape.h"

#include "hlo/proto.h"
#include "hlo/verifier_site.h"

namespace sapper::hlo {

proto::ProgramShapeProto program_shape(const Computation& computation) {
  proto::ProgramShapeProto out;
  for (const InstructionIndex index : computation.parameters()) {
    to_proto(computation.instructions[index].shape, out.add_parameters());
    out.add_parameter_names(computation.instructions[index].name);
  }
  to_proto(computation.root_instruction().shape, out.mutable_result());
  return out;
}

proto::ProgramShapeProto host_program_shape(const Module& module) {
  proto::ProgramShapeProto out;
  if (module.has_entry_layout) {
    for (const Shape& shape : module.entry_parameter_layouts) to_proto(shape, out.add_parameters());
    to_proto(module.entry_result_layout, out.mutable_result());
  } else {
    out = program_shape(module.entry_computation());
    out.clear_parameter_names();
  }
  for (int i = 0; i < out.parameters_size(); ++i) out.add_parameter_names(fmt::format("p{}", i));
  return out;
}

Status set_entry_layout(const proto::ProgramShapeProto& stated, Module& module) {
  const Computation& entry = module.entry_computation();
  const std::vector<InstructionIndex> parameters = entry.parameters();
  if (static_cast<size_t>(stated.parameters_size()) != parameters.size())
    return fail(ErrorKind::BadInput, "the host program shape has {} parameters, but the entry computation {} has {}",
                stated.parameters_size(), entry.name, parameters.size());
  std::vector<Shape> layouts;
  for (size_t i = 0; i < parameters.size(); ++i) {
    SAPPER_TRY(layouts.emplace_back(), from_proto(stated.parameters(static_cast<int>(i))));
    const Instruction& parameter = entry.instructions[parameters[i]];
    if (!verifier::compatible(layouts[i], parameter.shape))
      return fail(error_at(ErrorKind::BadInput, parameter,
                           fmt::format("the host program shape states {} for parameter {}, whose shape is {}",
                                       layouts[i].to_text(), i, parameter.shape.to_text())));
  }
  SAPPER_TRY(Shape result, from_proto(stated.result()));
  if (!verifier::compatible(result, entry.root_instruction().shape))
    return fail(error_at(ErrorKind::BadInput, entry.root_instruction(),
                         fmt::format("the host program shape states the result {}, but the root has shape {}",
                                     result.to_text(), entry.root_instruction().shape.to_text())));
  module.entry_parameter_layouts = std::move(layouts);
  module.entry_result_layout = std::move(result);
  module.has_entry_layout = true;
  return {};
}

}  // namespace sapper::hlo
