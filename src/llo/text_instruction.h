// The grammar of one LLO instruction, the same in every text form.
#pragma once

#include <vector>

#include "llo/program.h"
#include "llo/text_scanner.h"

namespace sapper::llo {

// %dst = opcode [attributes] (guard), operands target = $regionN /* comment */
class InstructionReader {
 public:
  explicit InstructionReader(Scanner& scanner) : scanner_(scanner) {}

  // Reads up to what ends an instruction (a line's end, `;;`, `}`, the text's end), which is left.
  void read(Instruction& instruction);
  // A register with a physical number was read.
  [[nodiscard]] bool saw_physical() const { return saw_physical_; }

 private:
  void read_item(Instruction& instruction);
  void read_comment(Instruction& instruction);
  void read_parenthesis(Instruction& instruction);
  void read_guard(Instruction& instruction);
  void read_bracket(Instruction& instruction);
  void read_attributes(Instruction& instruction);
  void read_target(Instruction& instruction);
  void read_comma();
  void add(Operand operand);
  Register read_name();

  Scanner& scanner_;
  std::vector<Operand> operands_;  // of the instruction being read
  std::string_view next_name_;     // from a /*name=*/
  bool separated_ = true;          // an operand may stand here: none before, or a comma, or what needs none after it
  bool comma_ = false;             // the last thing was a comma
  bool saw_physical_ = false;
};

}  // namespace sapper::llo
