#include "target/jit_code.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

namespace sapper::target {
namespace {

constexpr size_t constant_bytes = 64;  // of the largest constant that one instruction loads

// The tables of an object, every access within its bytes.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {}

  // Record `index` of the table of T at `offset`.
  template <class T>
  [[nodiscard]] std::optional<T> record(uint64_t offset, uint64_t index = 0) const {
    T value;
    if (index > bytes_.size() / sizeof(T) || offset > bytes_.size() - std::min(bytes_.size(), (index + 1) * sizeof(T)))
      return std::nullopt;
    std::memcpy(&value, bytes_.data() + offset + index * sizeof(T), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view section(const Elf64_Shdr& header) const {
    if (header.sh_type == SHT_NOBITS || header.sh_offset > bytes_.size()) return {};
    return bytes_.substr(header.sh_offset, header.sh_size);
  }
  [[nodiscard]] std::vector<Elf64_Shdr> sections() const {
    std::vector<Elf64_Shdr> result;
    const auto header = record<Elf64_Ehdr>(0);
    for (uint64_t i = 0; header && i < header->e_shnum; ++i)
      if (const auto section = record<Elf64_Shdr>(header->e_shoff, i)) result.push_back(*section);
    return result;
  }
  template <class T>
  [[nodiscard]] std::vector<T> table(const Elf64_Shdr& header) const {
    std::vector<T> result;
    for (uint64_t i = 0; i < section(header).size() / sizeof(T); ++i)
      if (const auto entry = record<T>(header.sh_offset, i)) result.push_back(*entry);
    return result;
  }

 private:
  std::string_view bytes_;
};

bool is_object(const Elf& elf) {
  const auto header = elf.record<Elf64_Ehdr>(0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_machine == EM_X86_64 && header->e_type == ET_REL;
}

// A mapped part of the address space.
struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_readable = false;
  bool is_jit_code = false;  // executable, of no file
};

std::vector<Mapping> mappings() {
  std::vector<Mapping> result;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char permissions[5] = {};
    unsigned long inode = 0;
    char name[8] = {};
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu %7s", &mapping.begin, &mapping.end,
                                   permissions, &inode, name);
    if (fields < 4) continue;
    mapping.is_readable = permissions[0] == 'r';
    mapping.is_jit_code = mapping.is_readable && permissions[2] == 'x' && inode == 0 && fields == 4;
    result.push_back(mapping);
  }
  return result;
}

bool points_to_same(const Relocation& relocation, const std::byte* code, const std::vector<Mapping>& maps) {
  if (relocation.target.empty()) return true;
  int64_t value = 0;
  const std::byte* place = code + relocation.offset;
  if (relocation.bytes == 8) {
    std::memcpy(&value, place, 8);
  } else {
    int32_t narrow = 0;
    std::memcpy(&narrow, place, 4);
    value = narrow;
  }
  // The addend of a relative one makes up for where the instruction ends; the data is behind it.
  const auto address = static_cast<uintptr_t>(
      relocation.is_relative ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(place)) + value : value);
  const bool mapped = std::ranges::any_of(maps, [&](const Mapping& m) {
    return m.is_readable && m.begin <= address && address + relocation.target.size() <= m.end;
  });
  return mapped &&
         std::memcmp(std::bit_cast<const void*>(address), relocation.target.data(), relocation.target.size()) == 0;
}

// What the object says of the address that `entry` stands for: the data there, of a section that is not code.
std::string relocation_target(const Elf& elf, const std::vector<Elf64_Shdr>& sections,
                              const std::vector<Elf64_Sym>& symbols, const Elf64_Rela& entry) {
  const uint64_t target = ELF64_R_SYM(entry.r_info);
  if (target >= symbols.size() || symbols[target].st_shndx >= sections.size()) return {};
  const Elf64_Shdr& section = sections[symbols[target].st_shndx];
  const std::string_view data = elf.section(section);
  const uint64_t at = symbols[target].st_value + static_cast<uint64_t>(entry.r_addend);
  if ((section.sh_flags & SHF_EXECINSTR) != 0 || at >= data.size()) return {};
  return std::string(data.substr(at, constant_bytes));
}

std::string text_at(std::string_view names, size_t offset) {
  const std::string_view name = names.substr(offset);
  return std::string(name.substr(0, name.find('\0')));
}

