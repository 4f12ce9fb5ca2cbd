// From the names in one scope to what they name, while text is read. A scope may have a million names, most of them
// looked up soon after they are added: the table is 8 bytes a slot, and the names lie in the order in which they were
// added.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace sapper::hlo {

class NameTable {
 public:
  // Room for this many names, so that the table need not grow.
  void reserve(size_t names) {
    entries_.reserve(names);
    if (slots_.size() < 2 * names) grow(2 * names);
  }

  [[nodiscard]] std::optional<uint32_t> find(std::string_view name) const {
    if (slots_.empty()) return std::nullopt;
    const uint32_t entry = slots_[place_of(name, hash_of(name))].entry;
    return entry == 0 ? std::nullopt : std::optional(entries_[entry - 1].value);
  }

  // False when the name is there already. A view of `name` is kept.
  bool add(std::string_view name, uint32_t value) {
    if (slots_.size() < 2 * (entries_.size() + 1)) grow(4 * (entries_.size() + 1));
    const uint32_t hash = hash_of(name);
    Slot& slot = slots_[place_of(name, hash)];
    if (slot.entry != 0) return false;
    entries_.push_back({name, value});
    slot = {hash, static_cast<uint32_t>(entries_.size())};
    return true;
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.name);
  }

 private:
  struct Entry {
    std::string_view name;
    uint32_t value;
  };
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // one more than its place in entries_; 0: free
  };

  static uint32_t hash_of(std::string_view name) { return static_cast<uint32_t>(std::hash<std::string_view>()(name)); }

  // Where the name is, or the free slot where it would be.
  [[nodiscard]] size_t place_of(std::string_view name, uint32_t hash) const {
    size_t place = hash & (slots_.size() - 1);
    while (slots_[place].entry != 0 && (slots_[place].hash != hash || entries_[slots_[place].entry - 1].name != name))
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  void grow(size_t at_least) {
    size_t size = 16;
    while (size < at_least) size *= 2;
    std::vector<Slot> old(size);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.entry != 0) slots_[place_of(entries_[slot.entry - 1].name, slot.hash)] = slot;
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two of them, at least half of them free
};

}  // namespace sapper::hlo
