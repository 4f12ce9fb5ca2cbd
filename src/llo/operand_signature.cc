#include "llo/operand_signature.h"

#include "base/assert.h"

namespace sapper::llo {

const OperandSignature::Item* OperandSignature::operand(size_t i) const {
  if (i < operands.size()) return &operands[i];
  return !operands.empty() && operands.back().repeated ? &operands.back() : nullptr;
}

bool OperandSignature::takes(size_t count) const {
  if (count > operands.size()) return !operands.empty() && operands.back().repeated;
  for (size_t i = count; i < operands.size(); ++i)
    if (!operands[i].optional && !operands[i].repeated) return false;
  return true;
}

OperandSignature parse_signature(std::string_view text) {
  OperandSignature signature;
  const size_t equals = text.find('=');
  SAPPER_ASSERT(equals != std::string_view::npos && !text.empty());
  signature.result = text[0];
  for (const char c : text.substr(equals + 1)) {
    if (c == ' ') continue;
    if (c == '?') {
      SAPPER_ASSERT(!signature.operands.empty());
      signature.operands.back().optional = true;
    } else if (c == '*') {
      SAPPER_ASSERT(!signature.operands.empty());
      signature.operands.back().repeated = true;
    } else {
      signature.operands.push_back({c, false, false});
    }
  }
  return signature;
}

}  // namespace sapper::llo