// Those inside of the function that `symbol` is.
std::vector<Relocation> relocations_of(const Elf& elf, const std::vector<Elf64_Shdr>& sections,
                                       const std::vector<Elf64_Sym>& symbols, std::string_view names,
                                       const Elf64_Sym& symbol) {
  std::vector<Relocation> result;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_RELA || section.sh_info != symbol.st_shndx) continue;
    for (const auto& entry : elf.table<Elf64_Rela>(section)) {
      const auto type = ELF64_R_TYPE(entry.r_info);
      Relocation relocation{.offset = entry.r_offset - symbol.st_value, .bytes = type == R_X86_64_64 ? size_t{8} : 4};
      relocation.is_relative = type == R_X86_64_PC32;
      if (relocation.offset > symbol.st_size || relocation.bytes > symbol.st_size - relocation.offset) continue;
      if (const uint64_t to = ELF64_R_SYM(entry.r_info); to < symbols.size() && symbols[to].st_name < names.size())
        relocation.symbol = text_at(names, symbols[to].st_name);
      if (type == R_X86_64_64 || type == R_X86_64_PC32)
        relocation.target = relocation_target(elf, sections, symbols, entry);
      result.push_back(std::move(relocation));
    }
  }
  std::ranges::sort(result, {}, &Relocation::offset);
  return result;
}

}  // namespace

Result<std::vector<JitFunction>> read_object(std::string_view object) {
  const Elf elf(object);
  if (!is_object(elf)) return fail(ErrorKind::Unsupported, "the compiler's object file is none for x86-64");
  const std::vector<Elf64_Shdr> sections = elf.sections();
  const auto table = std::ranges::find(sections, uint32_t{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return std::vector<JitFunction>{};
  const std::string_view names = elf.section(sections[table->sh_link]);
  const auto symbols = elf.table<Elf64_Sym>(*table);
  std::vector<JitFunction> functions;
  for (const Elf64_Sym& symbol : symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx >= sections.size() ||
        symbol.st_name >= names.size())
      continue;
    const std::string_view section = elf.section(sections[symbol.st_shndx]);
    if (symbol.st_value > section.size() || symbol.st_size > section.size() - symbol.st_value) continue;
    functions.push_back({.name = text_at(names, symbol.st_name),
                         .code = std::string(section.substr(symbol.st_value, symbol.st_size)),
                         .relocations = relocations_of(elf, sections, symbols, names, symbol)});
  }
  return functions;
}

std::vector<std::byte*> find_in_memory(const JitFunction& function) {
  std::vector<std::byte*> found;
  if (function.code.empty()) return found;
  // What the loader does not fill in: from one relocation to the next.
  struct Run {
    size_t begin, end;
  };
  std::vector<Run> runs;
  size_t begin = 0;
  for (const Relocation& relocation : function.relocations) {
    if (relocation.offset > begin) runs.push_back({begin, relocation.offset});
    begin = std::max(begin, relocation.offset + relocation.bytes);
  }
  if (begin < function.code.size()) runs.push_back({begin, function.code.size()});
  if (runs.empty()) return found;
  const Run& longest = *std::ranges::max_element(runs, {}, [](const Run& run) { return run.end - run.begin; });

  const std::vector<Mapping> maps = mappings();
  for (const Mapping& mapping : maps) {
    if (!mapping.is_jit_code) continue;
    auto* const memory = std::bit_cast<std::byte*>(mapping.begin);
    const size_t size = mapping.end - mapping.begin;
    const char* const needle = function.code.data() + longest.begin;
    for (size_t from = 0; from < size;) {
      auto* const hit =
          static_cast<std::byte*>(memmem(memory + from, size - from, needle, longest.end - longest.begin));
      if (hit == nullptr) break;
      const auto at = static_cast<size_t>(hit - memory);
      from = at + 1;
      if (at < longest.begin || at - longest.begin + function.code.size() > size) continue;
      std::byte* const start = hit - longest.begin;
      const bool same = std::ranges::all_of(runs, [&](const Run& run) {
        return std::memcmp(start + run.begin, function.code.data() + run.begin, run.end - run.begin) == 0;
      });
      if (same && std::ranges::all_of(function.relocations,
                                      [&](const Relocation& r) { return points_to_same(r, start, maps); }))
        found.push_back(start);
    }
  }
  return found;
}

uint64_t address_in_code(const JitFunction& function, const std::byte* copy, std::string_view symbol) {
  for (const Relocation& relocation : function.relocations) {
    if (relocation.symbol != symbol || relocation.bytes != 8) continue;
    uint64_t address = 0;
    std::memcpy(&address, copy + relocation.offset, sizeof address);
    return address;
  }
  return 0;
}

}  // namespace sapper::target
