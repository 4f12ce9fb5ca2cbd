// Reads one LLO instruction.
#include "llo/text_instruction.h"

#include <algorithm>
#include <iterator>

#include "llo/text_operand.h"

namespace sapper::llo {

namespace {

// What is read of a smov.u32 (%p, %old), new: the value that the result has where the guard does not hold.
constexpr std::string_view kOld = "old";

// A word, in which there may be vpop.f32.mrb[31].mxu1 and inlined_call_operand.<no memory space>.
std::string_view read_opcode(Scanner& scanner) {
  const char* start = scanner.cursor();
  const auto run = [&] { scanner.run([](char c) { return is_word(c) || c == '[' || c == ']'; }); };
  for (run(); scanner.peek() == '<'; run()) {
    scanner.run([](char c) { return c != '>' && c != '\n'; });
    scanner.expect('>', "'>' in the opcode");
  }
  const std::string_view opcode(start, static_cast<size_t>(scanner.cursor() - start));
  if (opcode.empty()) scanner.expected("an opcode");
  return opcode;
}

// A word and "=": the name of the operand that follows.
bool names_operand(std::string_view comment) {
  return comment.size() > 1 && comment.back() == '=' && std::all_of(comment.begin(), comment.end() - 1, is_word);
}

}  // namespace

void InstructionReader::read(Instruction& instruction) {
  instruction.line = scanner_.line();
  instruction.result = read_name();
  scanner_.expect(" = ");
  instruction.opcode = read_opcode(scanner_);
  operands_.clear();
  separated_ = true;
  comma_ = false;
  next_name_ = {};
  for (scanner_.skip_blanks(); !scanner_.at_end(); scanner_.skip_blanks()) {
    const char c = scanner_.peek();
    if (c == '\n' || c == ';' || c == '}') break;
    read_item(instruction);
  }
  if (comma_ || !next_name_.empty()) scanner_.expected("an operand");
  instruction.operands.assign(std::make_move_iterator(operands_.begin()), std::make_move_iterator(operands_.end()));
}

void InstructionReader::read_item(Instruction& instruction) {
  const char c = scanner_.peek();
  if (c == ',') return read_comma();
  if (c == '/' && scanner_.peek_second() == '*') return read_comment(instruction);
  if (c == '(') return read_parenthesis(instruction);
  if (c == '[') return read_bracket(instruction);
  if (c == 't') return read_target(instruction);
  if (!separated_) return scanner_.expected("',' or the end of the instruction");
  if (c == '%') return add({read_name(), next_name_});
  if (is_digit(c) || c == '-' || c == 'i' || c == 'n') return add({read_immediate(scanner_), next_name_});
  scanner_.expected("an operand");
}

// target = $region3, target bundleno = 18 (0x12), region = 3: the bundle is where the region starts
void InstructionReader::read_target(Instruction& instruction) {
  if (instruction.target) return scanner_.expected("one target");
  if (scanner_.accept("target bundleno = ")) {
    scanner_.decimal("the target's bundle");
    scanner_.expect(" (0x");
    scanner_.run(is_word);
    scanner_.expect("), region = ");
  } else {
    scanner_.expect("target = $region");
  }
  instruction.target = scanner_.decimal("the target's region");
}

void InstructionReader::read_comma() {
  if (operands_.empty() && separated_) return scanner_.expected("an operand");
  if (comma_) return scanner_.expected("an operand");
  scanner_.accept(',');
  comma_ = separated_ = true;
}

void InstructionReader::read_comment(Instruction& instruction) {
  const std::string_view comment = scanner_.comment();
  if (names_operand(comment)) {
    next_name_ = comment.substr(0, comment.size() - 1);
  } else {
    instruction.comment = comment;
  }
}

void InstructionReader::add(Operand operand) {
  operands_.push_back(std::move(operand));
  next_name_ = {};
  separated_ = comma_ = false;
}

Register InstructionReader::read_name() {
  const Register name = read_register(scanner_);
  saw_physical_ |= name.physical >= 0;
  return name;
}

void InstructionReader::read_parenthesis(Instruction& instruction) {
  const char next = scanner_.peek_second();
  if (next == '%' || next == '!' || is_digit(next)) return read_guard(instruction);
  instruction.attributes.emplace_back(std::string_view(), scanner_.bracketed());
}

void InstructionReader::read_guard(Instruction& instruction) {
  if (instruction.guard) return scanner_.expected("one guard");
  scanner_.accept('(');
  Guard guard;
  guard.negated = scanner_.accept('!');
  if (scanner_.peek() == '%') {
    guard.condition = read_name();
  } else if (scanner_.peek() == '0' || scanner_.peek() == '1') {
    guard.condition = scanner_.peek() == '1';
    scanner_.accept(scanner_.peek());
  } else {
    return scanner_.expected("a predicate, 0 or 1");
  }
  instruction.guard = guard;
  if (scanner_.accept(", ")) {
    if (scanner_.peek() == '%') {
      add({read_name(), kOld});
    } else {
      add({read_immediate(scanner_), kOld});
    }
  }
  scanner_.expect(')', "')' after the guard");
  comma_ = separated_ = false;
}

void InstructionReader::read_bracket(Instruction& instruction) {
  if (scanner_.peek_second() == '#') {
    if (separated_) {
      const auto [name, offset] = read_allocation_address(scanner_);
      return add({name, next_name_, offset});
    }
    const std::string_view alias = scanner_.bracketed();
    instruction.attributes.emplace_back("alias", alias);
    return;
  }
  if (!at_memory_operand(scanner_)) return read_attributes(instruction);
  if (!separated_) return scanner_.expected("','");
  add({read_memory_operand(scanner_), next_name_});
  separated_ = true;
}

void InstructionReader::read_attributes(Instruction& instruction) {
  std::string_view text = scanner_.bracketed();
  size_t depth = 0;
  size_t start = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && at < text.size())) continue;
    const std::string_view attribute = trim(text.substr(start, at - start));
    const size_t colon = std::min(attribute.find(':'), attribute.size());
    const bool keyed = colon < attribute.size();
    instruction.attributes.emplace_back(keyed ? trim(attribute.substr(0, colon)) : std::string_view(),
                                        trim(keyed ? attribute.substr(colon + 1) : attribute));
    start = at + 1;
  }
}

}  // namespace sapper::llo
