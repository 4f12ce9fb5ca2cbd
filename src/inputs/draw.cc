#include "inputs/draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/parallel.h"

namespace sapper::inputs {
namespace {

using hlo::ElementClass;
using hlo::ElementType;
using hlo::Literal;

template <class Store>
void fill(int64_t count, uint64_t stream, const Store& store) {
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) store(i, mix(stream + static_cast<uint64_t>(i)));
  });
}

// The next number of the format towards zero.
uint64_t towards_zero(const hlo::FloatFormat& format, uint64_t bits) {
  const uint64_t magnitude = bits & ((uint64_t{1} << (format.exponent_bits + format.mantissa_bits)) - 1);
  return magnitude == 0 ? bits : bits - 1;
}

// The number of the format that is nearest to `bound` inside of it, as seen from zero.
double inside(const hlo::FloatFormat& format, double bound) {
  const uint64_t bits = encode_float(format, bound);
  const double rounded = decode_float(format, bits);
  if (std::fabs(rounded) <= std::fabs(bound)) return rounded;
  return decode_float(format, towards_zero(format, bits));
}

// Floats of one array: where they may be, and the window of everyday magnitudes within.
class Reals {
 public:
  Reals(const ParameterRange& range, hlo::FloatFormat format, Kind kind) : format_(format), kind_(kind) {
    low_ = range.values.low < 0 ? inside(format, range.values.low) : range.values.low;
    high_ = range.values.high > 0 ? inside(format, range.values.high) : range.values.high;
    away_ = range.values.away;
    least_normal_ = least_normal(range.shape.element_type());
    positive_ = window(std::max({low_, away_, 0.0}), high_, range.natural);
    negative_ = window(std::max({-high_, away_, 0.0}), -low_, range.natural);
    row_ = std::max<int64_t>(1, range.shape.rank() > 0 ? range.shape.dimensions().back() : 1);
    count_ = range.shape.element_count();
    if (kind == Kind::Edges) collect_edges(range.shape.element_type());
  }

  double at(int64_t i, uint64_t bits, uint64_t stream) const {
    switch (kind_) {
      case Kind::Dense: return dense(bits);
      case Kind::Edges:
        return bits % 2 == 0 && !edges_.empty() ? edges_[(bits >> 8) % edges_.size()] : dense(mix(bits));
      case Kind::Sparse: return may_be(0) && !is_kept(i, bits, stream) ? 0 : dense(mix(bits));
      case Kind::Structured: return structured(i, bits, stream);
      case Kind::Rounding: return hard_to_round(i, bits, stream);
    }
    return 0;
  }

  // `value` rounded to the format, inside the range.
  uint64_t encode(double value) const {
    const uint64_t bits = encode_float(format_, value);
    const double rounded = decode_float(format_, bits);
    if (rounded >= low_ && rounded <= high_ && std::fabs(rounded) >= away_) return bits;
    const double moved = std::clamp(value, low_, high_);
    const uint64_t nearest = encode_float(format_, moved);
    // Bounds above zero (and those of `away`) may be between two numbers: the one farther out is inside.
    const double least = std::max(away_, low_ > 0 ? low_ : high_ < 0 ? -high_ : 0);
    return std::fabs(decode_float(format_, nearest)) < least ? nearest + 1 : nearest;
  }

 private:
  struct Window {
    double low = 0, high = -1;
    [[nodiscard]] bool is_empty() const { return !(low <= high) || high <= 0; }
  };

  // The magnitudes between the two that are everyday ones; five binades next to those where none is.
  static Window window(double low, double high, const Interval& natural) {
    if (!(high > 0) || low > high) return {};
    Window window{std::max(low, natural.away), std::min(high, natural.high)};
    if (window.low > window.high)
      window = low > natural.high ? Window{low, std::min(high, low * 32)} : Window{std::max(low, high / 32), high};
    if (window.low > window.high / 2) window.low = std::max(low, window.high / 32);
    return window;
  }

  [[nodiscard]] bool may_be(double value) const { return low_ <= value && value <= high_ && std::fabs(value) >= away_; }

  // A number of either sign: a binade, then uniform within.
  double dense(uint64_t bits) const {
    const bool negative = positive_.is_empty() || (!negative_.is_empty() && (bits >> 63) != 0);
    const Window& window = negative ? negative_ : positive_;
    if (window.is_empty()) return std::clamp(0.0, low_, high_);
    const int first = std::ilogb(window.low);
    int last = std::ilogb(window.high);
    if (last > first && std::ldexp(1.0, last) == window.high) --last;
    constexpr uint64_t mantissa = (uint64_t{1} << 52) - 1;
    const int binade = static_cast<int>((bits >> 53) % static_cast<uint64_t>(last - first + 1)) + first;
    const double unit = std::bit_cast<double>((bits & mantissa) | std::bit_cast<uint64_t>(1.0));
    double value = std::ldexp(unit, binade);
    if (value < window.low || value > window.high) {
      const double from = std::max(window.low, std::ldexp(1.0, binade));
      const double to = std::min(window.high, std::ldexp(2.0, binade));
      value = from + (to - from) * (unit - 1);
    }
    return negative ? -value : value;
  }

