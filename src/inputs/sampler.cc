#include "inputs/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/parallel.h"
#include "inputs/float_roles.h"
#include "inputs/index_roles.h"
#include "inputs/matrix_roles.h"

namespace sapper::inputs {
namespace {

using hlo::ElementClass;
using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

// SplitMix64 (Steele, Lea, Flood 2014): a bijective mix, so a counter gives a stream.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// What the elements of one array are drawn from.
struct Domain {
  bool any_bits = false;           // integers: the whole range
  int64_t low = -100, high = 100;  // integers, inclusive
  int exponent = 0;                // floats: magnitudes in [2^(exponent-3), 2^(exponent+2))
  bool positive = false;           // floats: not of either sign
};

// A float: five binades around 2^exponent, uniform within each.
double draw_real(uint64_t bits, const Domain& domain) {
  const uint64_t sign = domain.positive ? 0 : uint64_t{1} << 63;
  constexpr uint64_t mantissa = (uint64_t{1} << 52) - 1;
  const auto binade = static_cast<int64_t>((bits >> 53) % 5) - 3 + domain.exponent;
  return std::bit_cast<double>((bits & (sign | mantissa)) | (static_cast<uint64_t>(binade + 1023) << 52));
}

int64_t draw_integer(uint64_t bits, const Domain& domain) {
  if (domain.any_bits) return static_cast<int64_t>(bits);
  // The ends come up often, so that small arrays have them too.
  if (bits % 16 == 0) return domain.low;
  if (bits % 16 == 1) return domain.high;
  const auto width = static_cast<uint64_t>(domain.high - domain.low) + 1;
  return domain.low + static_cast<int64_t>((bits >> 8) % width);
}

template <class Store>
void fill(int64_t count, uint64_t stream, Store&& store) {
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) store(i, mix(stream + static_cast<uint64_t>(i)));
  });
}

// f8e8m0 has no sign and no zero; the other narrow formats round what is drawn.
uint64_t encode_drawn(const hlo::FloatFormat& format, double value) {
  return encode_float(format, format.has_sign ? value : std::fabs(value));
}

Literal draw(const Shape& shape, const Domain& domain, uint64_t stream) {
  Literal literal = Literal::uninitialized(shape);
  const ElementType type = shape.element_type();
  const int64_t count = literal.element_count();
  std::byte* const bytes = literal.mutable_bytes().data();
  const auto width = static_cast<size_t>(hlo::host_bytes(type));
  const auto store = [bytes](int64_t i, size_t size, const void* value) {
    std::memcpy(bytes + static_cast<size_t>(i) * size, value, size);
  };
  switch (hlo::element_class(type)) {
    case ElementClass::Pred:
      fill(count, stream, [&](int64_t i, uint64_t bits) { bytes[i] = std::byte{static_cast<uint8_t>(bits >> 63)}; });
      break;
    case ElementClass::Signed:
    case ElementClass::Unsigned: {
      const int unused = 64 - hlo::bit_width(type);
      const bool is_signed = hlo::element_class(type) == ElementClass::Signed;
      fill(count, stream, [&](int64_t i, uint64_t bits) {
        const auto shifted = static_cast<uint64_t>(draw_integer(bits, domain)) << unused;
        const int64_t value =
            is_signed ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused);
        store(i, width, &value);
      });
      break;
    }
    case ElementClass::Float:
      if (type == ElementType::F32) {
        fill(count, stream, [&](int64_t i, uint64_t bits) {
          const auto value = static_cast<float>(draw_real(bits, domain));
          store(i, sizeof value, &value);
        });
      } else {
        const hlo::FloatFormat format = *hlo::float_format(type);
        fill(count, stream, [&](int64_t i, uint64_t bits) {
          const uint64_t value = encode_drawn(format, draw_real(bits, domain));
          store(i, width, &value);
        });
      }
      break;
    case ElementClass::Complex:
      fill(count, stream, [&](int64_t i, uint64_t bits) {
        const double parts[2] = {draw_real(bits, domain), draw_real(mix(~bits), domain)};
        const float narrow[2] = {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
        type == ElementType::C128 ? store(i, sizeof parts, parts) : store(i, sizeof narrow, narrow);
      });
      break;
    case ElementClass::None: break;
  }
  return literal;
}

// Unsigned 32-bit vectors of two or four words are how JAX passes PRNG keys.
bool looks_like_key(const Shape& shape) {
  return shape.element_type() == ElementType::U32 && shape.rank() >= 1 &&
         (shape.dimensions().back() == 2 || shape.dimensions().back() == 4) && shape.element_count() <= 1024;
}

// What the module does with a parameter.
struct Role {
  std::optional<int64_t> largest_index;  // it indexes something
  std::optional<int64_t> contracted;     // so many of its elements are summed
  bool positive = false;
};

