// The collectives when one device runs the module: every group is that device alone, so that data goes nowhere. Groups
// of more devices are not evaluated.
#include <algorithm>

#include "eval/index_space.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

using hlo::Literal;
using hlo::Opcode;

tl::unexpected<Error> not_evaluated(const hlo::Instruction& instruction, std::string_view why) {
  return fail(hlo::error_at(
      ErrorKind::Unsupported, instruction,
      fmt::format("not evaluated: {} ({}): {}", hlo::to_string(instruction.opcode), instruction.name, why)));
}

int64_t mesh_size(const proto::MeshProto& mesh) {
  int64_t size = 1;
  for (const auto& axis : mesh.axes()) size = axis.size() == 1 ? size : 2;
  return size;
}

// Whether device 0 exchanges data with nobody but itself.
bool is_alone(const OpContext& context) {
  if (context.module.config.replica_count() > 1 || context.module.config.num_partitions() > 1) return false;
  const hlo::Attributes& attributes = context.instruction.attributes();
  const auto single = [](const proto::ReplicaGroup& group) { return group.replica_ids_size() <= 1; };
  const auto& groups = attributes.has_collective_device_list() ? attributes.collective_device_list().replica_groups()
                                                               : attributes.replica_groups();
  if (!std::all_of(groups.begin(), groups.end(), single)) return false;
  if (attributes.has_iota_collective_device_list()) {
    return attributes.iota_collective_device_list().num_devices_per_group() <= 1;
  }
  return !attributes.has_mesh_axes_replica_group_list() ||
         mesh_size(attributes.mesh_axes_replica_group_list().mesh()) == 1;
}

// Whether there are operands beside the data to send: buffers and places to receive into.
bool has_other_operands(const hlo::Instruction& instruction) {
  const bool starts =
      instruction.opcode == Opcode::AllGatherStart || instruction.opcode == Opcode::CollectivePermuteStart;
  const hlo::Shape& sent = starts ? instruction.shape.elements()[0] : instruction.shape;
  return instruction.operands.size() != (sent.is_tuple() ? sent.elements().size() : 1);
}

// The operands themselves, in the form of `shape`: the one, or a tuple.
Literal together(std::span<const Literal> operands, const hlo::Shape& shape) {
  if (!shape.is_tuple()) return operands[0];
  return Literal::tuple({operands.begin(), operands.end()});
}

// What the device receives in a collective-permute: its own data when a pair says so, zeros when no pair names it.
Result<Literal> permuted(const OpContext& context, std::span<const Literal> operands, const hlo::Shape& shape) {
  for (const proto::SourceTarget& pair : context.instruction.attributes().source_target_pairs()) {
    if (pair.target() != 0) continue;
    if (pair.source() == 0) return together(operands, shape);
    return not_evaluated(context.instruction, fmt::format("it receives from device {}", pair.source()));
  }
  std::vector<Literal> zeros;
  for (const Literal& operand : operands) zeros.emplace_back(operand.shape());
  return together(zeros, shape);
}

// Rows [send offset, + send size) of the input to rows [output offset, ...) of the output, for each update.
Result<Literal> ragged_all_to_all(const OpContext& context, std::span<const Literal> operands) {
  const Literal& input = operands[0];
  Literal result = operands[1];
  const IndexReader input_offsets(operands[2]);
  const IndexReader send_sizes(operands[3]);
  const IndexReader output_offsets(operands[4]);
  const auto rows = [](const Literal& array) { return array.shape().rank() == 0 ? 1 : array.shape().dimension(0); };
  if (input.element_count() == 0) return result;
  const int64_t row_bytes = input.shape().host_byte_size() / rows(input);
  const auto inside = [](int64_t offset, int64_t size, int64_t count) { return offset >= 0 && size <= count - offset; };
  for (int64_t u = 0; u < operands[2].element_count(); ++u) {
    const int64_t size = send_sizes[u];
    if (size <= 0) continue;
    if (!inside(input_offsets[u], size, rows(input)) || !inside(output_offsets[u], size, rows(result))) {
      return not_evaluated(context.instruction, fmt::format("update {} reaches outside the data", u));
    }
    std::memcpy(result.mutable_bytes().data() + output_offsets[u] * row_bytes,
                input.bytes().data() + input_offsets[u] * row_bytes, static_cast<size_t>(size * row_bytes));
  }
  return result;
}

// The result of a -start: (operands, results, context words...).
Literal started(const hlo::Shape& shape, std::span<const Literal> operands, Literal received) {
  std::vector<Literal> elements{together(operands, shape.elements()[0]), std::move(received)};
  for (size_t i = 2; i < shape.elements().size(); ++i) elements.emplace_back(shape.elements()[i]);
  return Literal::tuple(std::move(elements));
}

}  // namespace

Result<Literal> collective(const OpContext& context, std::span<const Literal> operands) {
  const hlo::Instruction& instruction = context.instruction;
  switch (instruction.opcode) {
    case Opcode::AllReduceDone: return operands[0];
    case Opcode::AllGatherDone:
    case Opcode::CollectivePermuteDone: return operands[0].elements()[1];
    default: break;
  }
  if (!is_alone(context)) return not_evaluated(instruction, "it takes part of several devices");
  if (instruction.opcode == Opcode::RaggedAllToAll) return ragged_all_to_all(context, operands);
  if (has_other_operands(instruction))
    return not_evaluated(instruction, "its operands are more than the data it sends");

  Literal result;
  switch (instruction.opcode) {
    case Opcode::CollectivePermute: {
      SAPPER_TRY(result, permuted(context, operands, instruction.shape));
      break;
    }
    case Opcode::CollectivePermuteStart: {
      SAPPER_TRY(Literal received, permuted(context, operands, instruction.shape.elements()[1]));
      result = started(instruction.shape, operands, std::move(received));
      break;
    }
    case Opcode::AllGatherStart:
      result = started(instruction.shape, operands, together(operands, instruction.shape.elements()[1]));
      break;
    default: result = together(operands, instruction.shape);
  }
  if (!result.shape().same_ignoring_layout(instruction.shape)) {
    return not_evaluated(instruction, fmt::format("its result {} is not what one device gives, {}",
                                                  instruction.shape.to_text(false), result.shape().to_text(false)));
  }
  return result;
}

}  // namespace sapper::eval
