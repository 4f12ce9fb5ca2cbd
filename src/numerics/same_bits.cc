// Equality bit for bit, of values that took different ways to the same result.
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "numerics/compare.h"
#include "numerics/contract.h"

namespace sapper::numerics {
namespace {

// Numbers below `tiny` may stand for zero.
bool equivalent(double a, double b, Alike alike, double tiny) {
  if (std::isnan(a) && std::isnan(b)) return true;
  if (alike == Alike::Bits) return false;
  return (a == 0 && (b == 0 || std::fabs(b) < tiny)) || (b == 0 && std::fabs(a) < tiny);
}

// The parts of complex numbers are compared one by one.
std::optional<int64_t> first_different(const hlo::Literal& a, const hlo::Literal& b, Alike alike) {
  const auto x = a.bytes();
  const auto y = b.bytes();
  SAPPER_ASSERT(x.size() == y.size());
  if (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0) return std::nullopt;
  const hlo::ElementType type = a.shape().element_type();
  const bool is_complex = hlo::is_complex(type);
  const size_t parts = is_complex ? 2 : 1;
  const size_t width = x.size() / static_cast<size_t>(a.element_count()) / parts;
  const double tiny = alike == Alike::FlushedSubnormals ? flushed_below(type) : 0;
  const auto equivalent_in_both = [&](int64_t i, size_t part) {
    if (!is_complex) return hlo::is_float(type) && equivalent(a.real_at(i), b.real_at(i), alike, tiny);
    const std::complex<double> p = a.complex_at(i);
    const std::complex<double> q = b.complex_at(i);
    return part == 0 ? equivalent(p.real(), q.real(), alike, tiny) : equivalent(p.imag(), q.imag(), alike, tiny);
  };
  for (int64_t i = 0; i < a.element_count(); ++i)
    for (size_t part = 0; part < parts; ++part) {
      const size_t at = (static_cast<size_t>(i) * parts + part) * width;
      if (std::memcmp(x.data() + at, y.data() + at, width) != 0 && !equivalent_in_both(i, part)) return i;
    }
  return std::nullopt;
}

}  // namespace

std::optional<Element> first_different_bits(const hlo::Literal& a, const hlo::Literal& b, Alike alike) {
  const std::vector<hlo::Literal> a_leaves = hlo::leaves(a);
  const std::vector<hlo::Literal> b_leaves = hlo::leaves(b);
  SAPPER_ASSERT(a_leaves.size() == b_leaves.size());
  for (size_t leaf = 0; leaf < a_leaves.size(); ++leaf) {
    if (!a_leaves[leaf].shape().is_array()) continue;
    if (const auto index = first_different(a_leaves[leaf], b_leaves[leaf], alike)) return Element{leaf, *index};
  }
  return std::nullopt;
}

}  // namespace sapper::numerics
