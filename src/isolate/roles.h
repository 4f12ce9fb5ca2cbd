// What each instruction is to a cut: computes something worth judging, moves between computations, or is no part of
// what one device computes.
#pragma once

#include <string_view>

#include "hlo/module.h"
#include "isolate/piece.h"

namespace sapper::isolate {

enum class Role {
  Nothing,     // computes nothing: parameter, tuple, bitcast, a copy of nothing, the halves of asynchronous operations
  Light,       // a fusion would take it in: elementwise operations, broadcasts, slices
  Heavy,       // all others
  Control,     // while, conditional, call: what they call is entered
  Collective,  // exchanges data between devices or says how they share it: single_device.h has what it is on one
  Outside,     // talks to the host or keeps state between runs: in no piece
};

[[nodiscard]] Role role_of(const hlo::Computation& computation, const hlo::Instruction& instruction);

// Why an instruction is in no piece; of Role::Outside.
[[nodiscard]] std::string_view outside_reason(const hlo::Instruction& instruction);

// Whether `instruction` is the first half of an asynchronous operation or goes on with one.
[[nodiscard]] bool is_start(hlo::Opcode opcode);
[[nodiscard]] bool is_done(hlo::Opcode opcode);

// The computations that `instruction` runs as control flow, rather than as part of one operation.
[[nodiscard]] bool runs_called(hlo::Opcode opcode);

[[nodiscard]] Kind kind_of(const hlo::Instruction& instruction);

// Whether exchanging the two operands changes nothing.
[[nodiscard]] bool is_commutative(const hlo::Computation& computation, const hlo::Instruction& instruction);

// Equal but for memory spaces.
[[nodiscard]] bool same_but_for_memory_space(const hlo::Shape& a, const hlo::Shape& b);

// `shape` in the default memory space.
[[nodiscard]] hlo::Shape in_default_memory(const hlo::Shape& shape);

}  // namespace sapper::isolate
