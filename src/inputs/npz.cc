#include "inputs/npz.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/file.h"
#include "inputs/zip.h"

namespace sapper::inputs {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

constexpr std::string_view npy_magic("\x93NUMPY", 6);

// The text after `'key':` in the header's Python dictionary.
std::string_view header_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

Result<std::vector<int64_t>> parse_dimensions(std::string_view text, const std::string& name) {
  const size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos)
    return fail(ErrorKind::BadInput, "{}: damaged .npy header: no shape", name);
  std::vector<int64_t> dimensions;
  const char* at = text.data() + 1;
  const char* const end = text.data() + close;
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t dimension = 0;
    const auto [after, error] = std::from_chars(at, end, dimension);
    if (error != std::errc{} || dimension < 0)
      return fail(ErrorKind::BadInput, "{}: damaged .npy header: bad shape", name);
    dimensions.push_back(dimension);
    at = after;
  }
  return dimensions;
}

Result<NpyArray> parse_npy(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, 6) != npy_magic || bytes.size() < 12)
    return fail(ErrorKind::BadInput, "{}: not a .npy array", name);
  const bool wide = bytes[6] >= 2;  // version 2 and 3 have a 4-byte header size
  uint32_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 8, wide ? 4 : 2);
  const size_t start = wide ? 12 : 10;
  const std::string_view header = bytes.substr(start, header_size);
  if (header.size() != header_size) return fail(ErrorKind::BadInput, "{}: .npy header ends too early", name);
  NpyArray array;
  const std::string_view descr = header_value(header, "descr");
  if (descr.size() < 3 || descr.front() != '\'')
    return fail(ErrorKind::Unsupported, "{}: only plain NumPy types are read, not structured ones", name);
  array.descr = descr.substr(1, descr.find('\'', 1) - 1);
  array.fortran_order = header_value(header, "fortran_order").substr(0, 4) == "True";
  SAPPER_TRY(array.dimensions, parse_dimensions(header_value(header, "shape"), name));
  array.bytes = bytes.substr(start + header_size);
  return array;
}

std::string npy_bytes(const NpyArray& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': (", array.descr,
                                   array.fortran_order ? "True" : "False");
  for (const int64_t dimension : array.dimensions) header += fmt::format("{},", dimension);
  header += ")}";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes(npy_magic);
  bytes += std::string("\x01\x00", 2);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + array.bytes;
}

// NumPy's type strings for values of an element type; the first is what we write.
std::vector<std::string_view> accepted_descrs(ElementType type) {
  switch (type) {
    case ElementType::Pred: return {"|b1", "|u1", "|i1"};
    case ElementType::S8: return {"|i1"};
    case ElementType::S1:
    case ElementType::S2:
    case ElementType::S4: return {"|i1", "|u1", "|V1"};
    case ElementType::U8: return {"|u1"};
    case ElementType::U1:
    case ElementType::U2:
    case ElementType::U4: return {"|u1", "|i1", "|V1"};
    case ElementType::S16: return {"<i2"};
    case ElementType::U16: return {"<u2"};
    case ElementType::S32: return {"<i4"};
    case ElementType::U32: return {"<u4"};
    case ElementType::S64: return {"<i8"};
    case ElementType::U64: return {"<u8"};
    case ElementType::F16: return {"<f2", "<u2"};
    case ElementType::BF16: return {"<u2", "<V2", "|V2"};
    case ElementType::F32: return {"<f4"};
    case ElementType::F64: return {"<f8"};
    case ElementType::C64: return {"<c8"};
    case ElementType::C128: return {"<c16"};
    default: return {"|u1", "|V1", "<f1"};  // the f8 and f4 families
  }
}

// Row-major bytes of a column-major array.
std::string to_row_major(const NpyArray& array, size_t element_bytes) {
  std::string out(array.bytes.size(), '\0');
  const size_t rank = array.dimensions.size();
  const auto count = static_cast<size_t>(hlo::element_count(array.dimensions));
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t d = rank; d-- > 0;) source = source * array.dimensions[d] + index[d];
    std::memcpy(out.data() + i * element_bytes, array.bytes.data() + static_cast<size_t>(source) * element_bytes,
                element_bytes);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < array.dimensions[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

void collect_leaves(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.is_tuple()) return leaves.push_back(shape);
  for (const Shape& element : shape.elements()) collect_leaves(element, leaves);
}

