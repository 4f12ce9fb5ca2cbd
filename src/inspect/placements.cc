#include "inspect/placements.h"

#include <algorithm>

namespace sapper::inspect {
namespace {

using llo::kNoRun;
using llo::kUnknownRun;
using llo::RunId;

// Votes below this are no knowledge.
constexpr int kLeastWeight = 16;
constexpr size_t kMostRows = size_t{1} << 25;

// The run that all of `bytes` are, constants aside; nullopt: they are of several.
std::optional<RunId> common_run(std::span<const RunId> bytes) {
  RunId all = kNoRun;
  for (const RunId run : bytes) {
    if (run == kNoRun || run == all) continue;
    if (all != kNoRun && all != kUnknownRun && run != kUnknownRun) return std::nullopt;
    all = all == kNoRun ? run : kUnknownRun;
  }
  return all;
}

}  // namespace

std::optional<PackedRows> packed_rows(const llo::Runs& bytes) {
  for (size_t packing = 0; packing < kPackings; ++packing) {
    PackedRows found{.packing = packing};
    const auto width = static_cast<size_t>(llo::kSublaneBytes / kPerWord[packing]);
    bool fits = true;
    bool known = false;
    for (size_t row = 0; row * width < bytes.size() && fits; ++row) {
      const auto run = common_run(std::span(bytes).subspan(row * width, width));
      fits = run.has_value();
      found.rows[row] = run.value_or(kNoRun);
      known = known || (found.rows[row] != kNoRun && found.rows[row] != kUnknownRun);
    }
    if (fits) return known ? std::optional(found) : std::nullopt;
  }
  return std::nullopt;
}

void Placements::vote(const Occasion& at, size_t packing, int64_t tile, int weight) {
  std::vector<Vote>& votes = held_[index(at, packing)];
  if (votes.size() <= at.execution) votes.resize(at.execution + 1);
  Vote& vote = votes[at.execution];
  if (vote.tile == tile) {
    vote.weight = std::min(vote.weight + weight, 1 << 20);
  } else if (weight > vote.weight) {
    vote = {tile, weight - vote.weight};
  } else {
    vote.weight -= weight;
  }
}

const Placements::Vote* Placements::vote_at(const Occasion& at, size_t packing) const {
  const std::vector<Vote>& votes = held_[index(at, packing)];
  return at.execution < votes.size() && votes[at.execution].weight >= kLeastWeight ? &votes[at.execution] : nullptr;
}

void Placements::place(const Occasion& at, const PackedRows& rows) {
  const size_t count = row_count(rows.packing);
  std::vector<RunId>& known = addressed_[index(at, rows.packing)];
  if (known.size() < (at.execution + 1) * count) {
    const size_t more = (at.execution + 1) * count - known.size();
    if (rows_ + more > kMostRows) return;
    rows_ += more;
    known.resize(known.size() + more, kNoRun);
  }
  for (size_t row = 0; row < count; ++row) {
    RunId& run = known[at.execution * count + row];
    if (rows.rows[row] == kNoRun || rows.rows[row] == kUnknownRun) continue;
    run = run == kNoRun || run == rows.rows[row] ? rows.rows[row] : kUnknownRun;
  }
}

std::span<const RunId> Placements::rows_at(const Occasion& at, size_t packing) const {
  const size_t count = row_count(packing);
  const std::vector<RunId>& known = addressed_[index(at, packing)];
  if (known.size() < (at.execution + 1) * count) return {};
  const std::span<const RunId> rows = std::span(known).subspan(at.execution * count, count);
  const bool any = std::ranges::any_of(rows, [](RunId run) { return run != kNoRun && run != kUnknownRun; });
  return any ? rows : std::span<const RunId>();
}

}  // namespace sapper::inspect
