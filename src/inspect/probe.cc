#include "inspect/probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using llo::Vreg;

constexpr uint32_t kUntracked = UINT32_MAX;
// Votes below this are no knowledge.
constexpr int kLeastWeight = 16;
constexpr int64_t kMostTilesSearched = int64_t{1} << 16;
constexpr int64_t kMostTilesCompared = int64_t{1} << 10;  // to see that a register is only one of them

constexpr std::array<int, Placements::kPackings> kPerWord{1, 2, 4};

// How elements of `type` may stand in words.
bool may_pack(ElementType type, int per_word) {
  if (per_word == 1) return true;
  if (type == ElementType::Pred) return true;
  if (type == ElementType::BF16) return per_word == 2;
  return hlo::is_integer(type) && hlo::bit_width(type) * per_word == 32;
}

// What counts as the same element: with no rounding of its type, a formula's error. Loosely: products in bfloat16 too,
// whose sums may cancel.
struct Likeness {
  ElementType type;
  float relative = 0;
  float absolute = 0;

  static Likeness close(ElementType type) {
    return {type, type == ElementType::F32 ? 0x1p-10F : type == ElementType::F16 ? 0x1p-9F : 0x1p-6F};
  }
  static Likeness loose(ElementType type, float scale) { return {type, 0x1p-6F, 0x1p-6F * scale}; }

  [[nodiscard]] bool operator()(uint32_t a, uint32_t b) const {
    if (!hlo::is_float(type)) return a == b;
    const float x = std::bit_cast<float>(a);
    const float y = std::bit_cast<float>(b);
    if (!std::isfinite(x) || !std::isfinite(y)) return false;
    return std::abs(x - y) <= relative * std::max(std::abs(x), std::abs(y)) + absolute;
  }
};

float root_mean_square(ElementType type, const std::vector<uint32_t>& words) {
  if (!hlo::is_float(type)) return 0;
  double sum = 0;
  double count = 0;
  for (const uint32_t word : words) {
    const double value = std::bit_cast<float>(word);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : static_cast<float>(std::sqrt(sum / count));
}

// How much a lane that holds an element says of which element it is.
int information_of(const Node& node, const std::vector<uint32_t>& expected) {
  const ElementType type = node.it->shape.element_type();
  if (node.constant || node.it->opcode == hlo::Opcode::Broadcast || expected.empty()) return 1;
  std::vector<uint32_t> some;
  const size_t stride = std::max<size_t>(1, expected.size() / 256);
  for (size_t i = 0; i < expected.size(); i += stride) some.push_back(expected[i]);
  std::ranges::sort(some);
  const auto distinct = std::unique(some.begin(), some.end()) - some.begin();
  return hlo::is_float(type) ? static_cast<int>(std::min<int64_t>(64, 1 + distinct / 2))
                             : static_cast<int>(std::min<int64_t>(64, 1 + distinct / 4));
}

}  // namespace

void Placements::vote(uint32_t group, uint32_t core, size_t packing, uint64_t execution, int64_t tile, int weight) {
  std::vector<Vote>& votes = votes_[index(group, core, packing)];
  if (votes.size() <= execution) votes.resize(execution + 1);
  Vote& vote = votes[execution];
  if (vote.tile == tile) {
    vote.weight = std::min(vote.weight + weight, 1 << 20);
  } else if (weight > vote.weight) {
    vote = {tile, weight - vote.weight};
  } else {
    vote.weight -= weight;
  }
}

void Placements::set(uint32_t group, uint32_t core, size_t packing, uint64_t execution, const Vote& vote) {
  std::vector<Vote>& votes = votes_[index(group, core, packing)];
  if (votes.size() <= execution) votes.resize(execution + 1);
  votes[execution] = vote;
}

const Placements::Vote* Placements::at(uint32_t group, uint32_t core, size_t packing, uint64_t execution) const {
  const std::vector<Vote>& votes = votes_[index(group, core, packing)];
  return execution < votes.size() && votes[execution].weight >= kLeastWeight ? &votes[execution] : nullptr;
}

Probe::Probe(const KernelGraph& graph, const Sightings& sightings, const ExpectedWords& expected,
             const llo::Renamed& renamed)
    : graph_(graph),
      expected_(expected),
      grids_(graph.nodes.size()),
      information_(graph.nodes.size(), 0),
      scale_(graph.nodes.size(), 0),
      placements_(sightings.groups),
      observations_(graph.nodes.size()) {
  std::unordered_multimap<uint32_t, std::pair<uint32_t, Name>> names;  // in the sightings -> in the stage
  for (const auto& [stage, original] : renamed.certain) names.emplace(original, std::pair{stage, Name::Renamed});
  for (const auto& [stage, original] : renamed.possible) names.emplace(original, std::pair{stage, Name::Possible});
  for (const Sighting& sighting : sightings.all) {
    if (expected[sighting.node].empty()) continue;
    track(sighting.number, sighting, Name::Own);
    if (graph.nodes[sighting.node].constant) continue;
    const auto [first, last] = names.equal_range(sighting.number);
    for (auto name = first; name != last; ++name) track(name->second.first, sighting, name->second.second);
  }
}

