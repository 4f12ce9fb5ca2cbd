// Sums of products: dot, convolution, FFT. With |a'-a| <= ea and |b'-b| <= eb, a sum of n products a b deviates by at
// most
//   sum ea (|b| + eb) + |a| eb   +   roundings * sum |a| |b|
// where the roundings are those of n products and n - 1 additions in any order. These are sums of products themselves,
// and are computed as such.
#include <cmath>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

constexpr double bfloat16_roundoff = 0x1p-8;

// Relative errors of products in `passes` products of bf16 numbers.
double pass_error(int passes) {
  switch (passes) {
    case 0: return 0;
    case 1: return 2 * bfloat16_roundoff * (1 + bfloat16_roundoff);
    default:  // the product of the two low parts, and what is beyond both parts of either operand
      return 4 * bfloat16_roundoff * bfloat16_roundoff;
  }
}

Expression product(const Site& site, Expression a, Expression b) {
  Instruction like = site.instruction;
  if (like.shared_attributes) like.edit_attributes().clear_precision_config();
  const ElementType type = deviation_type(site.type());
  const Expression operands[] = {converted(a, type), converted(b, type)};
  const Expression sum{&site.builder, site.builder.add_like(like, site.instruction.shape.with_element_type(type),
                                                            {operands[0].index, operands[1].index})};
  return sum;
}

// `terms` products are summed for each element of the result.
Deviation sum_of_products(const Site& site, double terms) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  const double unit = std::min(site.unit_roundoff(), numerics::unit_roundoff(ElementType::F32));
  double roundings = 0;
  if (terms > 1 && unit > 0) roundings = (numerics::sum_growth(site.contract(), terms) + 1) * unit;
  if (hlo::is_complex(site.type())) roundings += 8 * unit;
  const int passes = numerics::bfloat16_passes(site.contract(), site.computation, site.instruction);
  roundings += pass_error(passes);
  // The largest numbers of f32 are infinite in bf16.
  const auto in_range = [&](size_t operand, Expression moves) {
    return passes > 0 ? or_infinite(site.magnitude(operand) < 0x1.FFp127, moves) : moves;
  };
  const Expression left = in_range(0, site.magnitude(0));
  const Expression most = b ? site.magnitude(1) + *b : site.magnitude(1);
  // Independent errors add up as their squares do.
  const bool statistical = site.contract().statistical;
  const auto sum_over = [&](Expression of_left, Expression of_right) {
    return statistical ? product(site, of_left * of_left, of_right * of_right) : product(site, of_left, of_right);
  };
  Deviation total;
  if (roundings > 0 && !statistical) {
    // In units of the roundings, so that it is 0 where all products are, or round to 0. Those that are subnormal are
    // rounded by up to half the smallest number, twice, and so is what they deviate by. That is a sum of its own: in
    // units of the roundings it overflows where the products do not.
    const Expression units = sum_over(left, in_range(1, most));
    const double smallest = deviation_type(site.type()) == ElementType::F64 ? 0x1p-1074 : 0x1p-149;
    const Expression error = units * roundings + (b ? 2 : 1) * terms * smallest;
    total = site.sum_within_range(where(units <= 0.0, units, error), roundings);
    if (b) total = sum(total, sum_over(left, *b));
  } else if (roundings > 0) {
    total = sum_over(left, in_range(1, b ? most * roundings + *b : most * roundings));
  } else if (b) {
    total = sum_over(left, *b);
  }
  if (a) total = sum(total, sum_over(*a, most * (1 + roundings)));
  if (statistical && total) total = sqrt(*total);
  if (const double flushed = site.flushed_terms(2 * terms); flushed > 0)
    total = sum(total, site.result_magnitude().constant(flushed));
  return site.rounded(total);
}

}  // namespace

Deviations bound_dot(const Site& site) {
  double terms = 1;
  for (const int64_t d : site.instruction.attributes().dot_dimension_numbers().lhs_contracting_dimensions())
    terms *= static_cast<double>(site.operand_shape(0).dimension(static_cast<size_t>(d)));
  return {sum_of_products(site, terms)};
}

Deviations bound_convolution(const Site& site) {
  const auto& numbers = site.instruction.attributes().convolution_dimension_numbers();
  const Shape& kernel = site.operand_shape(1);
  const auto outputs = kernel.dimension(static_cast<size_t>(numbers.kernel_output_feature_dimension()));
  const double terms = static_cast<double>(kernel.element_count()) / static_cast<double>(std::max<int64_t>(1, outputs));
  // With batch groups each group's batch is summed over as well: the kernel holds those already.
  return {sum_of_products(site, terms)};
}

// Every element of the result is at most the sum of the magnitudes along the transformed dimensions, and so are the
// terms of any algorithm; the half spectrum of a real transform counts twice.
Deviations bound_fft(const Site& site) {
  const auto& lengths = site.instruction.attributes().fft_length();
  double terms = 1;
  for (const int64_t length : lengths) terms *= static_cast<double>(length);
  const bool halved = site.instruction.attributes().fft_type() == proto::IRFFT;
  const bool inverse = halved || site.instruction.attributes().fft_type() == proto::IFFT;
  const double scale = (halved ? 2 : 1) / (inverse ? terms : 1);
  const double roundings = (numerics::sum_growth(site.contract(), terms) + 8) * site.unit_roundoff();
  Expression each = site.magnitude(0) * (roundings * scale);
  if (const Deviation a = site.deviation(0)) each = each + *a * scale;

  const size_t rank = site.operand_shape(0).rank();
  std::vector<int64_t> batch, transformed;
  for (size_t d = 0; d < rank; ++d)
    (d + static_cast<size_t>(lengths.size()) < rank ? batch : transformed).push_back(static_cast<int64_t>(d));
  const Expression total = site.reduced_along(Opcode::Add, each, std::move(transformed));
  const Shape whole = Shape::array(total.shape().element_type(), site.instruction.shape.dimensions());
  return {inflated({&site.builder, site.builder.broadcast_along(total.index, std::move(batch), whole)})};
}

}  // namespace sapper::bounds