  void collect_edges(ElementType type) {
    const double unit = epsilon(type);
    const double least_subnormal = std::ldexp(least_normal_, -format_.mantissa_bits);
    std::vector<double> magnitudes{0,
                                   least_subnormal,
                                   least_normal_ - least_subnormal,
                                   least_normal_,
                                   0.5,
                                   1,
                                   1 - unit / 2,
                                   1 + unit,
                                   1.5,
                                   2.5,
                                   3.5,  // ties of integers
                                   1 + 0x1p-8,
                                   1 + 0x3p-8,
                                   1 + 0x1p-11,
                                   1 + 0x3p-11,
                                   1 + 0x1p-24};  // of bf16, f16, f32
    for (int e = -8; e <= 8; e += 2) magnitudes.push_back(std::ldexp(1.0, e));
    for (const double far : {high_, -low_})
      for (const double part : {1.0, 0.5, 1 - unit})
        if (far > 0) magnitudes.push_back(far * part);
    for (const double near : {away_, low_, -high_})
      if (near > 0) magnitudes.push_back(near);
    for (const double magnitude : magnitudes)
      for (const double value : {magnitude, -magnitude}) {
        const double rounded = decode_float(format_, encode_float(format_, value));
        if (std::isfinite(rounded) && may_be(rounded)) edges_.push_back(rounded);
      }
  }

  // Of sparse numbers: one in eight; of every second large array only a hundred, whose sum has as few roundings, and
  // the last.
  bool is_kept(int64_t i, uint64_t bits, uint64_t stream) const {
    const bool few = count_ > 1 << 16 && stream % 2 == 0;
    return few ? bits % (static_cast<uint64_t>(count_) / 100) == 0 || i + 1 == count_ : bits % 8 == 0;
  }

  double structured(int64_t i, uint64_t bits, uint64_t stream) const {
    const int64_t row = i / row_;
    const int64_t column = i % row_;
    const uint64_t of_row = mix(stream ^ mix(static_cast<uint64_t>(row) + 1));
    switch (of_row % 4) {
      case 0: {  // one-hot
        const bool hot = column == static_cast<int64_t>((of_row >> 8) % static_cast<uint64_t>(row_));
        return !hot && may_be(0) ? 0 : hot && may_be(1) ? 1 : dense(of_row);
      }
      case 1: {  // sorted
        const double from = negative_.is_empty() ? positive_.low : -negative_.high;
        const double to = positive_.is_empty() ? -negative_.low : positive_.high;
        return from + (to - from) * (static_cast<double>(column) + 0.5) / static_cast<double>(row_);
      }
      case 2: return dense(of_row);                                                // constant
      default: return dense(mix(of_row + static_cast<uint64_t>(column) / 2 % 4));  // pairs of equals, four of them
    }
    return dense(bits);
  }

  double hard_to_round(int64_t i, uint64_t bits, uint64_t stream) const {
    const bool both_signs = !positive_.is_empty() && !negative_.is_empty();
    if (i % 4 == 1 && both_signs) {  // the one before, negated, but for its last bits
      const double before = hard_to_round(i - 1, mix(stream + static_cast<uint64_t>(i) - 1), stream);
      return -before * (1 + std::ldexp(1.0, -format_.mantissa_bits) * static_cast<double>(bits % 3));
    }
    const double value = dense(mix(bits));
    const int exponent = std::ilogb(value);
    const double mantissa = std::fabs(std::ldexp(value, -exponent));
    double hard = 0;
    switch (bits % 3) {
      case 0: hard = 2 - std::ldexp(1.0, -format_.mantissa_bits); break;    // all ones
      case 1: hard = (std::floor(mantissa * 0x1p7) + 0.5) * 0x1p-7; break;  // between two of bf16
      default: hard = (std::floor(mantissa * 0x1p7) + 0.5) * 0x1p-7 + std::ldexp(1.0, -format_.mantissa_bits); break;
    }
    return std::copysign(std::ldexp(hard, exponent), value);
  }

  hlo::FloatFormat format_;
  Kind kind_;
  double low_ = 0, high_ = 0, away_ = 0, least_normal_ = 0;
  Window positive_, negative_;  // magnitudes
  int64_t row_ = 1, count_ = 1;
  std::vector<double> edges_;
};

