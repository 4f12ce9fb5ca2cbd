// Reads registers, immediates, allocations and memory operands of LLO text.
#include "llo/text_operand.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace sapper::llo {

namespace {

// The letters of a bank.
Bank read_bank(Scanner& scanner) {
  switch (scanner.peek()) {
    case 's': scanner.accept('s'); return Bank::Scalar;
    case 'v': scanner.accept('v'); return scanner.accept('m') ? Bank::Mask : Bank::Vector;
    case 'p': scanner.accept('p'); return Bank::Predicate;
    default: return Bank::Token;
  }
}

// A number as the text has it, to the f32 nearest to it.
float read_float(Scanner& scanner) {
  const char* start = scanner.cursor();
  const bool negative = scanner.accept('-');
  if (scanner.accept("nan")) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return negative ? -nan : nan;
  }
  float value = std::numeric_limits<float>::infinity();
  if (!scanner.accept("inf")) {
    const std::string_view rest = scanner.rest();
    const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error == std::errc::result_out_of_range) scanner.fail_at(start, "the number is beyond those of f32");
    if (error == std::errc::invalid_argument || rest.starts_with('-')) scanner.expected("a number");
    if (!scanner.failed()) scanner.accept(rest.substr(0, static_cast<size_t>(after - rest.data())));
  }
  return negative ? -value : value;
}

uint32_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return bits >> 16;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// %s1, #allocation3, 12, $0x1f
ScalarOperand read_scalar(Scanner& scanner) {
  if (scanner.peek() == '%') return read_register(scanner);
  if (scanner.peek() == '#') return read_allocation_name(scanner);
  scanner.accept('$');
  return read_immediate(scanner);
}

bool ends_number(char c) { return !is_word(c) && c != '|'; }

// Options up to the closing bracket, which is eaten.
void read_memory_options(Scanner& scanner, MemoryOperand& operand) {
  while (!scanner.failed()) {
    scanner.skip_blanks();
    if (scanner.accept(']')) return;
    const char* start = scanner.cursor();
    const std::string_view key = scanner.run(is_word);
    if (key.empty()) return scanner.expected("an option of the memory operand or ']'");
    scanner.expect(':', "':' after the option's name");
    std::optional<ScalarOperand>* known = key == "ss"        ? &operand.sublane_stride
                                          : key == "sps"     ? &operand.sublanes_per_stride
                                          : key == "sm"      ? &operand.sublane_mask
                                          : key == "pattern" ? &operand.pattern
                                                             : nullptr;
    if (known == nullptr) {
      operand.options.emplace_back(key, scanner.run([](char c) { return is_word(c) || c == '$' || c == '%'; }));
    } else if (known->has_value()) {
      scanner.fail_at(start, fmt::format("'{}' stands twice", key));
    } else {
      *known = read_scalar(scanner);
    }
  }
}

}  // namespace

Register read_register(Scanner& scanner) {
  scanner.expect('%', "a register");
  Register name;
  name.bank = read_bank(scanner);
  name.number = scanner.decimal("the register's number");
  if (scanner.peek() != '_') return name;
  scanner.accept('_');
  const char* start = scanner.cursor();
  const Bank bank = read_bank(scanner);
  const uint32_t physical = scanner.decimal("the physical register's number");
  if (bank != name.bank) scanner.fail_at(start, "the physical register is of another bank than the value");
  if (physical > static_cast<uint32_t>(INT32_MAX)) scanner.fail_at(start, "no machine has so many registers");
  name.physical = static_cast<int32_t>(physical);
  return name;
}

Immediate read_immediate(Scanner& scanner) {
  const char* start = scanner.cursor();
  const bool negative = scanner.peek() == '-';
  const std::string_view text = scanner.rest();
  size_t digits = negative ? 1 : 0;
  const bool hexadecimal = text.substr(digits).starts_with("0x");
  while (!hexadecimal && digits < text.size() && is_digit(text[digits])) ++digits;
  const bool whole =
      hexadecimal || (digits > (negative ? 1 : 0) && (digits == text.size() || ends_number(text[digits])));
  if (!whole) {
    const float first = read_float(scanner);
    if (!scanner.accept('|')) return {std::bit_cast<uint32_t>(first), true};
    return {bf16_bits(first) << 16 | bf16_bits(read_float(scanner)), true};
  }
  scanner.accept('-');
  const uint64_t magnitude = scanner.integer("a number");
  if (magnitude > (negative ? uint64_t{1} << 31 : UINT32_MAX))
    scanner.fail_at(start, "the number has more than 32 bits");
  const auto bits = static_cast<uint32_t>(magnitude);
  return {negative ? 0 - bits : bits, false};
}

AllocationName read_allocation_name(Scanner& scanner) {
  scanner.expect("#allocation");
  AllocationName name;
  name.number = scanner.decimal("the allocation's number");
  name.spill = scanner.accept("_spill");
  return name;
}

std::pair<AllocationName, uint32_t> read_allocation_address(Scanner& scanner) {
  scanner.expect('[', "'['");
  const AllocationName name = read_allocation_name(scanner);
  uint32_t offset = 0;
  const bool negative = scanner.accept(" - $");
  if (negative || scanner.accept(" + $")) offset = read_immediate(scanner).bits;
  scanner.expect(']', "']' after the allocation");
  return {name, negative ? 0 - offset : offset};
}

std::optional<Space> space_of(std::string_view name) {
  if (name.starts_with("sparse_core_")) return Space::SparseCore;
  constexpr std::array<Space, 6> kSpaces = {Space::Hbm,   Space::Vmem, Space::Smem,
                                            Space::Sflag, Space::Cmem, Space::Host};
  for (const Space space : kSpaces) {
    if (name == to_string(space)) return space;
  }
  return std::nullopt;
}

bool at_memory_operand(const Scanner& scanner) {
  const std::string_view text = scanner.rest();
  size_t end = 1;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(end).starts_with(":[");
}

MemoryOperand read_memory_operand(Scanner& scanner) {
  MemoryOperand operand;
  scanner.expect('[', "'['");
  const char* start = scanner.cursor();
  const std::string_view name = scanner.run(is_word);
  const auto space = space_of(name);
  if (!space) scanner.fail_at(start, fmt::format("'{}' is no memory space", name));
  operand.space = space.value_or(Space::Vmem);
  scanner.expect(":[");
  operand.base = read_scalar(scanner);
  scanner.skip_blanks();
  if (scanner.peek() == '+' || scanner.peek() == '-') {
    operand.subtract_offset = scanner.accept('-');
    scanner.accept('+');
    scanner.skip_blanks();
    operand.offset = read_scalar(scanner);
  }
  scanner.expect(']', "']' after the address");
  read_memory_options(scanner, operand);
  return operand;
}

}  // namespace sapper::llo
