// Watches an evaluation for values that are not finite and that nobody meant.
//
// Meant are: constants and what flows from them (reduction identities, attention masks: an infinity of an operand makes
// the result's one meant), and what a program computes but selects away: a NaN or infinity that only selects see, and
// that none of them picks. All others are produced: an operation on finite operands overflowed, or left its domain; or
// infinities met and made a NaN.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluator.h"

namespace sapper::inputs {

struct Unintended {
  std::string computation;
  std::string instruction;
  std::string opcode;
  std::string shape;
  bool is_nan = false;
  bool is_selected_away = false;  // produced, but in no value that is used otherwise
};

class UnintendedWatch {
 public:
  // For eval::Options::trace. The module evaluated should have its calls inlined (eval/inline_calls.h): selects in
  // called computations are not looked into.
  void see(const hlo::Computation& computation, const hlo::Instruction& instruction, const hlo::Literal& value);

  // In the order in which they came up; an instruction is named once.
  [[nodiscard]] const std::vector<Unintended>& produced() const { return produced_; }
  // The first that is not selected away; null when there is none.
  [[nodiscard]] const Unintended* first_used() const;

 private:
  struct State {
    bool infinity = false, nan = false;
    int origin = -1;  // in produced_; -1: meant
    [[nodiscard]] bool non_finite() const { return infinity || nan; }
  };

  State state_of(const hlo::Instruction& instruction) const;
  void use_operands(const hlo::Computation& computation, const hlo::Instruction& instruction);

  std::map<const hlo::Instruction*, State> states_;  // of instructions whose latest value was not finite
  std::map<const hlo::Instruction*, int> origins_;
  std::vector<Unintended> produced_;
};

}  // namespace sapper::inputs
