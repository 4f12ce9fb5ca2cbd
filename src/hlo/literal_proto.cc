// Literals to and from their wire form: which field holds the values of which element type, and in which encoding.
// Sub-byte types take a byte an element on the wire as in a Literal. Values lie in the order of the stated layout.
#include "hlo/literal_proto.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "hlo/proto.h"
#include "hlo/wire.h"

namespace sapper::hlo {
namespace {

enum class Encoding : uint8_t { Bytes, Varints, Fixed32s, Fixed64s };

struct ValueField {
  ElementType type;
  uint32_t number;
  Encoding encoding;
};

constexpr ValueField value_fields[] = {
    {ElementType::Pred, 2, Encoding::Varints},    {ElementType::S1, 30, Encoding::Bytes},
    {ElementType::S2, 26, Encoding::Bytes},       {ElementType::S4, 21, Encoding::Bytes},
    {ElementType::S8, 15, Encoding::Bytes},       {ElementType::S16, 17, Encoding::Bytes},
    {ElementType::S32, 4, Encoding::Varints},     {ElementType::S64, 5, Encoding::Varints},
    {ElementType::U1, 31, Encoding::Bytes},       {ElementType::U2, 27, Encoding::Bytes},
    {ElementType::U4, 22, Encoding::Bytes},       {ElementType::U8, 3, Encoding::Bytes},
    {ElementType::U16, 16, Encoding::Bytes},      {ElementType::U32, 6, Encoding::Varints},
    {ElementType::U64, 7, Encoding::Varints},     {ElementType::F16, 11, Encoding::Bytes},
    {ElementType::BF16, 13, Encoding::Bytes},     {ElementType::F32, 8, Encoding::Fixed32s},
    {ElementType::F64, 9, Encoding::Fixed64s},    {ElementType::C64, 12, Encoding::Fixed32s},
    {ElementType::C128, 18, Encoding::Fixed64s},  {ElementType::F4E2M1FN, 32, Encoding::Bytes},
    {ElementType::F8E3M4, 29, Encoding::Bytes},   {ElementType::F8E4M3B11FNUZ, 23, Encoding::Bytes},
    {ElementType::F8E4M3FN, 20, Encoding::Bytes}, {ElementType::F8E4M3FNUZ, 25, Encoding::Bytes},
    {ElementType::F8E4M3, 28, Encoding::Bytes},   {ElementType::F8E5M2FNUZ, 24, Encoding::Bytes},
    {ElementType::F8E5M2, 19, Encoding::Bytes},   {ElementType::F8E8M0FNU, 33, Encoding::Bytes},
};

const ValueField* find_value_field(ElementType type) {
  const auto* found = std::find_if(std::begin(value_fields), std::end(value_fields),
                                   [&](const ValueField& field) { return field.type == type; });
  return found == std::end(value_fields) ? nullptr : found;
}

// The fields of one LiteralProto, not yet understood.
struct Parts {
  std::vector<std::string_view> values;  // payloads of the field that the shape's element type chooses
  std::vector<std::string_view> tuple_literals;
  std::vector<int64_t> dynamic_sizes;
  bool has_others = false;
};

tl::unexpected<Error> damaged() {
  return fail(ErrorKind::BadInput, "the literal is damaged: it is not a LiteralProto");
}

struct StatedShape {
  Shape shape;
  bool is_complete = true;  // the bytes say no more
};

// The stated shape chooses the field of the values. It comes first on the wire, but need not.
Result<StatedShape> read_shape(std::string_view bytes) {
  WireField field;
  for (WireReader reader(bytes); !reader.done();) {
    if (!reader.next(field)) return damaged();
    if (field.tag != wire_tag(proto::LiteralProto::kShapeFieldNumber, WireType::Bytes)) continue;
    proto::ShapeProto stated;
    if (!parse_message(field.payload, stated)) return damaged();
    StatedShape result;
    SAPPER_TRY(result.shape, from_proto(stated));
    proto::ShapeProto derived;
    to_proto(result.shape, &derived);
    result.is_complete = derived.SerializeAsString() == stated.SerializeAsString();
    return result;
  }
  return fail(ErrorKind::BadInput, "the literal states no shape");
}

bool holds_values(const WireField& field, const ValueField& values) {
  if (field.number() != values.number) return false;
  const auto type = static_cast<WireType>(field.tag & 7);
  switch (values.encoding) {  // repeated values may also come one at a time rather than packed
    case Encoding::Bytes: return type == WireType::Bytes;
    case Encoding::Varints: return type == WireType::Bytes || type == WireType::Varint;
    case Encoding::Fixed32s: return type == WireType::Bytes || type == WireType::Fixed32;
    case Encoding::Fixed64s: return type == WireType::Bytes || type == WireType::Fixed64;
  }
  return false;
}

Result<Parts> split(std::string_view bytes, const ValueField* values) {
  using P = proto::LiteralProto;
  Parts parts;
  WireField field;
  bool has_shape = false;
  for (WireReader reader(bytes); !reader.done();) {
    if (!reader.next(field)) return damaged();
    if (values != nullptr && holds_values(field, *values)) {
      if (values->encoding == Encoding::Bytes) parts.values.clear();  // not repeated: the last one counts
      parts.values.push_back(field.payload);
      continue;
    }
    switch (field.tag) {
      case wire_tag(P::kShapeFieldNumber, WireType::Bytes):
        if (has_shape) return fail(ErrorKind::BadInput, "the literal states its shape twice");
        has_shape = true;
        break;
      case wire_tag(P::kTupleLiteralsFieldNumber, WireType::Bytes):
        parts.tuple_literals.push_back(field.payload);
        break;
      case wire_tag(P::kDynamicSizesFieldNumber, WireType::Bytes):
        if (!for_each_varint(field.payload,
                             [&](uint64_t v) { parts.dynamic_sizes.push_back(static_cast<int64_t>(v)); }))
          return damaged();
        break;
      default: parts.has_others = true;
    }
  }
  return parts;
}

size_t total_size(const std::vector<std::string_view>& pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  return size;
}

// Widens the bits of a sub-byte element to its byte, as a Literal keeps it.
void extend_sub_byte(ElementType type, std::span<std::byte> values) {
  const int unused = 8 - bit_width(type);
  if (unused <= 0 || type == ElementType::Pred) return;
  const bool is_signed = element_class(type) == ElementClass::Signed;
  for (std::byte& value : values) {
    const auto shifted = static_cast<uint8_t>(std::to_integer<uint8_t>(value) << unused);
    value = is_signed ? static_cast<std::byte>(static_cast<int8_t>(shifted) >> unused)
                      : static_cast<std::byte>(shifted >> unused);
  }
}

template <class T>
bool copy_varints(const std::vector<std::string_view>& pieces, std::span<std::byte> out) {
  std::byte* at = out.data();
  std::byte* const end = at + out.size();
  for (const std::string_view piece : pieces) {
    const bool sound = for_each_varint(piece, [&](uint64_t value) {
      const auto narrow = std::is_same_v<T, bool> ? static_cast<T>(value != 0) : static_cast<T>(value);
      if (at != end) std::memcpy(at, &narrow, sizeof(T));
      at += at != end ? sizeof(T) : 0;
    });
    if (!sound) return false;
  }
  return at == end;
}

size_t count_varints(const std::vector<std::string_view>& pieces) {
  size_t count = 0;
  for (const std::string_view piece : pieces)
    count += static_cast<size_t>(std::count_if(piece.begin(), piece.end(), [](char c) { return (c & 0x80) == 0; }));
  return count;
}

bool copy_values(const ValueField& values, const std::vector<std::string_view>& pieces, std::span<std::byte> out) {
  switch (values.type) {
    case ElementType::Pred: return copy_varints<bool>(pieces, out);
    case ElementType::S32: return copy_varints<int32_t>(pieces, out);
    case ElementType::U32: return copy_varints<uint32_t>(pieces, out);
    case ElementType::S64:
    case ElementType::U64: return copy_varints<uint64_t>(pieces, out);
    default: break;
  }
  std::byte* at = out.data();
  for (const std::string_view piece : pieces) {
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  extend_sub_byte(values.type, out);
  return true;
}

// Calls visit(row_major_index) for the elements of an array in the order of `minor_to_major`.
template <class Visit>
void for_each_in_order(const std::vector<int64_t>& dimensions, const std::vector<int64_t>& minor_to_major,
                       int64_t count, Visit&& visit) {
  if (count == 0) return;  // then the strides may overflow
  std::vector<int64_t> strides(dimensions.size(), 1);
  for (size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  std::vector<int64_t> index(dimensions.size(), 0);
  int64_t linear = 0;
  for (int64_t k = 0; k < count; ++k) {
    visit(linear);
    for (const int64_t dimension : minor_to_major) {
      const auto d = static_cast<size_t>(dimension);
      linear += strides[d];
      if (++index[d] < dimensions[d]) break;
      linear -= strides[d] * dimensions[d];
      index[d] = 0;
    }
  }
}

bool is_row_major(const Shape& shape) {
  if (shape.layout() == nullptr) return true;
  const auto& order = shape.layout()->minor_to_major;
  return std::is_sorted(order.rbegin(), order.rend());
}

// The values of a row-major literal in the order of `shape`'s layout, or the other way round.
enum class Reorder : uint8_t { ToLayout, FromLayout };
Literal reordered(const Literal& literal, const Shape& shape, Reorder reorder) {
  Literal result = Literal::uninitialized(literal.shape());
  const auto size = static_cast<size_t>(host_bytes(shape.element_type()));
  const std::byte* const from = literal.bytes().data();
  std::byte* const to = result.mutable_bytes().data();
  size_t in_order = 0;
  for_each_in_order(shape.dimensions(), shape.layout()->minor_to_major, shape.element_count(), [&](int64_t row_major) {
    const size_t other = static_cast<size_t>(row_major) * size;
    if (reorder == Reorder::FromLayout) std::memcpy(to + other, from + in_order, size);
    if (reorder == Reorder::ToLayout) std::memcpy(to + in_order, from + other, size);
    in_order += size;
  });
  return result;
}

Result<Literal> array_from_parts(const Shape& shape, const ValueField& field, Parts parts) {
  // The values are counted before anything of the stated size is allocated.
  const auto size = static_cast<size_t>(host_bytes(field.type));
  const size_t bytes =
      field.encoding == Encoding::Varints ? count_varints(parts.values) * size : total_size(parts.values);
  if (bytes % size != 0 || bytes / size != static_cast<size_t>(shape.element_count()))
    return fail(ErrorKind::BadInput, "the literal of shape {} has {} values rather than {}", shape.to_text(false),
                bytes / size, shape.element_count());
  if (parts.dynamic_sizes.size() > shape.rank())
    return fail(ErrorKind::BadInput, "the literal of shape {} has {} dynamic sizes", shape.to_text(false),
                parts.dynamic_sizes.size());
  Literal literal = Literal::uninitialized(shape);
  if (!copy_values(field, parts.values, literal.mutable_bytes())) return damaged();
  if (!is_row_major(shape)) literal = reordered(literal, shape, Reorder::FromLayout);
  literal.set_dynamic_sizes(std::move(parts.dynamic_sizes));
  return literal;
}

// `shape` bounds the recursion: shapes nest only so deep.
Result<Literal> read_literal(const Shape& shape, std::string_view bytes, bool& has_others) {
  const ValueField* field = find_value_field(shape.element_type());
  if (field == nullptr && (shape.is_array() || shape.element_type() == ElementType::Buffer))
    return fail(ErrorKind::BadInput, "literals of element type {} have no wire form", to_string(shape.element_type()));
  SAPPER_TRY(Parts parts, split(bytes, field));
  has_others = has_others || parts.has_others;
  if (field != nullptr) return array_from_parts(shape, *field, std::move(parts));
  if (parts.tuple_literals.size() != shape.elements().size())
    return fail(ErrorKind::BadInput, "the literal of shape {} has {} elements", shape.to_text(false),
                parts.tuple_literals.size());
  if (!shape.is_tuple()) return Literal(shape);
  std::vector<Literal> elements;
  for (size_t i = 0; i < parts.tuple_literals.size(); ++i) {
    SAPPER_TRY(elements.emplace_back(), read_literal(shape.elements()[i], parts.tuple_literals[i], has_others));
  }
  return Literal::tuple(std::move(elements));
}

template <class T, class Repeated>
void add_values(const Literal& literal, Repeated* out) {
  const size_t count = literal.bytes().size() / sizeof(T);
  const T* const values = reinterpret_cast<const T*>(literal.bytes().data());
  out->Add(values, values + count);
}

void values_to_proto(const Literal& literal, proto::LiteralProto* out) {
  switch (literal.shape().element_type()) {
    case ElementType::Pred: return add_values<uint8_t>(literal, out->mutable_preds());
    case ElementType::S32: return add_values<int32_t>(literal, out->mutable_s32s());
    case ElementType::S64: return add_values<int64_t>(literal, out->mutable_s64s());
    case ElementType::U32: return add_values<uint32_t>(literal, out->mutable_u32s());
    case ElementType::U64: return add_values<uint64_t>(literal, out->mutable_u64s());
    case ElementType::F32: return add_values<float>(literal, out->mutable_f32s());
    case ElementType::F64: return add_values<double>(literal, out->mutable_f64s());
    case ElementType::C64: return add_values<float>(literal, out->mutable_c64s());
    case ElementType::C128: return add_values<double>(literal, out->mutable_c128s());
    default: break;
  }
  const ValueField* const field = find_value_field(literal.shape().element_type());
  SAPPER_ASSERT(field != nullptr && field->encoding == Encoding::Bytes);
  if (literal.bytes().empty()) return;
  const auto* const descriptor = proto::LiteralProto::descriptor()->FindFieldByNumber(static_cast<int>(field->number));
  const auto* const bytes = reinterpret_cast<const char*>(literal.bytes().data());
  proto::LiteralProto::GetReflection()->SetString(out, descriptor, std::string(bytes, literal.bytes().size()));
}

}  // namespace

Shape literal_shape(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements()) elements.push_back(literal_shape(element));
    return Shape::tuple(std::move(elements));
  }
  if (shape.layout() == nullptr || shape.layout()->tiles.empty()) return shape;
  auto untiled = std::make_shared<Layout>(*shape.layout());
  untiled->tiles.clear();
  return shape.with_layout(std::move(untiled));
}

Result<WireLiteral> literal_from_wire(std::string_view bytes) {
  SAPPER_TRY(StatedShape stated, read_shape(bytes));
  bool has_others = false;
  SAPPER_TRY(Literal literal, read_literal(stated.shape, bytes, has_others));
  WireLiteral result{std::move(literal), std::move(stated.shape), stated.is_complete && !has_others};
  if (result.is_complete && !result.literal.elements().empty()) {  // do the elements state other shapes?
    proto::LiteralProto message;
    proto::LiteralProto derived;
    to_proto(result.literal, result.stated_shape, &derived);
    result.is_complete = parse_message(bytes, message) && message.SerializeAsString() == derived.SerializeAsString();
  }
  return result;
}

Result<Literal> from_proto(const proto::LiteralProto& literal) {
  SAPPER_TRY(WireLiteral read, literal_from_wire(literal.SerializeAsString()));
  return std::move(read.literal);
}

void to_proto(const Literal& literal, const Shape& shape_with_layout, proto::LiteralProto* out) {
  const Shape shape = literal_shape(shape_with_layout);
  SAPPER_ASSERT(shape.same_ignoring_layout(literal.shape()));
  to_proto(shape, out->mutable_shape());
  for (size_t i = 0; i < literal.elements().size(); ++i)
    to_proto(literal.elements()[i], shape.elements()[i], out->add_tuple_literals());
  if (!shape.is_array()) return;
  values_to_proto(is_row_major(shape) ? literal : reordered(literal, shape, Reorder::ToLayout), out);
  for (const int64_t size : literal.dynamic_sizes()) out->add_dynamic_sizes(static_cast<int32_t>(size));
}

}  // namespace sapper::hlo
