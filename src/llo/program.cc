// What a Program says about its instructions; the names of its parts.
#include "llo/program.h"

#include <fmt/format.h>

namespace sapper::llo {

std::optional<std::string_view> Instruction::attribute(std::string_view key) const {
  for (const auto& [name, value] : attributes) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string_view Program::hlo_of(const Instruction& instruction) const {
  return instruction.region < regions.size() ? regions[instruction.region].hlo : std::string_view();
}

std::optional<Space> data_space_named(std::string_view name) {
  for (const Space space : {Space::Hbm, Space::Vmem, Space::Smem, Space::Cmem})
    if (name == to_string(space)) return space;
  return std::nullopt;
}

const char* to_string(Space space) {
  switch (space) {
    case Space::Hbm: return "hbm";
    case Space::Vmem: return "vmem";
    case Space::Smem: return "smem";
    case Space::Sflag: return "sflag";
    case Space::Cmem: return "cmem";
    case Space::Host: return "host";
    case Space::SparseCore: return "sparse_core";
  }
  return "?";
}

std::string to_string(const Register& name) {
  constexpr const char* kLetters[] = {"s", "v", "vm", "p", ""};
  const char* letters = kLetters[static_cast<size_t>(name.bank)];
  if (name.physical < 0) return fmt::format("%{}{}", letters, name.number);
  return fmt::format("%{}{}_{}{}", letters, name.number, letters, name.physical);
}

}  // namespace sapper::llo
