// What a row of the table says its instructions take: "v = v v M?".
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace sapper::llo {

struct OperandSignature {
  char result = '-';  // - none, else a bank's letter
  struct Item {
    char bank = 's';        // s v m p t M, x anything
    bool optional = false;  // may be missing, and all after it
    bool repeated = false;  // any number of them
  };
  std::vector<Item> operands;

  // The item that operand `i` is of; null: too many.
  [[nodiscard]] const Item* operand(size_t i) const;
  [[nodiscard]] bool takes(size_t count) const;
};

[[nodiscard]] OperandSignature parse_signature(std::string_view text);

}  // namespace sapper::llo
