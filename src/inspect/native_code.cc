#include "inspect/native_code.h"

#include <capstone/capstone.h>
#include <fmt/format.h>

#include "target/x86.h"

namespace sapper::inspect {
namespace {

// What the disassembler does not know (it is older than AVX512-FP16) is written as bytes.
std::string bytes_text(std::span<const std::byte> bytes) {
  std::string text = ".byte";
  for (const std::byte byte : bytes) text += fmt::format(" {:02x}", std::to_integer<int>(byte));
  return text;
}

class Disassembler {
 public:
  Disassembler() : is_open_(cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK) {
    if (is_open_) instruction_ = cs_malloc(handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler() {
    if (!is_open_) return;
    cs_free(instruction_, 1);
    cs_close(&handle_);
  }
  [[nodiscard]] std::string text(std::span<const std::byte> bytes, uint64_t address) const {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    size_t size = bytes.size();
    if (!is_open_ || !cs_disasm_iter(handle_, &data, &size, &address, instruction_)) return bytes_text(bytes);
    const std::string operands = instruction_->op_str;
    return std::string(instruction_->mnemonic) + (operands.empty() ? "" : " ") + operands;
  }

 private:
  csh handle_ = 0;
  bool is_open_;
  cs_insn* instruction_ = nullptr;
};

}  // namespace

NativeCode disassemble(std::span<const std::byte> code) {
  NativeCode result;
  const Disassembler disassembler;
  for (size_t at = 0; at < code.size();) {
    const auto instruction = target::decode_x86(code.subspan(at));
    const size_t length = instruction ? instruction->length : 1;
    result.line_at[static_cast<uint32_t>(at)] = result.lines.size();
    result.lines.push_back(
        {.text = disassembler.text(code.subspan(at, length), at), .address = fmt::format("{:#x}", at)});
    at += length;
  }
  return result;
}

}  // namespace sapper::inspect
