// Which elements the registers of a kernel hold whenever they are written, by groups of sightings: as the addresses say
// from which they were loaded and to which they were stored, and as what they hold says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "llo/origins.h"

namespace sapper::inspect {

// The register of a group is written for the `execution`-th time.
struct Occasion {
  uint32_t group = 0;
  uint32_t core = 0;
  uint64_t execution = 0;
};

// How rows of elements stand in a register: `per_word` of them share a sublane.
constexpr std::array<int, 3> kPerWord{1, 2, 4};
constexpr size_t kPackings = kPerWord.size();

struct PackedRows {
  size_t packing = 0;
  std::array<llo::RunId, llo::kRegisterBytes> rows{};  // kSublanes * kPerWord[packing] of them
};
// The rows that the bytes of a register are; nullopt: none is known.
[[nodiscard]] std::optional<PackedRows> packed_rows(const llo::Runs& bytes);

class Placements {
 public:
  static constexpr uint32_t kCores = 2;

  struct Vote {
    int64_t tile = -1;
    int weight = 0;
  };

  explicit Placements(uint32_t groups) : held_(size_t{groups} * kCores * kPackings), addressed_(held_.size()) {}

  // By what is held: the tile with the most votes.
  void vote(const Occasion& at, size_t packing, int64_t tile, int weight);
  // nullptr: nobody knows.
  [[nodiscard]] const Vote* vote_at(const Occasion& at, size_t packing) const;

  // By addresses. Rows that were placed otherwise before are not known any more.
  void place(const Occasion& at, const PackedRows& rows);
  // Empty: no row is known.
  [[nodiscard]] std::span<const llo::RunId> rows_at(const Occasion& at, size_t packing) const;

  // Takes what `other`, of another run, says of a group, if that one was written as often; `own`: the numbers here of
  // its runs.
  template <class Own>
  void adopt(const Placements& other, uint32_t group, uint32_t core, size_t packing, const Own& own);

 private:
  [[nodiscard]] static size_t index(uint32_t group, uint32_t core, size_t packing) {
    return (size_t{group} * kCores + core) * kPackings + packing;
  }
  [[nodiscard]] static size_t index(const Occasion& at, size_t packing) { return index(at.group, at.core, packing); }
  [[nodiscard]] static size_t row_count(size_t packing) {
    return llo::kSublanes * static_cast<size_t>(kPerWord[packing]);
  }

  std::vector<std::vector<Vote>> held_;             // an execution each
  std::vector<std::vector<llo::RunId>> addressed_;  // row_count an execution
  size_t rows_ = 0;                                 // in all of addressed_
};

template <class Own>
void Placements::adopt(const Placements& other, uint32_t group, uint32_t core, size_t packing, const Own& own) {
  const size_t i = index(group, core, packing);
  if (held_[i].size() <= other.held_[i].size()) {
    held_[i].resize(other.held_[i].size());
    for (size_t k = 0; k < held_[i].size(); ++k)
      if (other.vote_at({group, core, k}, packing) != nullptr) held_[i][k] = other.held_[i][k];
  }
  if (addressed_[i].size() > other.addressed_[i].size()) return;
  addressed_[i].resize(other.addressed_[i].size(), llo::kNoRun);
  for (size_t k = 0; k < addressed_[i].size(); ++k)
    if (other.addressed_[i][k] != llo::kNoRun) addressed_[i][k] = own(other.addressed_[i][k]);
}

}  // namespace sapper::inspect
