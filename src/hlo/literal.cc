#include "hlo/literal.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/assert.h"

namespace sapper::hlo {
namespace {

// Reads and writes elements as raw bits, low bytes first.
uint64_t load_bits(const std::byte* at, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(bytes));
  return bits;
}

void store_bits(std::byte* at, int bytes, uint64_t bits) { std::memcpy(at, &bits, static_cast<size_t>(bytes)); }

double load_real(ElementType type, const std::byte* at) {
  if (type == ElementType::F64) return std::bit_cast<double>(load_bits(at, 8));
  if (type == ElementType::F32) return std::bit_cast<float>(static_cast<uint32_t>(load_bits(at, 4)));
  return decode_float(*float_format(type), load_bits(at, host_bytes(type)));
}

void store_real(ElementType type, std::byte* at, double value) {
  if (type == ElementType::F32) return store_bits(at, 4, std::bit_cast<uint32_t>(static_cast<float>(value)));
  store_bits(at, host_bytes(type), encode_float(*float_format(type), value));
}

// `value` wrapped to the width of `type`, extended to 64 bits by its signedness.
int64_t wrap(ElementType type, int64_t value) {
  const int unused = 64 - bit_width(type);
  const auto shifted = static_cast<uint64_t>(value) << unused;
  return element_class(type) == ElementClass::Signed ? static_cast<int64_t>(shifted) >> unused
                                                     : static_cast<int64_t>(shifted >> unused);
}

int64_t truncate(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return value >= 0x1p64 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(value));
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

AlignedBytes::AlignedBytes(size_t size)
    : data_(static_cast<std::byte*>(::operator new (size == 0 ? 1 : size, std::align_val_t{64}))), size_(size) {}
AlignedBytes::~AlignedBytes() { ::operator delete (data_, std::align_val_t{64}); }

Literal Literal::uninitialized(const Shape& shape) {
  Literal literal;
  literal.shape_ = shape.without_layout();
  if (shape.is_array()) {
    literal.bytes_ = std::make_shared<AlignedBytes>(static_cast<size_t>(shape.host_byte_size()));
  }
  for (const Shape& element : shape.elements()) literal.elements_.push_back(uninitialized(element));
  return literal;
}

Literal::Literal(const Shape& shape) : shape_(shape.without_layout()) {
  if (shape.is_array()) {
    bytes_ = std::make_shared<AlignedBytes>(static_cast<size_t>(shape.host_byte_size()));
    std::memset(bytes_->data(), 0, bytes_->size());
  }
  for (const Shape& element : shape.elements()) elements_.emplace_back(element);
}

Literal Literal::over(const Shape& shape, std::shared_ptr<AlignedBytes> bytes) {
  SAPPER_ASSERT(shape.is_array() && static_cast<int64_t>(bytes->size()) >= shape.host_byte_size());
  Literal literal;
  literal.shape_ = shape.without_layout();
  literal.bytes_ = std::move(bytes);
  return literal;
}

Literal Literal::tuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  Literal literal;
  literal.shape_ = Shape::tuple(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

std::span<const std::byte> Literal::bytes() const {
  if (!bytes_) return {};
  return {bytes_->data(), static_cast<size_t>(shape_.host_byte_size())};
}

std::span<std::byte> Literal::mutable_bytes() {
  if (!bytes_) return {};
  if (bytes_.use_count() > 1) {
    auto copy = std::make_shared<AlignedBytes>(static_cast<size_t>(shape_.host_byte_size()));
    std::memcpy(copy->data(), bytes_->data(), copy->size());
    bytes_ = std::move(copy);
  }
  return {bytes_->data(), static_cast<size_t>(shape_.host_byte_size())};
}

double Literal::real_at(int64_t i) const {
  const ElementType type = shape_.element_type();
  const std::byte* at = bytes_->data() + i * host_bytes(type);
  if (is_float(type)) return load_real(type, at);
  if (is_complex(type)) return load_real(component_type(type), at);
  const int64_t integer = integer_at(i);
  return type == ElementType::U64 ? static_cast<double>(static_cast<uint64_t>(integer)) : static_cast<double>(integer);
}

std::complex<double> Literal::complex_at(int64_t i) const {
  const ElementType type = shape_.element_type();
  if (!is_complex(type)) return real_at(i);
  const ElementType component = component_type(type);
  const std::byte* at = bytes_->data() + i * host_bytes(type);
  return {load_real(component, at), load_real(component, at + host_bytes(component))};
}

int64_t Literal::integer_at(int64_t i) const {
  const ElementType type = shape_.element_type();
  if (is_float(type) || is_complex(type)) return truncate(real_at(i));
  const uint64_t bits = load_bits(bytes_->data() + i * host_bytes(type), host_bytes(type));
  if (type == ElementType::Pred) return bits != 0 ? 1 : 0;
  return wrap(type, static_cast<int64_t>(bits));
}

void Literal::set_real(int64_t i, double value) {
  const ElementType type = shape_.element_type();
  if (is_complex(type)) return set_complex(i, value);
  if (!is_float(type)) return set_integer(i, type == ElementType::Pred ? (value != 0 ? 1 : 0) : truncate(value));
  store_real(type, mutable_bytes().data() + i * host_bytes(type), value);
}

void Literal::set_complex(int64_t i, std::complex<double> value) {
  const ElementType type = shape_.element_type();
  SAPPER_ASSERT(is_complex(type));
  const ElementType component = component_type(type);
  std::byte* at = mutable_bytes().data() + i * host_bytes(type);
  store_real(component, at, value.real());
  store_real(component, at + host_bytes(component), value.imag());
}

void Literal::set_integer(int64_t i, int64_t value) {
  const ElementType type = shape_.element_type();
  if (is_float(type) || is_complex(type)) return set_real(i, static_cast<double>(value));
  const int64_t stored = type == ElementType::Pred ? (value != 0 ? 1 : 0) : wrap(type, value);
  store_bits(mutable_bytes().data() + i * host_bytes(type), host_bytes(type), static_cast<uint64_t>(stored));
}

bool Literal::operator==(const Literal& other) const {
  if (!shape_.same_ignoring_layout(other.shape_) || elements_ != other.elements_) return false;
  if (dynamic_sizes_ != other.dynamic_sizes_) return false;
  const auto mine = bytes();
  const auto theirs = other.bytes();
  return mine.empty() || mine.data() == theirs.data() || std::memcmp(mine.data(), theirs.data(), mine.size()) == 0;
}

std::vector<Literal> leaves(const Literal& value) {
  if (!value.shape().is_tuple()) return {value};
  std::vector<Literal> all;
  for (const Literal& element : value.elements())
    for (Literal& leaf : leaves(element)) all.push_back(std::move(leaf));
  return all;
}

}  // namespace sapper::hlo
