#include "numerics/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "base/assert.h"
#include "base/parallel.h"
#include "hlo/reals.h"

namespace sapper::numerics {
namespace {

using hlo::ElementType;
using hlo::Literal;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Deviation {
  double absolute = 0, relative = 0;
  bool finite = true;
  bool agrees = true;
  bool determined = true;  // false: its bound is infinite
  double excess = 0;       // over its bound
};

ElementType component(ElementType type) { return hlo::is_complex(type) ? hlo::component_type(type) : type; }

Deviation deviate_component(ElementType type, double got, double expected, double modulus, double allowed,
                            double allowed_ulps) {
  if (std::isnan(got) && std::isnan(expected)) return {};
  if (got == expected) return {};
  if (!std::isfinite(got) || !std::isfinite(expected)) return {infinity, infinity, false, false};
  Deviation deviation;
  deviation.absolute = std::fabs(got - expected);
  deviation.relative = modulus > 0 ? deviation.absolute / modulus : infinity;
  deviation.agrees =
      deviation.absolute <= allowed || (allowed_ulps > 0 && ulp_distance(type, got, expected) <= allowed_ulps);
  return deviation;
}

Deviation worse(const Deviation& a, const Deviation& b) {
  const bool second = a.agrees == b.agrees ? b.absolute > a.absolute : !b.agrees;
  Deviation result = second ? b : a;
  result.agrees = a.agrees && b.agrees;
  result.finite = a.finite && b.finite;
  return result;
}

// What a block of elements contributes; blocks are joined in order.
struct Partial {
  int64_t mismatches = 0;
  int64_t flushed = 0;
  int64_t lost_nans = 0;
  int64_t undetermined = 0;
  double max_excess = 0;
  int64_t worst = -1;
  Deviation worst_deviation;
  double max_absolute = 0, max_relative = 0;
  std::vector<int64_t> low, high;
};

// The worst mismatch is the one with the largest deviation relative to the reference, the first of equals.
bool is_worse(const Deviation& candidate, const Deviation& current) {
  if (candidate.finite != current.finite) return !candidate.finite;
  return candidate.relative > current.relative;
}

// Elements are looked at in chunks of so many, which are converted together.
constexpr int64_t chunk = 512;

// Calls visit(magnitude) for every finite element, in order.
template <class Visit>
void for_each_magnitude(const Literal& literal, Visit&& visit) {
  std::array<double, chunk> values;
  const bool is_complex = hlo::is_complex(literal.shape().element_type());
  for (int64_t begin = 0; begin < literal.element_count(); begin += chunk) {
    const std::span out(values.data(), static_cast<size_t>(std::min(chunk, literal.element_count() - begin)));
    if (!is_complex) hlo::read_reals(literal, begin, out);
    for (size_t k = 0; k < out.size(); ++k) {
      const double magnitude =
          is_complex ? std::abs(literal.complex_at(begin + static_cast<int64_t>(k))) : std::fabs(out[k]);
      if (std::isfinite(magnitude)) visit(magnitude);
    }
  }
}

// Root mean square of the finite elements.
double typical_magnitude(const Literal& literal) {
  double sum = 0;
  int64_t finite = 0;
  for_each_magnitude(literal, [&](double magnitude) {
    sum += magnitude * magnitude;
    ++finite;
  });
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

double largest_finite(const Literal& literal) {
  double largest = 0;
  for_each_magnitude(literal, [&](double magnitude) { largest = std::max(largest, magnitude); });
  return largest;
}

bool says_something(double magnitude, double bound, double typical) {
  constexpr double factor = 16;
  return bound == 0 || (std::isfinite(bound) && bound <= factor * std::max(magnitude, typical));
}

class Comparison {
 public:
  // `bounds`: null, or what replaces the tolerance.
  Comparison(const Literal& got, const Literal& expected, const Tolerance& tolerance, const Literal* bounds)
      : got_(got),
        expected_(expected),
        tolerance_(tolerance),
        bounds_(bounds),
        type_(expected.shape().element_type()),
        least_normal_(hlo::is_float(component(type_)) ? hlo::least_normal(*hlo::float_format(component(type_))) : 0) {
    if (tolerance_.scaled > 0) scale_ = largest_finite(expected);
    if (bounds_ != nullptr) scale_ = typical_magnitude(expected);
  }

  Partial over(int64_t begin, int64_t end) const {
    Partial partial;
    for (; begin < end; begin += chunk) over_chunk(begin, std::min(chunk, end - begin), partial);
    return partial;
  }

  // Of two elements that differ; of complex ones, in the component that differs more. Integers: their distance.
  double ulps_at(int64_t i, const Deviation& deviation) const {
    if (!deviation.finite) return infinity;
    if (hlo::is_integer(type_) || type_ == ElementType::Pred) return deviation.absolute;
    const std::complex<double> got = got_.complex_at(i), expected = expected_.complex_at(i);
    const bool real = std::fabs(got.real() - expected.real()) >= std::fabs(got.imag() - expected.imag());
    return real ? ulp_distance(component(type_), got.real(), expected.real())
                : ulp_distance(component(type_), got.imag(), expected.imag());
  }

  static Partial join(Partial a, const Partial& b) {
    a.mismatches += b.mismatches;
    a.flushed += b.flushed;
    a.lost_nans += b.lost_nans;
    a.undetermined += b.undetermined;
    a.max_excess = std::max(a.max_excess, b.max_excess);
    a.max_absolute = std::max(a.max_absolute, b.max_absolute);
    a.max_relative = std::max(a.max_relative, b.max_relative);
    if (b.worst >= 0 && (a.worst < 0 || is_worse(b.worst_deviation, a.worst_deviation))) {
      a.worst = b.worst;
      a.worst_deviation = b.worst_deviation;
    }
    if (a.low.empty()) {
      a.low = b.low;
      a.high = b.high;
    } else {
      for (size_t d = 0; d < b.low.size(); ++d) {
        a.low[d] = std::min(a.low[d], b.low[d]);
        a.high[d] = std::max(a.high[d], b.high[d]);
      }
    }
    return a;
  }

 private:
  void over_chunk(int64_t begin, int64_t count, Partial& partial) const {
    const auto width = static_cast<int64_t>(hlo::host_bytes(type_));
    const std::byte* got_bytes = got_.bytes().data() + begin * width;
    const std::byte* expected_bytes = expected_.bytes().data() + begin * width;
    if (std::memcmp(got_bytes, expected_bytes, static_cast<size_t>(count * width)) == 0) return;
    std::array<double, chunk> got, expected, bounds;
    const auto read = [&](const Literal& literal, std::array<double, chunk>& out) {
      hlo::read_reals(literal, begin, std::span(out).first(static_cast<size_t>(count)));
    };
    const bool is_float = hlo::is_float(type_);
    if (is_float) read(got_, got);
    if (is_float) read(expected_, expected);
    if (bounds_ != nullptr) read(*bounds_, bounds);
    for (int64_t k = 0; k < count; ++k) {
      if (std::memcmp(got_bytes + k * width, expected_bytes + k * width, static_cast<size_t>(width)) == 0) continue;
      const auto at = static_cast<size_t>(k);
      const Deviation tolerated =
          is_float ? deviate(got[at], expected[at], std::fabs(expected[at]), allowance(std::fabs(expected[at])))
                   : tolerated_deviation(begin + k);
      add(begin + k, bounds_ == nullptr ? tolerated : bounded_deviation(begin + k, bounds[at], tolerated), partial);
    }
  }

  Deviation bounded_deviation(int64_t i, double bound, Deviation deviation) const {
    if (deviation.absolute == 0) return deviation;
    if (!std::isfinite(bound)) {
      deviation.determined = false;
      return deviation;
    }
    if (hlo::is_complex(type_) || (!deviation.finite && bound > 0)) deviation.absolute = distance_with_overflow(i);
    deviation.excess = bound > 0 ? deviation.absolute / bound : infinity;
    // The bound's own arithmetic is rounded upwards; the distance's is not.
    deviation.agrees = deviation.excess <= 1 + 0x1p-40;
    deviation.determined = !deviation.agrees || says_something(magnitude_at(i), bound, scale_);
    return deviation;
  }

  double magnitude_at(int64_t i) const {
    return hlo::is_complex(type_) ? std::abs(expected_.complex_at(i)) : std::fabs(expected_.real_at(i));
  }

  // With infinities taken for the smallest number that overflows.
  double distance_with_overflow(int64_t i) const {
    const hlo::FloatFormat format = *hlo::float_format(component(type_));
    const double overflow = std::ldexp(1.0, (1 << format.exponent_bits) - 1 - format.bias);
    const auto clipped = [&](double value) {
      return std::isnan(value) ? value : std::clamp(value, -overflow, overflow);
    };
    const std::complex<double> got = got_.complex_at(i), expected = expected_.complex_at(i);
    const double distance =
        std::hypot(clipped(got.real()) - clipped(expected.real()), clipped(got.imag()) - clipped(expected.imag()));
    return std::isnan(distance) ? infinity : distance;
  }

  // Of what is no real float.
  Deviation tolerated_deviation(int64_t i) const {
    if (!hlo::is_complex(type_)) return integer_deviation(i);
    const std::complex<double> got = got_.complex_at(i);
    const std::complex<double> expected = expected_.complex_at(i);
    const double modulus = std::abs(expected);
    const double allowed = allowance(modulus);
    return worse(deviate(got.real(), expected.real(), modulus, allowed),
                 deviate(got.imag(), expected.imag(), modulus, allowed));
  }

  double allowance(double modulus) const {
    const double relative = std::isfinite(modulus) ? tolerance_.relative * modulus : 0;
    return tolerance_.absolute + relative + tolerance_.scaled * scale_;
  }

  Deviation deviate(double got, double expected, double modulus, double allowed) const {
    return deviate_component(component(type_), got, expected, modulus, allowed, tolerance_.ulps);
  }

  // 64-bit integers do not fit doubles: subtract as integers.
  Deviation integer_deviation(int64_t i) const {
    const bool is_unsigned = hlo::element_class(type_) == hlo::ElementClass::Unsigned;
    const int64_t got = got_.integer_at(i);
    const int64_t expected = expected_.integer_at(i);
    if (got == expected) return {};
    const auto ugot = static_cast<uint64_t>(got);
    const auto uexpected = static_cast<uint64_t>(expected);
    const bool got_larger = is_unsigned ? ugot > uexpected : got > expected;
    Deviation deviation;
    deviation.absolute = static_cast<double>(got_larger ? ugot - uexpected : uexpected - ugot);
    const double magnitude = is_unsigned ? static_cast<double>(uexpected) : std::fabs(static_cast<double>(expected));
    deviation.relative = magnitude > 0 ? deviation.absolute / magnitude : infinity;
    deviation.agrees = deviation.absolute <= tolerance_.absolute;
    return deviation;
  }

  void add(int64_t i, const Deviation& deviation, Partial& partial) const {
    if (deviation.finite) {
      partial.max_absolute = std::max(partial.max_absolute, deviation.absolute);
      if (std::isfinite(deviation.relative)) partial.max_relative = std::max(partial.max_relative, deviation.relative);
    }
    if (!deviation.determined) {
      ++partial.undetermined;
      return;
    }
    partial.max_excess = std::max(partial.max_excess, deviation.excess);
    if (deviation.agrees) return;
    ++partial.mismatches;
    if (is_flush(i)) ++partial.flushed;
    if (hlo::is_float(type_) && std::isnan(expected_.real_at(i))) ++partial.lost_nans;
    if (partial.worst < 0 || is_worse(deviation, partial.worst_deviation)) {
      partial.worst = i;
      partial.worst_deviation = deviation;
    }
    extend_box(i, partial);
  }

  bool is_flush(int64_t i) const {
    if (!hlo::is_float(type_)) return false;
    return got_.real_at(i) == 0 && std::fabs(expected_.real_at(i)) < least_normal_;
  }

  void extend_box(int64_t i, Partial& partial) const {
    const std::vector<int64_t>& dimensions = expected_.shape().dimensions();
    const bool first = partial.low.empty();
    if (first) {
      partial.low.assign(dimensions.size(), 0);
      partial.high.assign(dimensions.size(), 0);
    }
    for (size_t d = dimensions.size(); d-- > 0;) {
      const int64_t at = i % dimensions[d];
      i /= dimensions[d];
      partial.low[d] = first ? at : std::min(partial.low[d], at);
      partial.high[d] = first ? at : std::max(partial.high[d], at);
    }
  }

  const Literal& got_;
  const Literal& expected_;
  const Tolerance& tolerance_;
  const Literal* bounds_;
  ElementType type_;
  double least_normal_;
  double scale_ = 0;
};

std::string element_text(const Literal& literal, int64_t i) {
  const ElementType type = literal.shape().element_type();
  if (type == ElementType::Pred) return literal.integer_at(i) != 0 ? "true" : "false";
  if (type == ElementType::U64) return fmt::format("{}", static_cast<uint64_t>(literal.integer_at(i)));
  if (hlo::is_integer(type)) return fmt::format("{}", literal.integer_at(i));
  const auto real = [](ElementType of, double value) {
    return of == ElementType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  };
  if (!hlo::is_complex(type)) return real(type, literal.real_at(i));
  const std::complex<double> value = literal.complex_at(i);
  const ElementType part = hlo::component_type(type);
  return fmt::format("({}, {})", real(part, value.real()), real(part, value.imag()));
}

}  // namespace

double epsilon(ElementType type) {
  const auto format = hlo::float_format(component(type));
  return format ? std::ldexp(1.0, -format->mantissa_bits) : 0;
}

double ulp_distance(ElementType type, double a, double b) {
  const hlo::FloatFormat format = *hlo::float_format(type);
  const double larger = std::max(std::fabs(a), std::fabs(b));
  if (larger == 0) return 0;
  const int exponent = std::max(std::ilogb(larger), 1 - format.bias);
  return std::ldexp(std::fabs(a - b), format.mantissa_bits - exponent);
}

namespace {

Difference compared(const Literal& got, const Literal& expected, const Tolerance& tolerance, const Literal* bounds) {
  SAPPER_ASSERT(got.shape().same_dimensions(expected.shape()) &&
                got.shape().element_type() == expected.shape().element_type());
  const Comparison comparison(got, expected, tolerance, bounds);
  constexpr int64_t block = 1 << 16;
  std::vector<Partial> blocks(static_cast<size_t>((expected.element_count() + block - 1) / block));
  parallel_for_each(std::ssize(blocks), [&](int64_t i) {
    blocks[static_cast<size_t>(i)] = comparison.over(i * block, std::min((i + 1) * block, expected.element_count()));
  });
  const Partial partial = std::accumulate(blocks.begin(), blocks.end(), Partial{}, &Comparison::join);

  Difference difference;
  difference.elements = expected.element_count();
  difference.mismatches = partial.mismatches;
  difference.flushed = partial.flushed;
  difference.lost_nans = partial.lost_nans;
  difference.undetermined = partial.undetermined;
  difference.max_excess = partial.max_excess;
  difference.max_absolute = partial.max_absolute;
  difference.max_relative = partial.max_relative;
  difference.box_low = partial.low;
  difference.box_high = partial.high;
  if (partial.worst < 0) return difference;
  difference.worst = partial.worst;
  difference.worst_absolute = partial.worst_deviation.absolute;
  difference.worst_relative = partial.worst_deviation.relative;
  difference.worst_ulps = comparison.ulps_at(partial.worst, partial.worst_deviation);
  difference.got = element_text(got, partial.worst);
  difference.expected = element_text(expected, partial.worst);
  const std::vector<int64_t>& dimensions = expected.shape().dimensions();
  difference.worst_index.resize(dimensions.size());
  int64_t rest = partial.worst;
  for (size_t d = dimensions.size(); d-- > 0; rest /= dimensions[d]) difference.worst_index[d] = rest % dimensions[d];
  return difference;
}

}  // namespace

Difference compare(const Literal& got, const Literal& expected, const Tolerance& tolerance) {
  return compared(got, expected, tolerance, nullptr);
}

Difference compare_within(const Literal& got, const Literal& expected, const Literal& deviation) {
  SAPPER_ASSERT(deviation.shape().same_dimensions(expected.shape()));
  return compared(got, expected, {}, &deviation);
}

}  // namespace sapper::numerics