void Probe::track(uint32_t number, const Sighting& sighting, Name name) {
  const hlo::Shape& shape = graph_.nodes[sighting.node].it->shape;
  auto& grids = grids_[sighting.node];
  if (!grids[0]) {
    for (size_t p = 0; p < grids.size(); ++p)
      if (may_pack(shape.element_type(), kPerWord[p])) grids[p] = TileGrid(shape, kPerWord[p]);
    information_[sighting.node] = information_of(graph_.nodes[sighting.node], expected_[sighting.node]);
    scale_[sighting.node] = root_mean_square(shape.element_type(), expected_[sighting.node]);
  }
  if (tracked_of_.size() <= number) tracked_of_.resize(number + 1, kUntracked);
  uint32_t& tracked = tracked_of_[number];
  if (tracked == kUntracked) {
    tracked = static_cast<uint32_t>(tracked_.size());
    tracked_.emplace_back();
  }
  tracked_[tracked].seen.push_back({sighting, &grids, name});
}

Result<llo::KernelRun> Probe::watch(const RunKernel& run, const Event& event) {
  for (Tracked& tracked : tracked_) tracked.executions = {};
  const llo::Machine* first = nullptr;
  return run([&, this](const llo::Step& step, llo::Machine& machine) {
    if (step.kind != llo::StepKind::Instruction || step.result == llo::kNoSlot) return;
    if (step.bank != llo::Bank::Vector && step.bank != llo::Bank::Mask) return;
    const uint32_t number = machine.instruction(step).result.number;
    if (number >= tracked_of_.size() || tracked_of_[number] == kUntracked) return;
    if (first == nullptr) first = &machine;
    const uint32_t core = &machine == first ? 0 : 1;
    Tracked& tracked = tracked_[tracked_of_[number]];
    event(tracked, core, tracked.executions[core]++, step.source, machine.vector(step.result));
  });
}

Result<llo::KernelRun> Probe::survey(const RunKernel& run) {
  Result<llo::KernelRun> done =
      watch(run, [this](Tracked& tracked, uint32_t core, uint64_t execution, llo::InstructionIndex, const Vreg& value) {
        place(tracked, core, execution, value);
      });
  settle();
  for (Tracked& tracked : tracked_)
    tracked.packing = static_cast<size_t>(std::ranges::max_element(tracked.matches) - tracked.matches.begin());
  return done;
}

void Probe::settle() {
  for (Tracked& tracked : tracked_) {
    const auto packing = static_cast<size_t>(std::ranges::max_element(tracked.matches) - tracked.matches.begin());
    uint64_t most = 1;
    for (Seen& seen : tracked.seen) {
      if (seen.name != Name::Possible) continue;
      seen.matches = confirmed(seen, packing);
      most = std::max(most, seen.matches);
    }
    std::erase_if(tracked.seen,
                  [most](const Seen& seen) { return seen.name == Name::Possible && seen.matches < most; });
  }
}

// How often it held the tile that the others of its group say.
uint64_t Probe::confirmed(const Seen& seen, size_t packing) const {
  uint64_t count = 0;
  for (const Seen::Match& match : seen.possible) {
    const Placements::Vote* vote = placements_.at(seen.sighting.group, match.core, packing, match.execution);
    count += vote != nullptr && vote->tile == match.tile ? 1 : 0;
  }
  return count;
}

void Probe::place(Tracked& tracked, uint32_t core, uint64_t execution, const Vreg& value) {
  for (Seen& seen : tracked.seen) {
    for (size_t packing = 0; packing < kPerWord.size(); ++packing) {
      if (!(*seen.grids)[packing]) continue;
      const Placements::Vote* known = placements_.at(seen.sighting.group, core, packing, execution);
      const int64_t tile = find_tile(seen, packing, known == nullptr ? -1 : known->tile, value);
      if (tile < 0) continue;
      seen.last_tile = tile;
      ++tracked.matches[packing];
      ++seen.matches;
      if (seen.name == Name::Possible) {
        seen.possible.push_back({core, execution, tile});
        break;
      }
      placements_.vote(seen.sighting.group, core, packing, execution, tile, weight_of(seen, packing, tile, value));
      break;
    }
  }
}

