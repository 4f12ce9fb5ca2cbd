#include "isolate/provenance.h"

namespace sapper::isolate {
namespace {

// Entry `id` of a table of the stack frame index, whose ids count from 1; null: no such.
template <class Table>
const typename Table::value_type* entry(const Table& table, int id) {
  return id >= 1 && id <= table.size() ? &table.Get(id - 1) : nullptr;
}

// Newer modules say source lines by a frame of a table that the module holds.
void resolve_frame(const proto::StackFrameIndexProto& index, int frame_id, Provenance& out) {
  const auto* frame = entry(index.stack_frames(), frame_id);
  const auto* location = frame == nullptr ? nullptr : entry(index.file_locations(), frame->file_location_id());
  if (location == nullptr) return;
  out.source_line = location->line();
  if (const auto* file = entry(index.file_names(), location->file_name_id())) out.source_file = *file;
}

}  // namespace

Provenance provenance(const hlo::Module& module, const Occurrence& occurrence) {
  const hlo::Computation& computation = module.computations[occurrence.computation];
  const hlo::Instruction& instruction = computation.instructions[occurrence.instruction];
  Provenance out{.module = module.name, .computation = computation.name, .instruction = instruction.name};
  if (instruction.metadata == nullptr) return out;
  const proto::OpMetadata& metadata = *instruction.metadata;
  out.op_name = metadata.op_name();
  out.source_file = metadata.source_file();
  out.source_line = metadata.source_line();
  if (out.source_file.empty()) resolve_frame(module.attributes.stack_frame_index(), metadata.stack_frame_id(), out);
  return out;
}

}  // namespace sapper::isolate
