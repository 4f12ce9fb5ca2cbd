// Reads serialized modules. A module file is mostly a long list of small instructions that repeat the same few shapes,
// metadata and attributes, so no HloModuleProto is ever built: the wire format is walked by hand, the fields that
// Instruction holds are decoded in place, and each distinct byte string of the rest is parsed once and shared.
//
//   1. outline (hlo/module_outline.h): where computations and instructions lie
//   2. decode (hlo/instruction_decoder.h), in parallel over chunks of instructions: everything but operands
//   3. link, in parallel: operand ids to positions, roots, program shapes
//   4. schedule: instructions into the order of their schedule
#include <tbb/enumerable_thread_specific.h>

#include <mutex>

#include "base/parallel.h"
#include "hlo/instruction_decoder.h"
#include "hlo/program_shape.h"
#include "hlo/proto.h"
#include "hlo/wire.h"

namespace sapper::hlo {
namespace {

constexpr size_t chunk_size = 4096;

// A run of consecutive instructions of the module, of one or more computations.
struct Chunk {
  size_t begin = 0;
  size_t end = 0;
  References references;
};

// Runs step(0) .. step(count - 1) in parallel. The error is that of the first step that fails, so that it does not
// depend on the threads.
template <class Step>
Status in_parallel(size_t count, Step&& step) {
  std::mutex mutex;
  std::optional<Error> error;
  size_t failed = count;
  parallel_for_each(static_cast<int64_t>(count), [&](size_t i) {
    Status status = step(i);
    if (status) return;
    const std::lock_guard lock(mutex);
    if (i > failed) return;
    failed = i;
    error = std::move(status).error();
  });
  if (error) return fail(std::move(*error));
  return {};
}

Error about(const Instruction& instruction, Error error) {
  return error_at(error.kind, instruction, std::move(error.message));
}

class Reader {
 public:
  explicit Reader(ModuleOutline outline) : outline_(std::move(outline)) {}

  Result<Module> read() {
    SAPPER_CHECKED(allocate());
    const size_t computations = module_.computations.size();
    SAPPER_CHECKED(in_parallel(chunks_.size(), [this](size_t i) { return decode(chunks_[i]); }));
    SAPPER_CHECKED(in_parallel(computations, [this](size_t i) { return build_id_table(i); }));
    SAPPER_CHECKED(in_parallel(chunks_.size(), [this](size_t i) { return link(chunks_[i]); }));
    SAPPER_CHECKED(in_parallel(computations, [this](size_t i) { return finish_computation(i); }));
    SAPPER_CHECKED(finish_module());
    if (outline_.schedule) SAPPER_CHECKED(apply_schedule(*outline_.schedule));
    return std::move(module_);
  }

 private:
  Status allocate() {
    const auto& outlines = outline_.computations;
    const auto duplicate =
        computation_ids_.build(static_cast<uint32_t>(outlines.size()), [&](uint32_t i) { return outlines[i].id; });
    if (duplicate)
      return fail(ErrorKind::BadInput, "computation {} has id {}, which another one has too", outlines[*duplicate].name,
                  outlines[*duplicate].id);
    module_.computations.resize(outlines.size());
    instruction_ids_.resize(outlines.size());
    for (size_t i = 0; i < outlines.size(); ++i) module_.computations[i].instructions.resize(outlines[i].count);
    for (size_t begin = 0; begin < outline_.instructions.size(); begin += chunk_size)
      chunks_.push_back({begin, std::min(begin + chunk_size, outline_.instructions.size()), {}});
    return {};
  }