namespace {

// Whether `value` holds `tile` of the array `expected`: nine of ten lanes do, and they are not all alike. Zeros that
// stand where zeros should say nothing.
bool holds(const std::vector<uint32_t>& expected, const Likeness& alike, const Tile& tile, int per_word,
           const Vreg& value) {
  constexpr int least = 8;  // lanes that say something
  const int lanes = tile.rows * tile.columns;
  const bool zero_tells = alike.type == ElementType::Pred;
  int telling = 0;
  int wrong = 0;
  const auto look = [&](int samples, int stride) {
    telling = wrong = 0;
    bool varied = false;
    uint32_t first = 0;
    for (int k = 0, at = 0; k < samples; ++k, at = (at + stride) % lanes) {
      const int row = at / tile.columns;
      const int column = at % tile.columns;
      const int64_t element = tile.element(row, column);
      if (element < 0) continue;
      const uint32_t word =
          element_word(alike.type, value.word[row / per_word * llo::kLanes + column], per_word, row % per_word);
      const uint32_t wanted = expected[static_cast<size_t>(element)];
      if (k == 0) first = wanted;
      varied = varied || !alike(wanted, first);
      if (word == 0 && wanted == 0 && !zero_tells) continue;
      ++telling;
      if (!alike(word, wanted) && ++wrong > samples / 10) return false;
    }
    return varied && wrong * 10 <= telling;
  };
  if (lanes <= 64) return look(lanes, 1) && telling >= std::min(least, lanes / 4);
  if (!look(16, 67) && wrong > 1) return false;
  if (look(64, 131 % lanes == 0 ? 1 : 131) && telling >= least) return true;
  return wrong <= 6 && telling < least && look(lanes, 1) && telling >= least;
}

}  // namespace

int64_t Probe::find_tile(const Seen& seen, size_t packing, int64_t hint, const Vreg& value) const {
  const TileGrid& grid = *(*seen.grids)[packing];
  const std::vector<uint32_t>& expected = expected_[seen.sighting.node];
  const ElementType type = graph_.nodes[seen.sighting.node].it->shape.element_type();
  const int64_t count = grid.count();
  const auto is = [&](int64_t tile, const Likeness& alike) {
    return tile >= 0 && tile < count && holds(expected, alike, grid.tile(tile), grid.per_word(), value);
  };
  const Likeness close = Likeness::close(type);
  if (is(hint, close)) return hint;
  if (is(seen.last_tile + 1, close)) return seen.last_tile + 1;
  if (count > kMostTilesSearched) return -1;
  for (int64_t tile = 0; tile < count; ++tile)
    if (is(tile, close)) return tile;
  if (!hlo::is_float(type)) return -1;
  // Loosely only one tile may be meant.
  const Likeness loose = Likeness::loose(type, scale_[seen.sighting.node]);
  int64_t found = -1;
  for (int64_t tile = 0; tile < count; ++tile) {
    if (!is(tile, loose)) continue;
    if (found >= 0) return -1;
    found = tile;
  }
  return found;
}

int Probe::weight_of(const Seen& seen, size_t packing, int64_t tile, const Vreg& value) const {
  const NodeIndex node = seen.sighting.node;
  if (information_[node] >= kLeastWeight) return information_[node];
  const TileGrid& grid = *(*seen.grids)[packing];
  const Likeness close = Likeness::close(graph_.nodes[node].it->shape.element_type());
  if (grid.count() > kMostTilesCompared) return information_[node];
  for (int64_t other = 0; other < grid.count(); ++other)
    if (other != tile && holds(expected_[node], close, grid.tile(other), grid.per_word(), value))
      return information_[node];
  return kLeastWeight;
}

void Probe::adopt(const Probe& other) {
  for (const Tracked& tracked : tracked_)
    for (const Seen& seen : tracked.seen)
      for (uint32_t core = 0; core < Placements::kCores; ++core)
        for (size_t packing = 0; packing < kPerWord.size(); ++packing)
          adopt(other.placements_, seen.sighting.group, core, packing);
  for (uint32_t number = 0; number < std::min(tracked_of_.size(), other.tracked_of_.size()); ++number) {
    if (tracked_of_[number] == kUntracked || other.tracked_of_[number] == kUntracked) continue;
    Tracked& tracked = tracked_[tracked_of_[number]];
    const bool unmatched = std::ranges::all_of(tracked.matches, [](uint64_t matches) { return matches == 0; });
    if (unmatched) tracked.packing = other.tracked_[other.tracked_of_[number]].packing;
  }
}

void Probe::adopt(const Placements& other, uint32_t group, uint32_t core, size_t packing) {
  const uint64_t executions = other.executions(group, core, packing);
  if (placements_.executions(group, core, packing) > executions) return;
  for (uint64_t k = 0; k < executions; ++k)
    if (const Placements::Vote* vote = other.at(group, core, packing, k))
      placements_.set(group, core, packing, k, *vote);
}