int64_t to_integer(double value) {
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return value <= -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

// Integers of one array.
class Integers {
 public:
  Integers(const ParameterRange& range, Kind kind) : kind_(kind), fields_(range.fields) {
    const Interval all = finite_values(range.shape.element_type());
    const bool whole_type = range.values.contains({all.low, all.high});
    any_bits_ = whole_type && ((range.roles & RoleBits) != 0 || looks_like_key(range.shape));
    Interval values = range.values;
    if (!range.indexes && kind != Kind::Edges) {
      const Interval everyday = intersection(values, range.natural);
      if (everyday.low <= everyday.high) values = everyday;
    }
    low_ = to_integer(values.low);
    high_ = to_integer(values.high);
    count_ = static_cast<uint64_t>(std::max<int64_t>(1, range.shape.element_count()));
    without_zero_ = range.values.away > 0;
    row_ = std::max<int64_t>(1, range.shape.rank() > 0 ? range.shape.dimensions().back() : 1);
  }

  int64_t at(int64_t i, uint64_t bits, uint64_t stream) const {
    if (!fields_.empty()) return packed(bits);
    if (any_bits_) return static_cast<int64_t>(bits);
    int64_t value = drawn(i, bits, stream);
    if (value == 0 && without_zero_) value = high_ > 0 ? 1 : -1;
    return value;
  }

 private:
  // Each field from its own numbers, whose ends come up often; any bits around them.
  [[nodiscard]] int64_t packed(uint64_t bits) const {
    uint64_t word = mix(bits);
    for (const Field& field : fields_) word &= ~field.mask;
    for (const Field& field : fields_) {
      bits = mix(bits);
      const uint64_t value = bits % 8 == 0 ? 0 : bits % 8 == 1 ? field.most : (bits >> 8) % (field.most + 1);
      word |= value << std::countr_zero(field.mask);
    }
    return static_cast<int64_t>(word);
  }

  // Unsigned 32-bit vectors of two or four words are how JAX passes PRNG keys.
  static bool looks_like_key(const hlo::Shape& shape) {
    return shape.element_type() == ElementType::U32 && shape.rank() >= 1 &&
           (shape.dimensions().back() == 2 || shape.dimensions().back() == 4) && shape.element_count() <= 1024;
  }

  [[nodiscard]] int64_t drawn(int64_t i, uint64_t bits, uint64_t stream) const {
    switch (kind_) {
      case Kind::Edges: return edge(bits);
      case Kind::Sparse: return bits % 8 != 0 ? std::clamp<int64_t>(0, low_, high_) : dense(mix(bits));
      case Kind::Structured: {
        const uint64_t of_row = mix(stream ^ mix(static_cast<uint64_t>(i / row_) + 1));
        return of_row % 2 == 0 ? dense(of_row) : dense(mix(of_row + static_cast<uint64_t>(i % row_) / 2 % 4));
      }
      case Kind::Rounding: return counted(i, bits);
      default: return dense(bits);
    }
  }

  // From the lowest on, in equal steps: as many as there is room for are distinct.
  [[nodiscard]] int64_t counted(int64_t i, uint64_t bits) const {
    const uint64_t width = static_cast<uint64_t>(high_) - static_cast<uint64_t>(low_) + 1;
    const uint64_t step = std::max<uint64_t>(1, width / count_);
    return static_cast<int64_t>(static_cast<uint64_t>(low_) +
                                (width == 0 ? bits : static_cast<uint64_t>(i) * step % width));
  }

  [[nodiscard]] int64_t dense(uint64_t bits) const {
    // The ends come up often, so that small arrays have them too.
    if (bits % 16 == 0) return low_;
    if (bits % 16 == 1) return high_;
    const uint64_t width = static_cast<uint64_t>(high_) - static_cast<uint64_t>(low_) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(low_) + (width == 0 ? bits : (bits >> 8) % width));
  }

  [[nodiscard]] int64_t edge(uint64_t bits) const {
    const auto power = static_cast<int64_t>(uint64_t{1} << ((bits >> 8) % 63));
    const std::array<int64_t, 9> edges{
        low_, low_ + (low_ < high_ ? 1 : 0), high_, high_ - (low_ < high_ ? 1 : 0), 0, 1, -1, power, -power};
    return bits % 2 == 0 ? std::clamp(edges[(bits >> 16) % edges.size()], low_, high_) : dense(mix(bits));
  }

  Kind kind_;
  std::vector<Field> fields_;
  bool any_bits_ = false, without_zero_ = false;
  int64_t low_ = 0, high_ = 0, row_ = 1;
  uint64_t count_ = 1;
};

template <class T>
void put(std::byte* bytes, int64_t i, T value, size_t size = sizeof(T)) {
  std::memcpy(bytes + static_cast<size_t>(i) * size, &value, size);
}