  // Calls visit(index in outline_.instructions, computation, index in the computation) for a chunk's instructions.
  template <class Visit>
  Status for_each_in(const Chunk& chunk, Visit&& visit) {
    const auto& outlines = outline_.computations;
    const auto after = std::upper_bound(outlines.begin(), outlines.end(), chunk.begin,
                                        [](size_t index, const ComputationOutline& o) { return index < o.first; });
    auto computation = static_cast<size_t>(after - outlines.begin()) - 1;
    for (size_t index = chunk.begin; index < chunk.end; ++index) {
      if (index == outlines[computation].first + outlines[computation].count) ++computation;
      SAPPER_CHECKED(visit(index, computation, index - outlines[computation].first));
    }
    return {};
  }

  Status decode(Chunk& chunk) {
    Caches& caches = caches_.local();
    return for_each_in(chunk, [&](size_t index, size_t computation, size_t local) -> Status {
      Instruction& out = module_.computations[computation].instructions[local];
      Status status = decode_instruction(outline_, computation_ids_, index, computation, caches, chunk.references, out);
      if (!status) return fail(about(out, std::move(status).error()));
      return {};
    });
  }

  Status build_id_table(size_t i) {
    const auto& instructions = module_.computations[i].instructions;
    const auto duplicate = instruction_ids_[i].build(static_cast<uint32_t>(instructions.size()),
                                                     [&](uint32_t k) { return instructions[k].id; });
    if (!duplicate) return {};
    return fail(error_at(ErrorKind::BadInput, instructions[*duplicate],
                         fmt::format("its id {} is that of another instruction of computation {} too",
                                     instructions[*duplicate].id, outline_.computations[i].name)));
  }

  // The position of an operand or control predecessor of instruction `user`.
  Result<InstructionIndex> resolve(int64_t id, std::string_view role, size_t number, size_t computation, size_t user) {
    const auto& instructions = module_.computations[computation].instructions;
    const std::optional<uint32_t> found = instruction_ids_[computation].find_packed_or_local(id);
    if (!found)
      return fail(error_at(ErrorKind::BadInput, instructions[user],
                           fmt::format("its {} {} has id {}, which no instruction of computation {} has", role, number,
                                       id, outline_.computations[computation].name)));
    if (*found >= user)
      return fail(
          error_at(ErrorKind::BadInput, instructions[user],
                   fmt::format("its {} {} ({}) does not come before it: the graph is cyclic or not in post order", role,
                               number, instructions[*found].name)));
    return *found;
  }

  Status link(Chunk& chunk) {
    size_t next = 0;
    auto edge = chunk.references.control_edges.begin();
    return for_each_in(chunk, [&](size_t index, size_t computation, size_t local) -> Status {
      Instruction& instruction = module_.computations[computation].instructions[local];
      for (size_t k = 0; k < instruction.operands.size(); ++k) {
        const int64_t id = chunk.references.operand_ids[next++];
        SAPPER_TRY(instruction.operands[k], resolve(id, "operand", k, computation, local));
      }
      for (size_t k = 0; edge != chunk.references.control_edges.end() && edge->first == index; ++edge, ++k) {
        const auto predecessor = resolve(edge->second, "control predecessor", k, computation, local);
        if (!predecessor) return fail(predecessor.error());
      }
      return {};
    });
  }

  Status finish_computation(size_t i) {
    const ComputationOutline& outline = outline_.computations[i];
    Computation& out = module_.computations[i];
    if (!is_utf8(outline.name) || !is_utf8(outline.execution_thread))
      return fail(ErrorKind::BadInput, "the name of computation {} is not UTF-8", i);
    out.name = outline.name;
    out.id = outline.id;
    out.is_fusion = outline.is_fusion;
    out.execution_thread = outline.execution_thread;
    const std::optional<uint32_t> root = instruction_ids_[i].find_packed_or_local(outline.root_id);
    if (!root)
      return fail(ErrorKind::BadInput, "the root of computation {} has id {}, which none of its instructions has",
                  outline.name, outline.root_id);
    out.root = *root;
    if (!parse_message(outline.others, out.attributes)) return damaged(fmt::format("computation {}", outline.name));
    if (outline.program_shape && !is_derived(*outline.program_shape, out) &&
        !parse_message(*outline.program_shape, *out.attributes.mutable_program_shape()))
      return damaged(fmt::format("the program shape of computation {}", outline.name));
    return {};
  }

