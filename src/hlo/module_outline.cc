#include "hlo/module_outline.h"

#include "hlo/hlo.pb.h"
#include "hlo/module.h"
#include "hlo/wire.h"

namespace sapper::hlo {

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorKind::BadInput, "{} is damaged or truncated: its bytes are not a protobuf message", what);
}

namespace {

constexpr WireType varint = WireType::Varint;
constexpr WireType bytes = WireType::Bytes;

// An opcode ("or") and a shape (of an element type). Refusing less keeps the memory for hostile files in proportion.
constexpr size_t smallest_instruction = 8;

Status outline_computation(std::string_view wire, ModuleOutline& module) {
  using P = proto::HloComputationProto;
  ComputationOutline& out = module.computations.emplace_back();
  out.first = module.instructions.size();
  WireField field;
  for (WireReader reader(wire); !reader.done();) {
    if (!reader.next(field))
      return damaged(fmt::format("computation {} ({})", module.computations.size() - 1, out.name));
    switch (field.tag) {
      case wire_tag(P::kInstructionsFieldNumber, bytes):
        if (field.payload.size() < smallest_instruction)
          return fail(ErrorKind::BadInput, "instruction {} of computation {} has no opcode or no shape",
                      module.instructions.size() - out.first, out.name);
        module.instructions.push_back(field.payload);
        break;
      case wire_tag(P::kNameFieldNumber, bytes): out.name = field.payload; break;
      case wire_tag(P::kProgramShapeFieldNumber, bytes): out.program_shape = field.payload; break;
      case wire_tag(P::kIdFieldNumber, varint): out.id = static_cast<int64_t>(field.varint); break;
      case wire_tag(P::kRootIdFieldNumber, varint): out.root_id = static_cast<int64_t>(field.varint); break;
      case wire_tag(P::kIsFusionComputationFieldNumber, varint): out.is_fusion = field.varint != 0; break;
      case wire_tag(P::kExecutionThreadFieldNumber, bytes): out.execution_thread = field.payload; break;
      default: out.others += field.encoding;
    }
  }
  out.count = module.instructions.size() - out.first;
  if (out.count == 0) return fail(ErrorKind::BadInput, "computation {} has no instructions", out.name);
  if (out.count > InstructionIndex(-1)) return fail(ErrorKind::Resource, "computation {} is too long", out.name);
  return {};
}

}  // namespace

Result<ModuleOutline> outline_module(std::string_view wire) {
  using P = proto::HloModuleProto;
  ModuleOutline out;
  WireField field;
  for (WireReader reader(wire); !reader.done();) {
    if (!reader.next(field)) return damaged("the module");
    switch (field.tag) {
      case wire_tag(P::kComputationsFieldNumber, bytes): SAPPER_CHECKED(outline_computation(field.payload, out)); break;
      case wire_tag(P::kNameFieldNumber, bytes): out.name = field.payload; break;
      case wire_tag(P::kEntryComputationNameFieldNumber, bytes): break;
      case wire_tag(P::kEntryComputationIdFieldNumber, varint):
        out.entry_id = static_cast<int64_t>(field.varint);
        break;
      case wire_tag(P::kIdFieldNumber, varint): out.id = static_cast<int64_t>(field.varint); break;
      case wire_tag(P::kHostProgramShapeFieldNumber, bytes): out.host_program_shape = field.payload; break;
      case wire_tag(P::kScheduleFieldNumber, bytes): out.schedule = field.payload; break;
      default: out.others += field.encoding;
    }
  }
  if (out.computations.empty()) return fail(ErrorKind::BadInput, "the module has no computations");
  return out;
}

}  // namespace sapper::hlo
