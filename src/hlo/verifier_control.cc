// Rules of control flow (call, fusion, while, conditional, custom-call), of parameters and constants, and of the
// operations that pass whole values on: tuple, get-tuple-element, copy, opt-barrier, tokens.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// Parameter `number` of the called computation `called` has the shape of an operand.
Status check_argument(const Site& site, size_t called, size_t number, const Shape& operand) {
  const Shape& parameter = site.parameter(called, number);
  if (compatible(operand, parameter)) return {};
  return site.bad("parameter {} of '{}' is {} but the operand is {}", number, site.called(called).name, text(parameter),
                  text(operand));
}

Status check_parameter_count(const Site& site, size_t called, size_t expected) {
  if (site.parameter_count(called) == expected) return {};
  return site.bad("computation '{}' has {} parameters, expected {}", site.called(called).name,
                  site.parameter_count(called), expected);
}

// The called computation takes the operands as its parameters.
Status check_arguments(const Site& site, size_t called) {
  SAPPER_CHECKED(check_parameter_count(site, called, site.operand_count()));
  for (size_t i = 0; i < site.operand_count(); ++i) SAPPER_CHECKED(check_argument(site, called, i, site.operand(i)));
  return {};
}

Status check_literal(const Site& site, const Literal& literal) {
  for (const Literal& element : literal.elements()) SAPPER_CHECKED(check_literal(site, element));
  const std::vector<int64_t>& sizes = literal.dynamic_sizes();
  bool fits = sizes.empty() || sizes.size() == literal.shape().rank();
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = sizes[i] >= 0 && sizes[i] <= literal.shape().dimension(i);
  if (!fits) return site.bad("dynamic sizes of the literal do not fit into {}", text(literal.shape()));
  return {};
}

}  // namespace

const Shape* subshape(const Shape& shape, std::span<const int64_t> index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (!at->is_tuple() || i < 0 || i >= static_cast<int64_t>(at->elements().size())) return nullptr;
    at = &at->elements()[static_cast<size_t>(i)];
  }
  return at;
}

Status check_output_aliasing(const Site& site) {
  for (const proto::OutputOperandAliasing& alias : site.attributes().output_operand_aliasing()) {
    const int64_t operand = alias.operand_index();
    if (operand < 0 || operand >= static_cast<int64_t>(site.operand_count()))
      return site.bad("output_to_operand_aliasing names operand {} of {}", operand, site.operand_count());
    const Shape* from = subshape(site.operand(static_cast<size_t>(operand)), span_of(alias.operand_shape_index()));
    const Shape* to = subshape(site.stated(), span_of(alias.output_shape_index()));
    if (from == nullptr || to == nullptr) return site.bad("output_to_operand_aliasing has a tuple index out of range");
    if (!compatible(*from, *to))
      return site.bad("output_to_operand_aliasing joins shapes {} and {}", text(*from), text(*to));
  }
  return {};
}

Result<Inferred> infer_parameter(const Site& site) { return site.stated(); }  // numbering: verifier_structure.cc

Result<Inferred> infer_constant(const Site& site) {
  const Literal* literal = site.instruction.literal.get();
  if (literal == nullptr) return site.stated();  // elided: an error only where the value is needed
  SAPPER_CHECKED(check_literal(site, *literal));
  return literal->shape();
}

Result<Inferred> infer_iota(const Site& site) {
  const Shape& stated = site.stated();
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  if (!stated.is_array() || stated.element_type() == ElementType::Pred)
    return site.bad("stated shape {}, expected an array of numbers", text(stated));
  if (dimensions.size() != 1) return site.bad("{} dimensions given, expected 1", dimensions.size());
  if (dimensions[0] < 0 || dimensions[0] >= static_cast<int64_t>(stated.rank()))
    return site.bad("iota_dimension {} is out of range for {}", dimensions[0], text(stated));
  return stated;
}

