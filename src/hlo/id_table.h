// From the ids of a serialized module to positions: dense where the ids are (they mostly count up), else sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sapper::hlo {

class IdTable {
 public:
  // Position i has id id_of(i). Returns a position whose id an earlier one has too, if any.
  template <class IdOf>
  std::optional<uint32_t> build(uint32_t count, IdOf&& id_of) {
    if (count == 0) return std::nullopt;
    lowest_ = id_of(0);
    int64_t highest = lowest_;
    for (uint32_t i = 1; i < count; ++i) {
      lowest_ = std::min<int64_t>(lowest_, id_of(i));
      highest = std::max<int64_t>(highest, id_of(i));
    }
    const uint64_t range = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest_);
    return range < uint64_t{4} * count + 64 ? build_dense(count, static_cast<size_t>(range) + 1, id_of)
                                            : build_sorted(count, id_of);
  }

  [[nodiscard]] std::optional<uint32_t> find(int64_t id) const {
    if (!dense_.empty()) {
      const uint64_t slot = static_cast<uint64_t>(id) - static_cast<uint64_t>(lowest_);
      if (slot >= dense_.size() || dense_[slot] == none) return std::nullopt;
      return dense_[slot];
    }
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair{id, uint32_t{0}});
    if (found == sorted_.end() || found->first != id) return std::nullopt;
    return found->second;
  }

  // Newer XLA packs the id of the computation into the upper half of an instruction's id, and accepts references by the
  // lower half alone.
  [[nodiscard]] std::optional<uint32_t> find_packed_or_local(int64_t id) const {
    if (const auto found = find(id)) return found;
    constexpr uint64_t lower_half = 0xffffffff;
    const uint64_t packed = (static_cast<uint64_t>(lowest_) & ~lower_half) | (static_cast<uint64_t>(id) & lower_half);
    return find(static_cast<int64_t>(packed));
  }

 private:
  static constexpr uint32_t none = UINT32_MAX;

  template <class IdOf>
  std::optional<uint32_t> build_dense(uint32_t count, size_t range, IdOf&& id_of) {
    dense_.assign(range, none);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t& slot = dense_[static_cast<uint64_t>(id_of(i)) - static_cast<uint64_t>(lowest_)];
      if (slot != none) return i;
      slot = i;
    }
    return std::nullopt;
  }

  template <class IdOf>
  std::optional<uint32_t> build_sorted(uint32_t count, IdOf&& id_of) {
    sorted_.reserve(count);
    for (uint32_t i = 0; i < count; ++i) sorted_.emplace_back(id_of(i), i);
    std::sort(sorted_.begin(), sorted_.end());
    for (uint32_t i = 1; i < count; ++i)
      if (sorted_[i].first == sorted_[i - 1].first) return sorted_[i].second;
    return std::nullopt;
  }

  int64_t lowest_ = 0;
  std::vector<uint32_t> dense_;
  std::vector<std::pair<int64_t, uint32_t>> sorted_;
};

}  // namespace sapper::hlo