bool draw_pred(int64_t i, uint64_t bits, Kind kind, int64_t row, uint64_t stream) {
  if (kind == Kind::Sparse) return bits % 8 == 0;
  if (kind == Kind::Structured) return (mix(stream + static_cast<uint64_t>(i / row)) >> 63) != 0;
  return (bits >> 63) != 0;
}

void draw_reals(Literal& literal, const ParameterRange& range, Kind kind, uint64_t stream) {
  const ElementType type = range.shape.element_type();
  std::byte* const bytes = literal.mutable_bytes().data();
  const Reals reals(range, *hlo::float_format(type), kind);
  const auto width = static_cast<size_t>(hlo::host_bytes(type));
  fill(literal.element_count(), stream,
       [&](int64_t i, uint64_t random) { put(bytes, i, reals.encode(reals.at(i, random, stream)), width); });
}

void draw_complex(Literal& literal, const ParameterRange& range, Kind kind, uint64_t stream) {
  const ElementType part = hlo::component_type(range.shape.element_type());
  std::byte* const bytes = literal.mutable_bytes().data();
  const Reals reals(range, *hlo::float_format(part), kind);
  const auto width = static_cast<size_t>(hlo::host_bytes(part));
  fill(literal.element_count(), stream, [&](int64_t i, uint64_t random) {
    put(bytes, 2 * i, reals.encode(reals.at(i, random, stream)), width);
    put(bytes, 2 * i + 1, reals.encode(reals.at(i, mix(~random), ~stream)), width);
  });
}

void draw_integers(Literal& literal, const ParameterRange& range, Kind kind, uint64_t stream) {
  const ElementType type = range.shape.element_type();
  const bool is_signed = hlo::element_class(type) == ElementClass::Signed;
  const int unused = 64 - hlo::bit_width(type);
  const auto width = static_cast<size_t>(hlo::host_bytes(type));
  const Integers integers(range, kind);
  std::byte* const bytes = literal.mutable_bytes().data();
  fill(literal.element_count(), stream, [&](int64_t i, uint64_t random) {
    const auto shifted = static_cast<uint64_t>(integers.at(i, random, stream)) << unused;
    put(bytes, i, is_signed ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused), width);
  });
}

// Indices that are said to be sorted or unique.
void arrange(Literal& literal, const ParameterRange& range, uint64_t stream) {
  const int64_t count = literal.element_count();
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = literal.integer_at(i);
  const double room = range.values.high - range.values.low + 1;
  const bool distinct = (range.roles & RoleDistinct) != 0 && room >= static_cast<double>(count);
  if (distinct) {  // evenly spread, in an order by chance
    const double step = room / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i)
      values[static_cast<size_t>(i)] =
          to_integer(range.values.low) + static_cast<int64_t>(static_cast<double>(i) * step);
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[mix(stream + i) % i]);
  }
  if ((range.roles & RoleSorted) != 0) std::sort(values.begin(), values.end());
  for (int64_t i = 0; i < count; ++i) literal.set_integer(i, values[static_cast<size_t>(i)]);
}

// Lets each diagonal element of square matrices outweigh its row: positive definite, and well-conditioned to solve
// with.
void weight_diagonal(Literal& matrices) {
  const hlo::Shape& shape = matrices.shape();
  if (!hlo::is_float(shape.element_type()) || shape.rank() < 2) return;
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

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Dense: return "dense";
    case Kind::Edges: return "edges";
    case Kind::Sparse: return "sparse";
    case Kind::Structured: return "structured";
    case Kind::Rounding: return "rounding";
  }
  return "";
}

Literal draw(const ParameterRange& range, Kind kind, uint64_t stream) {
  Literal literal = Literal::uninitialized(range.shape);
  switch (hlo::element_class(range.shape.element_type())) {
    case ElementClass::Pred: {
      const int64_t row = std::max<int64_t>(1, range.shape.rank() > 0 ? range.shape.dimensions().back() : 1);
      std::byte* const bytes = literal.mutable_bytes().data();
      fill(literal.element_count(), stream,
           [&](int64_t i, uint64_t bits) { bytes[i] = std::byte{draw_pred(i, bits, kind, row, stream)}; });
      break;
    }
    case ElementClass::Signed:
    case ElementClass::Unsigned:
      draw_integers(literal, range, kind, stream);
      if ((range.roles & (RoleSorted | RoleDistinct)) != 0) arrange(literal, range, stream);
      break;
    case ElementClass::Float: draw_reals(literal, range, kind, stream); break;
    case ElementClass::Complex: draw_complex(literal, range, kind, stream); break;
    case ElementClass::None: break;
  }
  if ((range.roles & RoleHeavyDiagonal) != 0) weight_diagonal(literal);
  return literal;
}

}  // namespace sapper::inputs
