// Writes serialized modules: deterministic, fields in the order of their numbers, unknown ones last, as XLA's own
// (deterministic) serialization has them. Messages are built an instruction at a time, never a whole module.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "base/assert.h"
#include "hlo/program_shape.h"
#include "hlo/proto.h"
#include "hlo/wire.h"

namespace sapper::hlo {
namespace {

void append_message(const google::protobuf::MessageLite& message, std::string& out) {
  const size_t before = out.size();
  const size_t size = message.ByteSizeLong();
  SAPPER_ASSERT(size <= INT_MAX);
  out.resize(before + size);
  google::protobuf::io::ArrayOutputStream stream(out.data() + before, static_cast<int>(size));
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
}

constexpr int packed_shift = 32;

// The ids of a module, with those numbered that have none.
struct Ids {
  std::vector<int64_t> computations;
  std::vector<std::vector<int64_t>> instructions;
};

// Newer XLA packs the computation's id into the upper half of an instruction's.
bool has_packed_ids(const Module& module) {
  bool is_packed = false;
  for_each_instruction(module, [&](const Computation&, const Instruction& instruction) {
    is_packed = is_packed || instruction.id >> packed_shift > 0;
  });
  return is_packed;
}

std::vector<int64_t> number_computations(const Module& module) {
  int64_t last = 0;
  for (const Computation& computation : module.computations) last = std::max(last, computation.id);
  std::vector<int64_t> ids;
  for (const Computation& computation : module.computations)
    ids.push_back(computation.id >= 0 ? computation.id : ++last);
  return ids;
}

Ids number(const Module& module) {
  Ids ids;
  ids.computations = number_computations(module);
  const bool is_packed = has_packed_ids(module);
  int64_t last = 0;  // of the module, or when packed of the computation
  if (!is_packed)
    for_each_instruction(module, [&](const Computation&, const Instruction& i) { last = std::max(last, i.id); });
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const auto& instructions = module.computations[c].instructions;
    if (is_packed) {
      last = ids.computations[c] << packed_shift;
      for (const Instruction& i : instructions) last = std::max(last, i.id);
    }
    std::vector<int64_t>& out = ids.instructions.emplace_back();
    for (const Instruction& i : instructions) out.push_back(i.id >= 0 ? i.id : ++last);
  }
  return ids;
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module), ids_(number(module)) {}

