#include "hlo/opcode.h"

#include <array>
#include <unordered_map>

namespace sapper::hlo {
namespace {

constexpr std::array names = {
#define SAPPER_OPCODE(name, text) std::string_view(text),
    SAPPER_HLO_OPCODES(SAPPER_OPCODE)
#undef SAPPER_OPCODE
};

}  // namespace

std::string_view to_string(Opcode opcode) { return names[static_cast<size_t>(opcode)]; }

std::optional<Opcode> parse_opcode(std::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>;
    for (size_t i = 0; i < names.size(); ++i) map->emplace(names[i], static_cast<Opcode>(i));
    return map;
  }();
  const auto found = by_name->find(name);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

}  // namespace sapper::hlo