Literal assemble(const Shape& shape, std::vector<Literal>::iterator& next) {
  if (!shape.is_tuple()) return std::move(*next++);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) elements.push_back(assemble(element, next));
  return Literal::tuple(std::move(elements));
}

}  // namespace

Result<Npz> read_npz(const std::string& path) {
  SAPPER_TRY(const std::string bytes, read_file(path));
  return parse_npz(bytes, path);
}

Result<Npz> parse_npz(std::string_view bytes, const std::string& archive) {
  SAPPER_TRY(const std::vector<ZipMember> members, read_zip(bytes, archive));
  Npz arrays;
  for (const ZipMember& member : members) {
    std::string name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    SAPPER_TRY(arrays[name], parse_npy(member.bytes, fmt::format("{}: array {}", archive, name)));
  }
  return arrays;
}

std::string npz_bytes(const Npz& arrays) {
  std::vector<ZipMember> members;
  for (const auto& [name, array] : arrays) members.push_back({name + ".npy", npy_bytes(array)});
  return write_zip(members);
}

Status write_npz(const std::string& path, const Npz& arrays) { return write_file(path, npz_bytes(arrays)); }

Result<Literal> to_literal(const NpyArray& array, const Shape& shape, const std::string& name) {
  if (!shape.is_array()) return fail(ErrorKind::BadInput, "{}: an array cannot be a {}", name, shape.to_text(false));
  const std::vector<std::string_view> accepted = accepted_descrs(shape.element_type());
  if (std::find(accepted.begin(), accepted.end(), array.descr) == accepted.end())
    return fail(ErrorKind::BadInput, "{}: has NumPy type {} but {} needs {}", name, array.descr, shape.to_text(false),
                accepted.front());
  const bool both_single = shape.element_count() == 1 && hlo::element_count(array.dimensions) == 1;
  if (array.dimensions != shape.dimensions() && !both_single)
    return fail(ErrorKind::BadInput, "{}: has dimensions [{}] but {} is needed", name, fmt::join(array.dimensions, ","),
                shape.to_text(false));
  const auto element_bytes = static_cast<size_t>(hlo::host_bytes(shape.element_type()));
  if (static_cast<int64_t>(array.bytes.size()) != shape.host_byte_size())
    return fail(ErrorKind::BadInput, "{}: has {} bytes of data where {} are needed", name, array.bytes.size(),
                shape.host_byte_size());
  const std::string row_major =
      array.fortran_order && shape.rank() > 1 ? to_row_major(array, element_bytes) : std::string();
  const std::string& source = row_major.empty() ? array.bytes : row_major;
  Literal literal = Literal::uninitialized(shape);
  std::memcpy(literal.mutable_bytes().data(), source.data(), source.size());
  if (hlo::bit_width(shape.element_type()) <
      8) {  // the bits above the type's own are its extension, whatever was stored
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      if (hlo::is_integer(shape.element_type())) literal.set_integer(i, literal.integer_at(i));
    }
  }
  return literal;
}

NpyArray to_npy(const Literal& literal) {
  const auto bytes = literal.bytes();
  return {std::string(accepted_descrs(literal.shape().element_type()).front()), false, literal.shape().dimensions(),
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

Result<std::vector<Literal>> read_literals(const Npz& npz, const std::string& prefix,
                                           const std::vector<Shape>& shapes) {
  std::vector<Shape> leaves;
  for (const Shape& shape : shapes) collect_leaves(shape, leaves);
  std::vector<Literal> values;
  size_t number = 0;
  for (const Shape& leaf : leaves) {
    if (!leaf.is_array()) {
      values.emplace_back(leaf);
      continue;
    }
    const std::string name = fmt::format("{}{}", prefix, number++);
    const auto found = npz.find(name);
    if (found == npz.end())
      return fail(ErrorKind::BadInput, "no array {} for {}; there are: {}", name, leaf.to_text(false), [&] {
        std::vector<std::string> names;
        for (const auto& entry : npz) names.push_back(entry.first);
        return fmt::format("{}", fmt::join(names, " "));
      }());
    SAPPER_TRY(Literal value, to_literal(found->second, leaf, name));
    values.push_back(std::move(value));
  }
  std::vector<Literal> result;
  result.reserve(shapes.size());
  auto next = values.begin();
  for (const Shape& shape : shapes) result.push_back(assemble(shape, next));
  return result;
}

}  // namespace sapper::inputs