  std::string write() {
    using P = proto::HloModuleProto;
    std::string out;
    P head;
    head.set_name(module_.name);
    head.set_entry_computation_name(module_.entry_computation().name);
    append_message(head, out);
    std::string computation;
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      computation.clear();
      write_computation(i, computation);
      append_field(P::kComputationsFieldNumber, computation, out);
    }
    P tail = module_.attributes;
    if (!states_host_program_shape()) *tail.mutable_host_program_shape() = host_program_shape(module_);
    tail.set_id(module_.id);
    tail.set_entry_computation_id(ids_.computations[module_.entry]);
    if (module_.is_scheduled) write_schedule(tail.mutable_schedule());
    append_message(tail, out);
    return out;
  }

 private:
  // The module's attributes hold a host program shape that says more than the entry layouts, and agrees with them.
  [[nodiscard]] bool states_host_program_shape() const {
    if (!module_.attributes.has_host_program_shape()) return false;
    Module stated;
    stated.computations = {module_.entry_computation()};
    return set_entry_layout(module_.attributes.host_program_shape(), stated) && module_.has_entry_layout &&
           stated.entry_parameter_layouts == module_.entry_parameter_layouts &&
           stated.entry_result_layout == module_.entry_result_layout;
  }

  void write_schedule(proto::HloScheduleProto* out) const {
    for (size_t i = 0; i < module_.computations.size(); ++i) {
      if (module_.computations[i].is_fusion) continue;  // a fusion's body runs as one instruction
      const std::vector<int64_t>& order = ids_.instructions[i];
      auto& sequence = (*out->mutable_sequences())[ids_.computations[i]];
      sequence.mutable_instruction_ids()->Add(order.begin(), order.end());
    }
  }

  void write_computation(size_t index, std::string& out) {
    using P = proto::HloComputationProto;
    const Computation& computation = module_.computations[index];
    P head;
    head.set_name(computation.name);
    append_message(head, out);
    std::string instruction;
    for (const InstructionIndex i : listed_order(computation)) {
      instruction.clear();
      write_instruction(index, i, instruction);
      append_field(P::kInstructionsFieldNumber, instruction, out);
    }
    P tail = computation.attributes;
    if (!tail.has_program_shape()) *tail.mutable_program_shape() = program_shape(computation);
    tail.set_id(ids_.computations[index]);
    tail.set_root_id(ids_.instructions[index][computation.root]);
    tail.set_is_fusion_computation(computation.is_fusion);
    tail.set_execution_thread(computation.execution_thread);
    append_message(tail, out);
  }

  // Computation::listed_order where it still is a legal order, else the order of the instructions.
  static std::vector<InstructionIndex> listed_order(const Computation& computation) {
    const size_t count = computation.instructions.size();
    std::vector<bool> listed(count);
    const auto is_next = [&](InstructionIndex i) {
      if (i >= count || listed[i]) return false;
      listed[i] = true;
      const auto& operands = computation.instructions[i].operands;
      return std::all_of(operands.begin(), operands.end(), [&](InstructionIndex operand) { return listed[operand]; });
    };
    if (computation.listed_order.size() == count &&
        std::all_of(computation.listed_order.begin(), computation.listed_order.end(), is_next))
      return computation.listed_order;
    std::vector<InstructionIndex> order(count);
    for (InstructionIndex i = 0; i < count; ++i) order[i] = i;
    return order;
  }

  void write_instruction(size_t computation, InstructionIndex index, std::string& out) {
    const Instruction& in = module_.computations[computation].instructions[index];
    proto::HloInstructionProto message = in.attributes();
    message.set_name(in.name);
    message.set_opcode(std::string(to_string(in.opcode)));
    write_shape(in, message);
    if (in.metadata) *message.mutable_metadata() = *in.metadata;
    write_literal(in, message);
    message.set_parameter_number(in.parameter_number);
    message.set_tuple_index(in.tuple_index);
    message.mutable_dimensions()->Add(in.dimensions.begin(), in.dimensions.end());
    message.set_id(ids_.instructions[computation][index]);
    for (const InstructionIndex operand : in.operands) message.add_operand_ids(ids_.instructions[computation][operand]);
    for (const ComputationIndex called : in.called) message.add_called_computation_ids(ids_.computations[called]);
    append_message(message, out);
  }

  // A shape or literal in the attributes says more than Shape or Literal can: it stays unless it became another one.
  static void write_shape(const Instruction& in, proto::HloInstructionProto& message) {
    if (message.has_shape()) {
      const Result<Shape> stated = from_proto(message.shape());
      if (stated && *stated == in.shape) return;
    }
    message.clear_shape();
    to_proto(in.shape, message.mutable_shape());
  }

  static void write_literal(const Instruction& in, proto::HloInstructionProto& message) {
    if (message.has_literal()) {
      const Result<Literal> stated = from_proto(message.literal());
      if (stated && in.literal && *stated == *in.literal) return;
    }
    message.clear_literal();
    if (!in.literal) return;
    // The literal of a custom-call need not have the shape of its result.
    const Shape& shape = in.shape.same_ignoring_layout(in.literal->shape()) ? in.shape : in.literal->shape();
    to_proto(*in.literal, shape, message.mutable_literal());
  }

  const Module& module_;
  const Ids ids_;
};

}  // namespace

std::string to_proto(const Module& module) { return Writer(module).write(); }

std::string to_proto_with_config(const Module& module) {
  using P = proto::HloModuleProtoWithConfig;
  std::string out;
  append_field(P::kHloModuleFieldNumber, to_proto(module), out);
  proto::HloModuleConfigProto config = module.config;
  if (!config.has_entry_computation_layout()) *config.mutable_entry_computation_layout() = host_program_shape(module);
  std::string config_bytes;
  append_message(config, config_bytes);
  append_field(P::kConfigFieldNumber, config_bytes, out);
  return out;
}

}  // namespace sapper::hlo
