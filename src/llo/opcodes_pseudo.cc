// Pseudo instructions that passes leave between each other: the register allocator's spills, fills and
// rematerializations under their own names, casts of registers' types. Values are what the first operand is.
#include <algorithm>

#include "llo/machine.h"

namespace sapper::llo {

namespace {

void copy_vector(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) { result = *operands[0]; }

void copy_scalar(Machine& machine, const Step& step) {
  machine.set_scalar(step.result, machine.scalar(step.operand[0]), machine.scalar_undefined(step.operand[0]));
}

void copy_predicate(Machine& machine, const Step& step) {
  machine.set_predicate(step.result, machine.predicate(step.operand[0]), machine.predicate_undefined(step.operand[0]));
}

void predicate_to_scalar(Machine& machine, const Step& step) {
  machine.set_scalar(step.result, machine.predicate(step.operand[0]) ? 1 : 0,
                     machine.predicate_undefined(step.operand[0]) ? ~uint32_t{0} : 0);
}

void nothing_yet(Machine& machine, const Step& step) { machine.set_scalar(step.result, 0, ~uint32_t{0}); }

constexpr OpcodeInfo kRows[] = {
    {"vpseudo.fill_from_mem|spill_to_mem|split|to_remove", "v = v", Unit::Pseudo, Movement{copy_vector},
     "A copy: what is to become a spill or a fill."},
    {"vpseudo.spill_to_reg", "v = m", Unit::Pseudo, Movement{copy_vector}, "A mask kept in a vector register."},
    {"vpseudo.remat", "v = v x*", Unit::Pseudo, Movement{copy_vector},
     "The first operand, to be computed again from the others."},
    {"vmpseudo.fill_from_virtual|spill_to_virtual|remat", "m = m x*", Unit::Pseudo, Movement{copy_vector},
     "The first operand: what is to become a spill, a fill or a computation of the others."},
    {"vector_type_cast", "v = v", Unit::Pseudo, Movement{copy_vector}, "A copy: the bits stay."},
    {"spseudo.fill_from_mem|spill_to_mem|fill_from_hbm|spill_to_hbm|split|to_remove|remat", "s = s x*", Unit::Pseudo,
     Action{copy_scalar}, "The first operand: what is to become a spill, a fill or a computation of the others."},
    {"spseudo.spill_to_reg", "s = p", Unit::Pseudo, Action{predicate_to_scalar},
     "A predicate kept in a scalar register."},
    {"spseudo.reserve", "s =", Unit::Pseudo, Action{nothing_yet}, "A register without a value."},
    {"scalar_type_cast", "s = s", Unit::Pseudo, Action{copy_scalar}, "A copy: the bits stay."},
    {"ppseudo.fill_from_virtual|spill_to_virtual|remat", "p = p x*", Unit::Pseudo, Action{copy_predicate},
     "The first operand: what is to become a spill, a fill or a computation of the others."},
};

}  // namespace

std::span<const OpcodeInfo> pseudo_opcodes() { return kRows; }

}  // namespace sapper::llo