Result<Inferred> infer_identity(const Site& site) { return site.operand(0); }

Result<Inferred> infer_tuple(const Site& site) {
  return tuple_of(site.stated(), site.operand_count(), [&](size_t i) { return Inferred(site.operand(i)); });
}

Result<Inferred> infer_get_tuple_element(const Site& site) {
  const Shape& operand = site.operand(0);
  const int64_t index = site.instruction.tuple_index;
  if (!operand.is_tuple()) return site.bad("operand is {}, expected a tuple", text(operand));
  if (index < 0 || index >= static_cast<int64_t>(operand.elements().size()))
    return site.bad("index {} is out of range for a tuple of {} elements", index, operand.elements().size());
  return operand.elements()[static_cast<size_t>(index)];
}

Result<Inferred> infer_after_all(const Site& site) {
  for (size_t i = 0; i < site.operand_count(); ++i) SAPPER_CHECKED(expect_token(site, i));
  return Shape::token();
}

Result<Inferred> infer_add_dependency(const Site& site) {
  SAPPER_CHECKED(expect_token(site, 1));
  return site.operand(0);
}

Result<Inferred> infer_call(const Site& site) {
  SAPPER_CHECKED(check_arguments(site, 0));
  return site.result_of(0);
}

Result<Inferred> infer_fusion(const Site& site) {
  SAPPER_CHECKED(check_arguments(site, 0));
  SAPPER_CHECKED(check_output_aliasing(site));
  return site.result_of(0);
}

// called: body, condition
Result<Inferred> infer_while(const Site& site) {
  for (const size_t called : {0, 1}) SAPPER_CHECKED(check_arguments(site, called));
  const Shape& condition = site.result_of(1);
  if (!condition.is_scalar() || condition.element_type() != ElementType::Pred)
    return site.bad("condition '{}' returns {}, expected pred[]", site.called(1).name, text(condition));
  if (!compatible(site.result_of(0), site.operand(0)))
    return site.bad("body '{}' returns {} but its parameter is {}", site.called(0).name, text(site.result_of(0)),
                    text(site.operand(0)));
  return site.result_of(0);
}

// Operands: pred[] with two branches (true, false) or s32[] with any number; then one argument for each branch.
Result<Inferred> infer_conditional(const Site& site) {
  const Shape& selector = site.operand(0);
  const size_t branches = site.instruction.called.size();
  const bool two_way = selector.element_type() == ElementType::Pred;
  if (!selector.is_scalar() || (!two_way && selector.element_type() != ElementType::S32))
    return site.bad("operand 0 is {}, expected pred[] or s32[]", text(selector));
  if (two_way && branches != 2) return site.bad("{} branches for a pred[], expected 2", branches);
  if (site.operand_count() != branches + 1)
    return site.bad("{} operands, expected the selector and one for each of {} branches", site.operand_count(),
                    branches);
  for (size_t i = 0; i < branches; ++i) {
    SAPPER_CHECKED(check_parameter_count(site, i, 1));
    SAPPER_CHECKED(check_argument(site, i, 0, site.operand(i + 1)));
    if (!compatible(site.result_of(i), site.result_of(0)))
      return site.bad("branches '{}' and '{}' return {} and {}", site.called(0).name, site.called(i).name,
                      text(site.result_of(0)), text(site.result_of(i)));
  }
  return site.result_of(0);
}

// What a custom call means is the target's business; only what it says about its own operands is checked.
Result<Inferred> infer_custom_call(const Site& site) {
  const auto& constrained = site.attributes().operand_shapes_with_layout();
  if (site.attributes().constrain_layout() && static_cast<size_t>(constrained.size()) != site.operand_count())
    return site.bad("layouts of {} operands are constrained, expected {}", constrained.size(), site.operand_count());
  SAPPER_CHECKED(check_output_aliasing(site));
  return site.stated();
}

}  // namespace sapper::hlo::verifier
