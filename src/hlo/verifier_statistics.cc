// Rules of batch normalization and random numbers.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// Operand 0 is the normalized array; the operands `vectors` have one element for each of its features.
Status check_batch_norm(const Site& site, std::initializer_list<size_t> vectors) {
  SAPPER_CHECKED(expect_arrays(site));
  const Shape& operand = site.operand(0);
  const int64_t feature = site.attributes().feature_index();
  if (!is_float(operand.element_type())) return site.bad("operand 0 is {}, expected floating-point", text(operand));
  if (feature < 0 || feature >= static_cast<int64_t>(operand.rank()))
    return site.bad("feature_index {} is out of range for {}", feature, text(operand));
  const int64_t features = operand.dimension(static_cast<size_t>(feature));
  for (const size_t i : vectors) {
    const Shape& vector = site.operand(i);
    if (vector.rank() != 1 || vector.dimension(0) != features ||
        !interchangeable(vector.element_type(), operand.element_type()))
      return site.bad("operand {} is {}, expected {}[{}]", i, text(vector), to_string(operand.element_type()),
                      features);
  }
  return {};
}

// (array, vector, vector)
Inferred array_and_two_vectors(const Site& site) {
  const Shape& operand = site.operand(0);
  return tuple_of(site.stated(), 3, [&](size_t i) -> Inferred {
    if (i == 0) return operand;
    const auto feature = static_cast<size_t>(site.attributes().feature_index());
    ShapeBuilder builder(stated_element(site.stated(), i), operand.element_type());
    builder.add(operand.dimension(feature), operand.is_dynamic(feature));
    return builder.finish();
  });
}

}  // namespace

Result<Inferred> infer_batch_norm_training(const Site& site) {
  SAPPER_CHECKED(check_batch_norm(site, {1, 2}));
  return array_and_two_vectors(site);
}

Result<Inferred> infer_batch_norm_inference(const Site& site) {
  SAPPER_CHECKED(check_batch_norm(site, {1, 2, 3, 4}));
  return site.operand(0);
}

Result<Inferred> infer_batch_norm_grad(const Site& site) {
  SAPPER_CHECKED(check_batch_norm(site, {1, 2, 3}));
  if (!compatible_ignoring_precision(site.operand(4), site.operand(0)))
    return site.bad("output gradient {} differs from operand {}", text(site.operand(4)), text(site.operand(0)));
  return array_and_two_vectors(site);
}

// Operands: bounds of the uniform, or mean and deviation of the normal distribution.
Result<Inferred> infer_rng(const Site& site) {
  const Shape& stated = site.stated();
  for (size_t i = 0; i < 2; ++i) {
    SAPPER_CHECKED(expect_scalar(site, i));
    if (!stated.is_array() || !interchangeable(site.operand(i).element_type(), stated.element_type()))
      return site.bad("operand {} is {} but stated shape is {}", i, text(site.operand(i)), text(stated));
  }
  switch (site.attributes().distribution()) {
    case proto::RNG_UNIFORM:
      if (is_complex(stated.element_type())) return site.bad("uniform numbers cannot be {}", text(stated));
      return stated;
    case proto::RNG_NORMAL:
      if (!is_float(stated.element_type())) return site.bad("normal numbers cannot be {}", text(stated));
      return stated;
    default: return site.bad("distribution {}, expected uniform or normal", site.attributes().distribution());
  }
}

// The operand is the generator's state. The result is (next state, numbers), or, in an older form, the numbers.
Result<Inferred> infer_rng_bit_generator(const Site& site) {
  const Shape& state = site.operand(0);
  const Shape& stated = site.stated();
  if (!state.is_array() || state.rank() != 1 || element_class(state.element_type()) != ElementClass::Unsigned)
    return site.bad("state operand is {}, expected a vector of unsigned integers", text(state));
  const int algorithm = site.attributes().rng_algorithm();
  if (!proto::RandomAlgorithm_IsValid(algorithm)) return site.bad("unknown algorithm {}", algorithm);
  if (stated.is_array()) return stated;
  if (!stated.is_tuple() || stated.elements().size() != 2 || !compatible(stated.elements()[0], state) ||
      !stated.elements()[1].is_array())
    return site.bad("stated shape {}, expected ({}, array)", text(stated), text(state));
  return stated;
}

Result<Inferred> infer_rng_get_and_update_state(const Site& site) {
  ShapeBuilder builder(site.stated(), ElementType::U64);
  builder.add(2);
  return builder.finish();
}

}  // namespace sapper::hlo::verifier
