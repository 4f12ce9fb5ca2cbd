#include "llo/isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "base/assert.h"

namespace sapper::llo {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// One part of a row's name.
struct Part {
  std::vector<std::string_view> alternatives;
  bool optional = false;
  bool numbered = false;    // the only alternative is followed by digits
  std::string_view suffix;  // and these by this

  [[nodiscard]] bool has_choice() const { return optional || numbered || alternatives.size() > 1; }
};

Part part_of(std::string_view text) {
  Part part;
  if (text.starts_with('(') && text.ends_with(')')) {
    part.optional = true;
    text = text.substr(1, text.size() - 2);
  }
  if (const size_t digits = text.find('#'); digits != std::string_view::npos) {
    part.numbered = true;
    part.suffix = text.substr(digits + 1);
    text = text.substr(0, digits);
  }
  part.alternatives = split(text, '|');
  return part;
}

struct Pattern {
  const OpcodeInfo* info;
  std::vector<Part> parts;
};

// What `text` is as `part`: the alternative's position or the number; nullopt: something else.
std::optional<uint32_t> match_part(const Part& part, std::string_view text) {
  if (part.numbered) {
    if (!text.starts_with(part.alternatives[0]) || !text.ends_with(part.suffix)) return std::nullopt;
    text.remove_prefix(part.alternatives[0].size());
    text.remove_suffix(std::min(text.size(), part.suffix.size()));
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }
  const auto found = std::find(part.alternatives.begin(), part.alternatives.end(), text);
  if (found == part.alternatives.end()) return std::nullopt;
  return static_cast<uint32_t>(found - part.alternatives.begin());
}

bool match_parts(std::span<const Part> parts, std::span<const std::string_view> texts, std::vector<uint32_t>& choice) {
  if (parts.empty()) return texts.empty();
  const Part& part = parts.front();
  const size_t before = choice.size();
  if (!texts.empty()) {
    if (const auto chosen = match_part(part, texts.front())) {
      if (part.has_choice()) {
        const bool only_presence = part.optional && !part.numbered && part.alternatives.size() == 1;
        choice.push_back(only_presence ? 1 : *chosen + (part.optional ? 1 : 0));
      }
      if (match_parts(parts.subspan(1), texts.subspan(1), choice)) return true;
      choice.resize(before);
    }
  }
  if (part.optional) {
    choice.push_back(0);
    if (match_parts(parts.subspan(1), texts, choice)) return true;
    choice.resize(before);
  }
  return false;
}

using Table = std::unordered_map<std::string_view, std::vector<Pattern>>;  // by the first part

constexpr auto kSubjects = {scalar_opcodes,         control_opcodes, memory_opcodes,     dma_opcodes,
                            sync_opcodes,           vector_opcodes,  compare_opcodes,    mask_opcodes,
                            convert_opcodes,        pack_opcodes,    cross_lane_opcodes, transpose_opcodes,
                            transcendental_opcodes, matrix_opcodes,  pseudo_opcodes};

const Table& table() {
  static const Table table = [] {
    Table rows;
    for (const auto subject : kSubjects)
      for (const OpcodeInfo& info : subject()) {
        Pattern pattern{&info, {}};
        for (const std::string_view part : split(info.name, '.')) pattern.parts.push_back(part_of(part));
        SAPPER_ASSERT(!pattern.parts[0].optional && !pattern.parts[0].numbered);
        for (const std::string_view first : pattern.parts[0].alternatives) rows[first].push_back(pattern);
      }
    return rows;
  }();
  return table;
}

}  // namespace

OpcodeMatch find_opcode(std::string_view opcode) {
  const std::vector<std::string_view> texts = split(opcode, '.');
  const auto rows = table().find(texts[0]);
  if (rows == table().end()) return {};
  for (const Pattern& pattern : rows->second) {
    OpcodeMatch match{pattern.info, {}};
    if (match_parts(pattern.parts, texts, match.choice)) return match;
  }
  return {};
}

std::vector<const OpcodeInfo*> all_opcodes() {
  std::vector<const OpcodeInfo*> all;
  for (const auto subject : kSubjects)
    for (const OpcodeInfo& info : subject()) all.push_back(&info);
  std::sort(all.begin(), all.end(), [](const OpcodeInfo* a, const OpcodeInfo* b) { return a->name < b->name; });
  return all;
}

std::string describe(const OpcodeInfo& info) {
  return fmt::format("{}\n    {}    ({})\n    {}\n", info.name, info.operands, to_string(info.unit),
                     info.documentation);
}

const char* to_string(Unit unit) {
  switch (unit) {
    case Unit::Scalar: return "scalar";
    case Unit::Vector: return "vector";
    case Unit::Load: return "load";
    case Unit::Store: return "store";
    case Unit::CrossLane: return "cross-lane";
    case Unit::Transcendental: return "transcendental";
    case Unit::Matrix: return "matrix";
    case Unit::Dma: return "DMA";
    case Unit::Sync: return "sync";
    case Unit::Control: return "control";
    case Unit::Pseudo: return "pseudo";
  }
  SAPPER_ASSERT(false);
}

}  // namespace sapper::llo