// Indices from 0 to `largest`, as far as the type can say them.
Domain index_domain(ElementType type, int64_t largest) {
  const int value_bits = hlo::bit_width(type) - (hlo::element_class(type) == ElementClass::Signed ? 1 : 0);
  if (value_bits < 63) largest = std::min(largest, (int64_t{1} << value_bits) - 1);
  return {.low = 0, .high = largest};
}

Domain domain_of(const Shape& shape, const Role& role) {
  const ElementType type = shape.element_type();
  if (role.largest_index) return index_domain(type, *role.largest_index);
  Domain domain;
  domain.positive = role.positive;
  if (hlo::is_integer(type)) {
    domain.any_bits = looks_like_key(shape);
    const int64_t reach = std::min<int64_t>(100, (int64_t{1} << (std::min(hlo::bit_width(type), 16) - 1)) - 1);
    domain.low = hlo::element_class(type) == ElementClass::Signed ? -reach - (reach < 100 ? 1 : 0) : 0;
    domain.high = reach;
  } else if (shape.rank() >= 2 && shape.element_count() >= 4096) {
    // Weights: keep products of long contractions near the size of their inputs.
    const int64_t terms = role.contracted.value_or(shape.dimension(shape.rank() - 2));
    domain.exponent = -static_cast<int>(std::lround(std::log2(std::max<double>(1, static_cast<double>(terms))) / 2));
  }
  return domain;
}

Literal sample_value(const Shape& shape, const Role& role, uint64_t stream) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) elements.push_back(sample_value(element, {}, stream = mix(stream)));
    return Literal::tuple(std::move(elements));
  }
  if (!shape.is_array()) return Literal(shape);
  return draw(shape, domain_of(shape, role), stream);
}

std::optional<int64_t> value_of(const std::map<int64_t, int64_t>& map, int64_t key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

// Lets each diagonal element of the square matrices outweigh its row, so that they are positive definite.
void weight_diagonal(Literal& matrices) {
  const Shape& shape = matrices.shape();
  if (!shape.is_array() || !hlo::is_float(shape.element_type()) || shape.rank() < 2) return;
  const int64_t side = shape.dimensions().back();
  if (shape.dimension(shape.rank() - 2) != side || side == 0) return;
  double largest = 0;
  for (int64_t i = 0; i < matrices.element_count(); ++i) largest = std::max(largest, std::fabs(matrices.real_at(i)));
  for (int64_t first = 0; first < matrices.element_count(); first += side * side)
    for (int64_t k = 0; k < side; ++k) {
      const int64_t at = first + k * (side + 1);
      matrices.set_real(at, static_cast<double>(side) * largest + std::fabs(matrices.real_at(at)));
    }
}

}  // namespace

Literal perturbed(const Literal& value, uint64_t seed) {
  if (value.shape().is_tuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : value.elements()) elements.push_back(perturbed(element, seed));
    return Literal::tuple(std::move(elements));
  }
  const auto format = hlo::float_format(value.shape().element_type());
  if (!format || !format->has_sign) return value;
  Literal moved = value;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const double x = value.real_at(i);
    if (!std::isfinite(x) || x == 0) continue;
    const int exponent = std::max(std::ilogb(x), 1 - format->bias);
    const double unit = std::ldexp(1.0, exponent - format->mantissa_bits);
    moved.set_real(i, (mix(seed ^ mix(static_cast<uint64_t>(i))) & 1) != 0 ? x + unit : x - unit);
  }
  return moved;
}

Result<std::vector<Literal>> sample(const hlo::Module& module, const hlo::Fingerprint& fingerprint, uint64_t seed) {
  constexpr int64_t largest_bytes = int64_t{16} << 30;
  const std::map<int64_t, int64_t> indices = index_roles(module);
  const std::map<int64_t, int64_t> contracted = contracted_lengths(module);
  const std::set<int64_t> positive = positive_parameters(module);
  const std::set<int64_t> positive_definite = positive_definite_parameters(module);
  const hlo::Computation& entry = module.entry_computation();
  std::vector<Literal> literals;
  int64_t total = 0;
  for (const hlo::InstructionIndex parameter : entry.parameters()) {
    const hlo::Instruction& instruction = entry.instructions[parameter];
    if (__builtin_add_overflow(total, instruction.shape.host_byte_size(), &total) || total > largest_bytes)
      return tl::unexpected<Error>(error_at(ErrorKind::Resource, instruction,
                                            fmt::format("the inputs up to parameter {} take more than {} GiB",
                                                        instruction.parameter_number, largest_bytes >> 30)));
    const int64_t number = instruction.parameter_number;
    const uint64_t stream =
        mix(fingerprint.high ^ mix(fingerprint.low ^ mix(seed ^ mix(static_cast<uint64_t>(number)))));
    const Role role{value_of(indices, number), value_of(contracted, number), positive.contains(number)};
    literals.push_back(sample_value(instruction.shape, role, stream));
    if (positive_definite.contains(number)) weight_diagonal(literals.back());
  }
  return literals;
}

}  // namespace sapper::inputs