std::optional<Tile> Probe::tile_of(const Tracked& tracked, const Seen& seen, uint32_t core, uint64_t execution) const {
  const std::optional<TileGrid>& grid = (*seen.grids)[tracked.packing];
  if (!grid) return std::nullopt;
  const Placements::Vote* vote = placements_.at(seen.sighting.group, core, tracked.packing, execution);
  if (vote == nullptr || vote->tile >= grid->count()) return std::nullopt;
  return grid->tile(vote->tile);
}

Result<llo::KernelRun> Probe::read(const RunKernel& run, bool only_matching) {
  return watch(run, [this, only_matching](Tracked& tracked, uint32_t core, uint64_t execution,
                                          llo::InstructionIndex instruction, const Vreg& value) {
    for (Seen& seen : tracked.seen)
      if (!only_matching || seen.name == Name::Own || seen.matches > 0)
        if (const auto tile = tile_of(tracked, seen, core, execution))
          read(seen, *tile, kPerWord[tracked.packing], instruction, value);
  });
}

void Probe::read(Seen& seen, const Tile& tile, int per_word, llo::InstructionIndex instruction, const Vreg& value) {
  const NodeIndex node = seen.sighting.node;
  const std::vector<uint32_t>& expected = expected_[node];
  const ElementType type = graph_.nodes[node].it->shape.element_type();
  Observation& observation = observations_[node];
  if (observation.seen.empty()) observation.seen.resize(expected.size());
  if (seen.point == SIZE_MAX) {
    seen.point = observation.points.size();
    observation.points.push_back({instruction, 0, 0});
  }
  Observation::Point& point = observation.points[seen.point];
  ++point.executions;
  // Whole rows that are as expected.
  if (per_word == 1 && tile.column_stride == 1 && type != ElementType::Pred && observation.got.empty()) {
    bool same = true;
    for (int row = 0; row < tile.rows && same; ++row) {
      const int64_t first = tile.base + row * tile.row_stride;
      const auto count = static_cast<size_t>(std::min<int64_t>(tile.columns, tile.left - row * tile.row_stride));
      same = std::memcmp(&value.word[static_cast<ptrdiff_t>(row) * llo::kLanes], &expected[static_cast<size_t>(first)],
                         count * 4) == 0;
    }
    if (same) {
      for (int row = 0; row < tile.rows; ++row) {
        const int64_t first = tile.base + row * tile.row_stride;
        const auto count = static_cast<size_t>(std::min<int64_t>(tile.columns, tile.left - row * tile.row_stride));
        std::memset(&observation.seen[static_cast<size_t>(first)], 1, count);
        point.elements += static_cast<int64_t>(count);
      }
      return;
    }
  }
  for_each_lane(tile, type, per_word, value, [&](int64_t element, uint32_t word, int) {
    const auto at = static_cast<size_t>(element);
    const bool same = same_value(type, word, expected[at]);
    if (!same && observation.got.empty()) observation.got = expected;
    if (!same || (observation.seen[at] == 0 && !observation.got.empty())) observation.got[at] = word;
    observation.seen[at] = 1;
    ++point.elements;
  });
}

bool Probe::matched(uint32_t number, NodeIndex node) const {
  if (number >= tracked_of_.size() || tracked_of_[number] == kUntracked) return false;
  return std::ranges::any_of(tracked_[tracked_of_[number]].seen,
                             [node](const Seen& seen) { return seen.sighting.node == node && seen.matches > 0; });
}

Result<std::optional<Reading>> Probe::locate(const RunKernel& run, NodeIndex node, int64_t element) {
  std::optional<Reading> found;
  const Observation& observation = observations_[node];
  const std::vector<uint32_t>& values = observation.got.empty() ? expected_[node] : observation.got;
  const ElementType type = graph_.nodes[node].it->shape.element_type();
  SAPPER_TRY(const llo::KernelRun done, watch(run, [&, this](Tracked& tracked, uint32_t core, uint64_t execution,
                                                             llo::InstructionIndex instruction, const Vreg& value) {
               for (const Seen& seen : tracked.seen) {
                 if (found || seen.sighting.node != node) continue;
                 const auto tile = tile_of(tracked, seen, core, execution);
                 if (!tile) continue;
                 for_each_lane(*tile, type, kPerWord[tracked.packing], value, [&](int64_t at, uint32_t word, int lane) {
                   if (at == element && word == values[static_cast<size_t>(at)])
                     found = Reading{instruction, execution, lane};
                 });
               }
             }));
  return found;
}

}  // namespace sapper::inspect
