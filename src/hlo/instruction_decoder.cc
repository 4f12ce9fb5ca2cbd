#include "hlo/instruction_decoder.h"

#include "hlo/literal_proto.h"
#include "hlo/proto.h"
#include "hlo/wire.h"

namespace sapper::hlo {
namespace {

constexpr WireType varint = WireType::Varint;
constexpr WireType bytes = WireType::Bytes;

// Larger literals are seldom repeated.
constexpr size_t interned_literal_size = 256;

template <class Message>
Result<std::shared_ptr<const Message>> parse_shared(std::string_view wire, std::string_view what) {
  auto message = std::make_shared<Message>();
  if (!parse_message(wire, *message)) return damaged(what);
  return message;
}

std::string serialized(const Shape& shape) {
  proto::ShapeProto message;
  to_proto(shape, &message);
  return message.SerializeAsString();
}

Result<KnownShape> parse_shape_message(std::string_view wire) {
  proto::ShapeProto stated;
  if (!parse_message(wire, stated)) return damaged("a shape");
  KnownShape known;
  SAPPER_TRY(known.shape, from_proto(stated));
  known.is_complete = serialized(known.shape) == stated.SerializeAsString();
  known.literal_shape = serialized(literal_shape(known.shape));
  return known;
}

Result<KnownLiteral> parse_literal_message(std::string_view wire) {
  SAPPER_TRY(WireLiteral read, literal_from_wire(wire));
  KnownLiteral known;
  known.literal = std::make_shared<const Literal>(std::move(read.literal));
  known.is_complete = read.is_complete;
  known.stated_shape = serialized(read.stated_shape);
  return known;
}

// Appends the values of a repeated field, packed or one at a time.
template <class T>
bool append_values(std::string_view packed, std::vector<T>& out) {
  return for_each_varint(packed, [&](uint64_t value) { out.push_back(static_cast<T>(value)); });
}

// The messages inside an instruction that Instruction holds in a form of its own.
struct InnerMessages {
  std::string_view opcode;
  std::optional<std::string_view> shape;
  std::optional<std::string_view> metadata;
  std::optional<std::string_view> literal;
};

// False when it was stated before: protobuf would merge both, but nobody writes that.
bool set_once(std::optional<std::string_view>& message, std::string_view payload) {
  const bool is_first = !message.has_value();
  message = payload;
  return is_first;
}

// One field after another: the plain ones into `out`, references, inner messages and others aside.
Status split(std::string_view wire, size_t index, std::string& others, References& references, Instruction& out,
             std::vector<int64_t>& called_ids, InnerMessages& inner) {
  using P = proto::HloInstructionProto;
  out.id = 0;
  const size_t operands_before = references.operand_ids.size();
  WireField field;
  for (WireReader reader(wire); !reader.done();) {
    if (!reader.next(field)) return damaged("it");
    bool is_sound = true;
    switch (field.tag) {
      case wire_tag(P::kNameFieldNumber, bytes):
        is_sound = is_utf8(field.payload);
        out.name = is_sound ? field.payload : std::string_view();
        break;
      case wire_tag(P::kOpcodeFieldNumber, bytes): inner.opcode = field.payload; break;
      case wire_tag(P::kShapeFieldNumber, bytes): is_sound = set_once(inner.shape, field.payload); break;
      case wire_tag(P::kMetadataFieldNumber, bytes): is_sound = set_once(inner.metadata, field.payload); break;
      case wire_tag(P::kLiteralFieldNumber, bytes): is_sound = set_once(inner.literal, field.payload); break;
      case wire_tag(P::kIdFieldNumber, varint): out.id = static_cast<int64_t>(field.varint); break;
      case wire_tag(P::kParameterNumberFieldNumber, varint):
        out.parameter_number = static_cast<int64_t>(field.varint);
        break;
      case wire_tag(P::kTupleIndexFieldNumber, varint): out.tuple_index = static_cast<int64_t>(field.varint); break;
      case wire_tag(P::kDimensionsFieldNumber, bytes):
      case wire_tag(P::kDimensionsFieldNumber, varint): is_sound = append_values(field.payload, out.dimensions); break;
      case wire_tag(P::kOperandIdsFieldNumber, bytes):
      case wire_tag(P::kOperandIdsFieldNumber, varint):
        is_sound = append_values(field.payload, references.operand_ids);
        break;
      case wire_tag(P::kCalledComputationIdsFieldNumber, bytes):
      case wire_tag(P::kCalledComputationIdsFieldNumber, varint):
        is_sound = append_values(field.payload, called_ids);
        break;
      case wire_tag(P::kControlPredecessorIdsFieldNumber, bytes):
      case wire_tag(P::kControlPredecessorIdsFieldNumber, varint):
        is_sound = for_each_varint(field.payload, [&](uint64_t id) {
          references.control_edges.emplace_back(index, static_cast<int64_t>(id));
        });
        others += field.encoding;
        break;
      default: others += field.encoding;
    }
    if (!is_sound)
      return fail(ErrorKind::BadInput, "its field {} is damaged, no UTF-8 or stated twice", field.number());
  }
  out.operands.resize(references.operand_ids.size() - operands_before);
  return {};
}

Result<Opcode> read_opcode(std::string_view name) {
  if (const std::optional<Opcode> opcode = parse_opcode(name)) return *opcode;
  return fail(ErrorKind::BadInput, "its opcode \"{}\" is unknown", name);
}

Status read_called(const ModuleOutline& outline, const IdTable& computations, size_t computation,
                   const std::vector<int64_t>& ids, Instruction& out) {
  for (const int64_t id : ids) {
    const std::optional<uint32_t> called = computations.find(id);
    if (!called) return fail(ErrorKind::BadInput, "it calls computation {}, but no computation has this id", id);
    if (*called >= computation)
      return fail(ErrorKind::BadInput,
                  "it calls computation {}, which does not come before its own: the calls are cyclic or the "
                  "computations not in post order",
                  outline.computations[*called].name);
    out.called.push_back(*called);
  }
  return {};
}

Status read_literal(Caches& caches, std::string_view wire, const KnownShape& shape, Instruction& out) {
  KnownLiteral large;
  const KnownLiteral* known = &large;
  if (wire.size() <= interned_literal_size) {
    SAPPER_TRY(known, caches.literals.get(wire, parse_literal_message));
  } else {
    SAPPER_TRY(large, parse_literal_message(wire));
  }
  // The literal of a custom-call need not have the shape of its result.
  if (out.opcode != Opcode::CustomCall && !known->literal->shape().same_ignoring_layout(shape.shape))
    return fail(ErrorKind::BadInput, "its literal has shape {} rather than {}", known->literal->shape().to_text(false),
                shape.shape.to_text(false));
  out.literal = known->literal;
  if (!known->is_complete || known->stated_shape != shape.literal_shape)
    append_field(Attributes::kLiteralFieldNumber, wire, caches.others);
  return {};
}

}  // namespace

Result<const KnownShape*> read_shape(Caches& caches, std::string_view wire) {
  return caches.shapes.get(wire, parse_shape_message);
}

Status decode_instruction(const ModuleOutline& outline, const IdTable& computations, size_t index, size_t computation,
                          Caches& caches, References& references, Instruction& out) {
  caches.others.clear();
  InnerMessages inner;
  std::vector<int64_t> called_ids;
  SAPPER_CHECKED(split(outline.instructions[index], index, caches.others, references, out, called_ids, inner));
  SAPPER_TRY(out.opcode, read_opcode(inner.opcode));
  SAPPER_CHECKED(read_called(outline, computations, computation, called_ids, out));
  const auto parameters = static_cast<int64_t>(outline.computations[computation].count);
  if (out.opcode == Opcode::Parameter && (out.parameter_number < 0 || out.parameter_number >= parameters))
    return fail(ErrorKind::BadInput, "its parameter number is {} in a computation of {} instructions",
                out.parameter_number, parameters);
  if (!inner.shape) return fail(ErrorKind::BadInput, "it states no shape");
  SAPPER_TRY(const KnownShape* shape, read_shape(caches, *inner.shape));
  out.shape = shape->shape;
  // What a Shape or a Literal cannot say stays in the attributes as a whole.
  if (!shape->is_complete) append_field(Attributes::kShapeFieldNumber, *inner.shape, caches.others);
  if (inner.literal) SAPPER_CHECKED(read_literal(caches, *inner.literal, *shape, out));
  if (inner.metadata) {
    SAPPER_TRY(const auto* metadata, caches.metadata.get(*inner.metadata, [](std::string_view wire) {
      return parse_shared<proto::OpMetadata>(wire, "its metadata");
    }));
    out.metadata = *metadata;
  }
  if (!caches.others.empty()) {
    SAPPER_TRY(const auto* attributes, caches.attributes.get_copied(caches.others, [](std::string_view wire) {
      return parse_shared<Attributes>(wire, "an attribute");
    }));
    out.shared_attributes = *attributes;
  }
  return {};
}

}  // namespace sapper::hlo