  // Does the stated program shape say just what the parameters and the root do?
  bool is_derived(std::string_view wire, const Computation& computation) {
    using P = proto::ProgramShapeProto;
    const std::vector<InstructionIndex> parameters = computation.parameters();
    size_t shapes = 0;
    size_t names = 0;
    size_t results = 0;
    Caches& caches = caches_.local();
    const auto is_shape_of = [&](std::string_view stated, const Instruction& instruction) {
      const auto known = read_shape(caches, stated);
      return known && (*known)->is_complete && (*known)->shape == instruction.shape;
    };
    WireField field;
    for (WireReader reader(wire); !reader.done();) {
      if (!reader.next(field)) return false;
      bool fits = false;
      switch (field.tag) {
        case wire_tag(P::kParametersFieldNumber, WireType::Bytes):
          fits =
              shapes < parameters.size() && is_shape_of(field.payload, computation.instructions[parameters[shapes++]]);
          break;
        case wire_tag(P::kParameterNamesFieldNumber, WireType::Bytes):
          fits = names < parameters.size() && field.payload == computation.instructions[parameters[names++]].name;
          break;
        case wire_tag(P::kResultFieldNumber, WireType::Bytes):
          fits = ++results == 1 && is_shape_of(field.payload, computation.root_instruction());
          break;
        default: break;
      }
      if (!fits) return false;
    }
    return shapes == parameters.size() && names == parameters.size() && results == 1;
  }

  Status finish_module() {
    if (!is_utf8(outline_.name)) return fail(ErrorKind::BadInput, "the name of the module is not UTF-8");
    module_.name = outline_.name;
    module_.id = outline_.id;
    const std::optional<uint32_t> entry = computation_ids_.find(outline_.entry_id);
    if (!entry)
      return fail(ErrorKind::BadInput, "the entry computation has id {}, which no computation has", outline_.entry_id);
    module_.entry = *entry;
    if (!parse_message(outline_.others, module_.attributes)) return damaged("the module");
    if (!outline_.host_program_shape) return {};
    proto::ProgramShapeProto stated;
    if (!parse_message(*outline_.host_program_shape, stated)) return damaged("the host program shape");
    SAPPER_CHECKED(set_entry_layout(stated, module_));
    if (host_program_shape(module_).SerializeAsString() != stated.SerializeAsString())
      *module_.attributes.mutable_host_program_shape() = std::move(stated);
    return {};
  }

  Status apply_schedule(std::string_view wire) {
    proto::HloScheduleProto schedule;
    if (!parse_message(wire, schedule)) return damaged("the schedule");
    for (const auto& [id, sequence] : schedule.sequences()) {
      const std::optional<uint32_t> computation = computation_ids_.find(id);
      if (!computation)
        return fail(ErrorKind::BadInput, "the schedule orders computation {}, but no computation has this id", id);
      SAPPER_TRY(const std::vector<InstructionIndex> order, scheduled_order(sequence, *computation));
      SAPPER_CHECKED(reorder(order, module_.computations[*computation]));
    }
    module_.is_scheduled = true;
    return {};
  }

  Result<std::vector<InstructionIndex>> scheduled_order(const proto::HloScheduleProto::InstructionSequence& sequence,
                                                        size_t computation) {
    const std::string_view name = outline_.computations[computation].name;
    const size_t count = module_.computations[computation].instructions.size();
    if (static_cast<size_t>(sequence.instruction_ids_size()) != count)
      return fail(ErrorKind::BadInput, "the schedule of computation {} has {} of its {} instructions", name,
                  sequence.instruction_ids_size(), count);
    std::vector<InstructionIndex> order;
    std::vector<bool> seen(count);
    for (const int64_t id : sequence.instruction_ids()) {
      const std::optional<uint32_t> found = instruction_ids_[computation].find_packed_or_local(id);
      if (!found || seen[*found])
        return fail(ErrorKind::BadInput, "the schedule of computation {} names instruction {}, which {}", name, id,
                    found ? "it names before" : "is not there");
      seen[*found] = true;
      order.push_back(*found);
    }
    return order;
  }

