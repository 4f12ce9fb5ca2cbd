#include "llo/frames.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sapper::llo {

namespace {

bool is_tuple(const Instruction& instruction) { return instruction.opcode == "xla_tuple"; }

std::optional<FrameValue> value_of(const Operand& operand) {
  if (const auto* immediate = std::get_if<Immediate>(&operand.value)) return FrameValue{std::nullopt, immediate->bits};
  const auto* name = std::get_if<Register>(&operand.value);
  if (name == nullptr || name->bank == Bank::Token) return std::nullopt;
  return FrameValue{name->number, 0};
}

// Whether `instruction` is a tuple of nothing but the tuple before it.
bool is_tuple_of(const Instruction& instruction, const Instruction& before) {
  if (!is_tuple(instruction) || instruction.operands.size() != 1) return false;
  const auto* name = std::get_if<Register>(&instruction.operands[0].value);
  return name != nullptr && name->bank == Bank::Token && name->number == before.result.number;
}

// The mask that `instruction` makes numbers of: ones where it is set, zeros elsewhere.
std::optional<uint32_t> mask_of(const Instruction& instruction) {
  if (!instruction.opcode.starts_with("vsel") || instruction.operands.size() != 3) return std::nullopt;
  const auto* mask = std::get_if<Register>(&instruction.operands[0].value);
  const auto* ones = std::get_if<Immediate>(&instruction.operands[1].value);
  const auto* zeros = std::get_if<Immediate>(&instruction.operands[2].value);
  if (mask == nullptr || mask->bank != Bank::Mask || ones == nullptr || zeros == nullptr) return std::nullopt;
  if (ones->bits != 1 || zeros->bits != 0) return std::nullopt;
  return mask->number;
}

FrameOperation operation_of(const Program& program, const Frame& frame) {
  if (frame.end - frame.first != 1) return FrameOperation::Unknown;
  constexpr std::pair<std::string_view, FrameOperation> kinds[] = {
      {"vadd.", FrameOperation::Add},     {"vsub.", FrameOperation::Subtract}, {"vmul.", FrameOperation::Multiply},
      {"vmax.", FrameOperation::Maximum}, {"vmin.", FrameOperation::Minimum},  {"vsel", FrameOperation::Select},
  };
  for (const auto& [prefix, operation] : kinds)
    if (program.instructions[frame.first].opcode.starts_with(prefix)) return operation;
  return FrameOperation::Unknown;
}

}  // namespace

std::vector<Frame> frames_of(const Program& program) {
  std::vector<Frame> frames;
  std::vector<size_t> open;                           // positions in `frames`
  std::unordered_map<uint32_t, uint32_t> as_numbers;  // value -> the mask that it is
  const std::vector<Instruction>& all = program.instructions;
  for (InstructionIndex i = 0; i < all.size(); ++i) {
    if (const auto mask = mask_of(all[i])) as_numbers.emplace(all[i].result.number, *mask);
    if (!is_tuple(all[i])) continue;
    if (i + 1 < all.size() && is_tuple_of(all[i + 1], all[i])) {
      Frame frame{.first = i + 2};
      for (const Operand& operand : all[i].operands)
        if (const auto value = value_of(operand)) frame.operands.push_back(*value);
      open.push_back(frames.size());
      frames.push_back(std::move(frame));
      ++i;
    } else if (!open.empty() && all[i].operands.size() == 1) {
      Frame& frame = frames[open.back()];
      open.pop_back();
      frame.end = i;
      frame.operation = operation_of(program, frame);
      if (const auto value = value_of(all[i].operands[0])) frame.result = *value;
      if (frame.result.number)
        if (const auto mask = as_numbers.find(*frame.result.number); mask != as_numbers.end())
          frame.mask = mask->second;
    }
  }
  std::erase_if(frames, [](const Frame& frame) { return frame.end == 0; });
  return frames;
}

std::string text_of(const Program& program, const Instruction& instruction) {
  const std::string_view text = *program.text;
  const auto opcode = static_cast<size_t>(instruction.opcode.data() - text.data());
  const size_t mark = text.rfind('%', opcode);
  const size_t begin = mark == std::string_view::npos ? opcode : mark;
  size_t end = opcode;
  while (end < text.size() && text[end] != '\n' && text[end] != '}' && !text.substr(end).starts_with(" ;;")) {
    if (text.substr(end, 2) != "/*") {
      ++end;
      continue;
    }
    const size_t close = text.find("*/", end);
    if (close == std::string_view::npos || text.substr(end, close - end).find('\n') != std::string_view::npos) break;
    end = close + 2;
  }
  while (end > begin && text[end - 1] == ' ') --end;
  return std::string(text.substr(begin, end - begin));
}

}  // namespace sapper::llo
