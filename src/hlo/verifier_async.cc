// Rules of operations in two halves (async-*, copy-start, copy-done) and of those that talk to the host: send, recv,
// infeed, outfeed.
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

bool is_u32_scalar(const Shape& shape) { return shape.is_scalar() && shape.element_type() == ElementType::U32; }

// Operand 0 comes from one of the two opcodes.
Status expect_from(const Site& site, Opcode first, Opcode second) {
  const Opcode opcode = site.operand_instruction(0).opcode;
  if (opcode == first || opcode == second) return {};
  return site.bad("operand 0 is a {}, expected {}{}{}", to_string(opcode), to_string(first),
                  first == second ? "" : " or ", first == second ? "" : to_string(second));
}

// The state of an asynchronous operation: (operands, result, ...).
Status check_async_state(const Site& site, const Shape& state) {
  if (state.is_tuple() && state.elements().size() >= 2 && state.elements()[0].is_tuple()) return {};
  return site.bad("the asynchronous state is {}, expected ((operands), result, ...)", text(state));
}

}  // namespace

// The stated shape is the state; what comes after operands and result in it is the target's business.
Result<Inferred> infer_async_start(const Site& site) {
  const Shape& state = site.stated();
  SAPPER_CHECKED(check_async_state(site, state));
  const std::string& name = site.called(0).name;
  const std::vector<Shape>& arguments = state.elements()[0].elements();
  if (site.parameter_count(0) != site.operand_count())
    return site.bad("computation '{}' has {} parameters, expected {}", name, site.parameter_count(0),
                    site.operand_count());
  if (arguments.size() != site.operand_count())
    return site.bad("stated shape {} holds {} operands, expected {}", text(state), arguments.size(),
                    site.operand_count());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!compatible(site.operand(i), arguments[i]) || !compatible(site.operand(i), site.parameter(0, i)))
      return site.bad("operand {} is {}, stated {}, and parameter of '{}' {}", i, text(site.operand(i)),
                      text(arguments[i]), name, text(site.parameter(0, i)));
  }
  if (!compatible(state.elements()[1], site.result_of(0)))
    return site.bad("stated result {} but computation '{}' returns {}", text(state.elements()[1]), name,
                    text(site.result_of(0)));
  return state;
}

Result<Inferred> infer_async_update(const Site& site) {
  SAPPER_CHECKED(expect_from(site, Opcode::AsyncStart, Opcode::AsyncUpdate));
  SAPPER_CHECKED(check_async_state(site, site.operand(0)));
  // With further operands the state may change in ways that only the target knows.
  if (site.operand_count() > 1) {
    SAPPER_CHECKED(check_async_state(site, site.stated()));
    return site.stated();
  }
  return site.operand(0);
}

Result<Inferred> infer_async_done(const Site& site) {
  SAPPER_CHECKED(expect_from(site, Opcode::AsyncStart, Opcode::AsyncUpdate));
  SAPPER_CHECKED(check_async_state(site, site.operand(0)));
  return site.operand(0).elements()[1];
}

// (destination, source, context)
Result<Inferred> infer_copy_start(const Site& site) {
  const Shape& stated = site.stated();
  const Shape& context = stated_element(stated, 2);
  const bool has_context = context.is_scalar() && is_integer(context.element_type());
  return tuple_of(stated, 3, [&](size_t i) -> Inferred {
    if (i < 2) return site.operand(0);
    if (has_context) return context;
    return Shape::scalar(ElementType::U32);
  });
}

Result<Inferred> infer_copy_done(const Site& site) {
  SAPPER_CHECKED(expect_from(site, Opcode::CopyStart, Opcode::CopyStart));
  if (!site.operand(0).is_tuple() || site.operand(0).elements().empty())
    return site.bad("operand is {}, expected (destination, source, context)", text(site.operand(0)));
  return site.operand(0).elements()[0];
}

// Operands: data, token. (data, u32[], token[])
Result<Inferred> infer_send(const Site& site) {
  SAPPER_CHECKED(expect_token(site, 1));
  return tuple_of(site.stated(), 3, [&](size_t i) -> Inferred {
    if (i == 0) return site.operand(0);
    return i == 1 ? Shape::scalar(ElementType::U32) : Shape::token();
  });
}

Result<Inferred> infer_send_done(const Site& site) {
  const Shape& operand = site.operand(0);
  if (!operand.is_tuple() || operand.elements().size() != 3 || !is_u32_scalar(operand.elements()[1]))
    return site.bad("operand is {}, expected (data, u32[], token[])", text(operand));
  return Shape::token();
}

Result<Inferred> infer_recv(const Site& site) {
  SAPPER_CHECKED(expect_token(site, 0));
  if (!stated_element(site.stated(), 0).is_valid())
    return site.bad("stated shape {}, expected (data, u32[], token[])", text(site.stated()));
  return tuple_of(site.stated(), 3, [&](size_t i) -> Inferred {
    if (i == 0) return stated_element(site.stated(), 0);
    return i == 1 ? Shape::scalar(ElementType::U32) : Shape::token();
  });
}

Result<Inferred> infer_recv_done(const Site& site) {
  const Shape& operand = site.operand(0);
  if (!operand.is_tuple() || operand.elements().size() != 3 || !is_u32_scalar(operand.elements()[1]))
    return site.bad("operand is {}, expected (data, u32[], token[])", text(operand));
  return tuple_of(site.stated(), 2, [&](size_t i) -> Inferred {
    if (i == 0) return operand.elements()[0];
    return Shape::token();
  });
}

// Operand: token. (data, token[])
Result<Inferred> infer_infeed(const Site& site) {
  SAPPER_CHECKED(expect_token(site, 0));
  if (!site.stated().is_tuple() || site.stated().elements().size() != 2 || !site.stated().elements()[1].is_token())
    return site.bad("stated shape {}, expected (data, token[])", text(site.stated()));
  return site.stated();
}

Result<Inferred> infer_outfeed(const Site& site) {
  SAPPER_CHECKED(expect_token(site, 1));
  return Shape::token();
}

}  // namespace sapper::hlo::verifier