  // Puts the instructions into `order`, remembering the order they were listed in.
  static Status reorder(const std::vector<InstructionIndex>& order, Computation& computation) {
    if (std::is_sorted(order.begin(), order.end())) return {};
    std::vector<InstructionIndex> position(order.size());
    for (InstructionIndex i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::vector<Instruction> scheduled;
    scheduled.reserve(order.size());
    for (const InstructionIndex listed : order) {
      Instruction& instruction = scheduled.emplace_back(std::move(computation.instructions[listed]));
      for (InstructionIndex& operand : instruction.operands) {
        operand = position[operand];
        if (operand >= scheduled.size() - 1)
          return fail(error_at(
              ErrorKind::BadInput, instruction,
              fmt::format("the schedule of computation {} puts it before one of its operands", computation.name)));
      }
    }
    computation.instructions = std::move(scheduled);
    computation.root = position[computation.root];
    computation.listed_order = std::move(position);
    return {};
  }

  ModuleOutline outline_;
  Module module_;
  IdTable computation_ids_;
  std::vector<IdTable> instruction_ids_;  // of each computation
  std::vector<Chunk> chunks_;
  tbb::enumerable_thread_specific<Caches> caches_;
};

// The messages inside the bytes of a file.
struct WireForm {
  std::string_view module;
  std::optional<std::string_view> config;
};

bool has_computations(std::string_view wire) {
  bool found = false;
  WireField field;
  for (WireReader reader(wire); !reader.done();) {
    if (!reader.next(field)) return false;
    found = found || field.tag == wire_tag(proto::HloModuleProto::kComputationsFieldNumber, WireType::Bytes);
  }
  return found;
}

// Field 1 of a HloModuleProto is its name. Of HloModuleProtoWithConfig and of HloProto (whose buffer assignment is not
// read) it is a module, hence a message that has computations, which no name is.
Result<WireForm> unwrap(std::string_view wire) {
  using P = proto::HloModuleProtoWithConfig;
  WireForm form{wire, {}};
  std::optional<std::string_view> config;
  WireField field;
  for (WireReader reader(wire); !reader.done();) {
    if (!reader.next(field)) return damaged("the module");
    if (field.tag == wire_tag(P::kHloModuleFieldNumber, WireType::Bytes) && has_computations(field.payload))
      form.module = field.payload;
    if (field.tag == wire_tag(P::kConfigFieldNumber, WireType::Bytes)) config = field.payload;
  }
  if (form.module.data() != wire.data()) form.config = config;
  return form;
}

Status read_config(std::string_view wire, Module& module) {
  if (!parse_message(wire, module.config)) return damaged("the module's configuration");
  if (!module.config.has_entry_computation_layout()) return {};
  const proto::ProgramShapeProto& stated = module.config.entry_computation_layout();
  if (!module.has_entry_layout) SAPPER_CHECKED(set_entry_layout(stated, module));
  if (stated.SerializeAsString() == host_program_shape(module).SerializeAsString())
    module.config.clear_entry_computation_layout();
  return {};
}

}  // namespace

Result<Module> parse_proto(std::string_view bytes) {
  SAPPER_TRY(const WireForm form, unwrap(bytes));
  SAPPER_TRY(ModuleOutline outline, outline_module(form.module));
  SAPPER_TRY(Module module, Reader(std::move(outline)).read());
  if (form.config) SAPPER_CHECKED(read_config(*form.config, module));
  return module;
}

}  // namespace sapper::hlo
