// Rules of operations in several parts (async-*, copy-start, copy-done) and of those that talk to the host: send, recv,
// infeed, outfeed.
#include <algorithm>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

bool is_u32_scalar(const Shape& shape) { return shape.is_scalar() && shape.element_type() == ElementType::U32; }

// The state of an asynchronous operation: ((operands), result, ...).
Status check_async_state(const Site& site, const Shape& state) {
  if (state.is_tuple() && state.elements().size() >= 2 && state.elements()[0].is_tuple()) return {};
  return site.bad("the asynchronous state is {}, expected ((operands), result, ...)", text(state));
}

bool is_prefix(const std::vector<Shape>& part, const std::vector<Shape>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin(), compatible);
}

// `part` is `whole`, or the first elements of it, or () where nothing is known yet: results may become known one after
// the other.
bool is_part_of_result(const Shape& part, const Shape& whole) {
  if (part.is_tuple() && part.elements().empty()) return true;
  return compatible(part, whole) ||
         (part.is_tuple() && whole.is_tuple() && is_prefix(part.elements(), whole.elements()));
}

// The wrapped computation, where the state can be followed back to its async-start in this computation.
const Computation* wrapped_computation(const Site& site) {
  constexpr int most_updates = 1000;
  const Instruction* at = &site.operand_instruction(0);
  for (int i = 0; i < most_updates && at->opcode == Opcode::AsyncUpdate; ++i)
    at = &site.computation.instructions[at->operands[0]];
  if (at->opcode != Opcode::AsyncStart) return nullptr;
  return &site.module.computations[at->called[0]];
}

}  // namespace

// The operands are the first ones of the wrapped computation, and async-update may add the others. The stated shape is
// the state; what comes after operands and result in it is the target's business.
Result<Inferred> infer_async_start(const Site& site) {
  const Shape& state = site.stated();
  SAPPER_CHECKED(check_async_state(site, state));
  const std::string& name = site.called(0).name;
  const std::vector<Shape>& arguments = state.elements()[0].elements();
  if (site.parameter_count(0) < site.operand_count())
    return site.bad("computation '{}' has {} parameters, expected at least {}", name, site.parameter_count(0),
                    site.operand_count());
  if (arguments.size() != site.operand_count())
    return site.bad("stated shape {} holds {} operands, expected {}", text(state), arguments.size(),
                    site.operand_count());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!compatible(site.operand(i), arguments[i]) || !compatible(site.operand(i), site.parameter(0, i)))
      return site.bad("operand {} is {}, stated {}, and parameter of '{}' {}", i, text(site.operand(i)),
                      text(arguments[i]), name, text(site.parameter(0, i)));
  }
  if (!is_part_of_result(state.elements()[1], site.result_of(0)))
    return site.bad("stated result {} but computation '{}' returns {}", text(state.elements()[1]), name,
                    text(site.result_of(0)));
  return state;
}

// Operand 0 is the state so far, also where it came through a loop or a tuple; the others join its operands.
Result<Inferred> infer_async_update(const Site& site) {
  const Shape& before = site.operand(0);
  const Shape& after = site.stated();
  SAPPER_CHECKED(check_async_state(site, before));
  SAPPER_CHECKED(check_async_state(site, after));
  const std::vector<Shape>& bound = after.elements()[0].elements();
  const std::vector<Shape>& bound_before = before.elements()[0].elements();
  bool fits = bound.size() == bound_before.size() + site.operand_count() - 1 && is_prefix(bound_before, bound);
  for (size_t i = 1; fits && i < site.operand_count(); ++i)
    fits = compatible(site.operand(i), bound[bound_before.size() + i - 1]);
  if (!fits || !is_part_of_result(before.elements()[1], after.elements()[1]))
    return site.bad("stated shape {} is not {} with {} further operands", text(after), text(before),
                    site.operand_count() - 1);
  if (const Computation* wrapped = wrapped_computation(site)) {
    const std::vector<InstructionIndex> parameters = wrapped->parameters();
    for (size_t i = bound_before.size(); i < bound.size(); ++i)
      if (i >= parameters.size() || !compatible(bound[i], wrapped->instructions[parameters[i]].shape))
        return site.bad("operand {} of the wrapped computation is {}, which '{}' does not take there", i,
                        text(bound[i]), wrapped->name);
    const Shape& result = wrapped->root_instruction().shape;
    if (!is_part_of_result(after.elements()[1], result))
      return site.bad("stated result {} but computation '{}' returns {}", text(after.elements()[1]), wrapped->name,
                      text(result));
  }
  return after;
}

Result<Inferred> infer_async_done(const Site& site) {
  const Shape& state = site.operand(0);
  SAPPER_CHECKED(check_async_state(site, state));
  const Shape& known = state.elements()[1];
  if (compatible(known, site.stated())) return known;
  if (const Computation* wrapped = wrapped_computation(site)) return wrapped->root_instruction().shape;
  return is_part_of_result(known, site.stated()) ? Inferred(site.stated()) : Inferred(known);
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
  if (site.operand_instruction(0).opcode != Opcode::CopyStart)
    return site.bad("operand is a {}, expected copy-start", to_string(site.operand_instruction(0).opcode));
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
