// Control: operands of the kernel, branches that the decoder leaves, halts, barriers, tuples, traces: what has little
// or no effect on values.
#include <fmt/format.h>

#include <charconv>

#include "llo/isa.h"
#include "llo/machine.h"

namespace sapper::llo {
namespace {

// The operand's place, or a scalar's bits, that the caller bound to it.
void read_operand(Machine& machine, const Step& step) {
  const std::string_view text = machine.instruction(step).attribute("index").value_or("");
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) {
    return machine.fail_with({ErrorKind::BadInput, "an operand of the kernel without its index", {}});
  }
  const std::optional<uint32_t> place = machine.bound_operand(index);
  if (!place) return machine.fail_with({ErrorKind::BadInput, fmt::format("operand {} has no value", index), {}});
  machine.set_scalar(step.result, *place);
}

// Stands under a guard, (p): it is only run where the check fails.
void halt(Machine& machine, const Step& step) {
  const std::string_view comment = machine.instruction(step).comment;
  const std::string_view what = comment.substr(0, comment.find('\n'));
  machine.report(
      step, FindingKind::Halt,
      what.empty() ? "the kernel halts: a check of its own failed" : fmt::format("the kernel halts: {}", what));
  machine.stop();
}

constexpr OpcodeInfo kOpcodes[] = {
    {"inlined_call_operand.hbm|vmem|smem|cmem|<no memory space>", "s = ", Unit::Control, Action{read_operand},
     "The address of an operand or result of the kernel; the value itself of a scalar without memory space."},
    {"xla_tuple", "- = x*", Unit::Pseudo, NoEffect{}, "Names a tuple of values."},
    {"sphi", "s = s s", Unit::Pseudo, NoEffect{},
     "In a loop's header: a when the loop is entered, b when it goes round."},
    {"pphi", "p = p p", Unit::Pseudo, NoEffect{},
     "In a loop's header: a when the loop is entered, b when it goes round."},
    {"vphi", "v = v v", Unit::Pseudo, NoEffect{},
     "In a loop's header: a when the loop is entered, b when it goes round."},
    {"vmphi", "m = m m", Unit::Pseudo, NoEffect{},
     "In a loop's header: a when the loop is entered, b when it goes round."},
    {"sbr.rel", "- = ", Unit::Control, NoEffect{}, "Goes to its target, where its guard lets it."},
    {"shalt.err", "- = ", Unit::Control, Action{halt}, "Ends the program with an error, where its guard lets it."},
    {"vnop", "- = ", Unit::Pseudo, NoEffect{}, "Nothing."},
    {"vdelay", "- = s", Unit::Pseudo, NoEffect{}, "Nothing, for a cycles."},
    {"compiler-scheduling-barrier", "- = x*", Unit::Pseudo, NoEffect{}, "Nothing may be scheduled across it."},
};

}  // namespace

std::span<const OpcodeInfo> control_opcodes() { return kOpcodes; }

}  // namespace sapper::llo
