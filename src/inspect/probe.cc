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
constexpr size_t kMostMarks = size_t{1} << 22;
static_assert(kMostMarks <= llo::Origins::kMostMarks);
// That a match tells the place by itself.
constexpr int kTellingWeight = 16;
constexpr int64_t kMostTilesSearched = int64_t{1} << 16;
constexpr int64_t kMostTilesCompared = int64_t{1} << 10;  // to see that a register is only one of them

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
    if (!hlo::is_float(type)) return same_value(type, a, b);
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

// Whether the rows that `part` has are rows of `whole`.
bool part_of(const Tile& part, const Tile& whole) {
  for (size_t row = 0; row < part.row.size(); ++row)
    if (part.row[row].columns > 0 && part.row[row] != whole.row[row]) return false;
  return true;
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

Probe::Probe(const KernelGraph& graph, const Sightings& sightings, const ExpectedWords& expected,
             const llo::Renamed& renamed)
    : graph_(graph),
      expected_(expected),
      grids_(graph.nodes.size()),
      information_(graph.nodes.size(), 0),
      scale_(graph.nodes.size(), 0),
      kept_(kept_elements(graph)),
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

Result<llo::KernelRun> Probe::watch(const RunKernel& run, const OnEvent& event, bool with_origins) {
  for (Tracked& tracked : tracked_) tracked.executions = {};
  const llo::Machine* first = nullptr;
  KernelWatch watch;
  if (with_origins) watch.placed = [this](std::span<const llo::PlacedArray> arrays) { origins_.begin(arrays); };
  watch.step = [&, this](const llo::Step& step, llo::Machine& machine) {
    if (with_origins) origins_.follow(step, machine);
    if (step.kind != llo::StepKind::Instruction || step.result == llo::kNoSlot) return;
    if (step.bank != llo::Bank::Vector && step.bank != llo::Bank::Mask) return;
    const uint32_t number = machine.instruction(step).result.number;
    if (number >= tracked_of_.size() || tracked_of_[number] == kUntracked) return;
    if (first == nullptr) first = &machine;
    const uint32_t core = &machine == first ? 0 : 1;
    Tracked& tracked = tracked_[tracked_of_[number]];
    event(tracked, {step, machine, core, tracked.executions[core]++});
  };
  return run(watch);
}

Result<llo::KernelRun> Probe::survey(const RunKernel& run) {
  Result<llo::KernelRun> done = watch(
      run,
      [this](Tracked& tracked, const Event& event) {
        place_by_operands(tracked, event);
        place_by_value(tracked, event);
        mark(tracked, event);
      },
      /*with_origins=*/true);
  place_by_results();
  settle();
  for (Tracked& tracked : tracked_) {
    const bool known = std::ranges::any_of(tracked.addressed, [](uint64_t count) { return count > 0; });
    const auto& counts = known ? tracked.addressed : tracked.matches;
    tracked.packing = static_cast<size_t>(std::ranges::max_element(counts) - counts.begin());
  }
  return done;
}

llo::Runs Probe::known_runs(llo::Runs runs) const {
  for (llo::RunId& run : runs)
    if (origins_.run(run).is_scattered()) run = llo::kUnknownRun;
  return runs;
}

void Probe::place_by_operands(Tracked& tracked, const Event& event) {
  std::optional<PackedRows> rows;
  for (const Seen& seen : tracked.seen) {
    if (seen.name == Name::Possible || !kept_.from_parameter[seen.sighting.node]) continue;
    if (!rows) rows = packed_rows(known_runs(origins_.of(event.step, event.machine)));
    if (!rows) return;
    place_by_address(tracked, seen, event.of(seen), *rows);
  }
}

void Probe::mark(const Tracked& tracked, const Event& event) {
  if (marks_.size() >= kMostMarks) return;
  const auto becomes_result = [this](const Seen& seen) {
    return seen.name != Name::Possible && kept_.to_result[seen.sighting.node];
  };
  if (std::ranges::none_of(tracked.seen, becomes_result)) return;
  origins_.mark(event.step, event.machine, static_cast<uint32_t>(marks_.size()));
  marks_.push_back({static_cast<uint32_t>(&tracked - tracked_.data()), event.core, event.execution});
}

void Probe::place_by_results() {
  for (const auto& [number, bytes] : origins_.results()) {
    const std::optional<PackedRows> rows = packed_rows(bytes);
    if (!rows) continue;
    const Mark& mark = marks_[number];
    Tracked& tracked = tracked_[mark.tracked];
    for (const Seen& seen : tracked.seen)
      if (seen.name != Name::Possible && kept_.to_result[seen.sighting.node])
        place_by_address(tracked, seen, {seen.sighting.group, mark.core, mark.execution}, *rows);
  }
}

void Probe::place_by_address(Tracked& tracked, const Seen& seen, const Occasion& at, const PackedRows& rows) {
  if (!(*seen.grids)[rows.packing]) return;
  const int64_t elements = graph_.nodes[seen.sighting.node].it->shape.element_count();
  PackedRows own = rows;
  bool any = false;
  for (llo::RunId& run : own.rows) {
    if (origins_.run(run).elements != elements) run = llo::kNoRun;
    any = any || run != llo::kNoRun;
  }
  if (!any) return;
  placements_.place(at, own);
  ++tracked.addressed[own.packing];
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
    const Placements::Vote* vote = placements_.vote_at({seen.sighting.group, match.core, match.execution}, packing);
    count += vote != nullptr && vote->tile == match.tile ? 1 : 0;
  }
  return count;
}

void Probe::place_by_value(Tracked& tracked, const Event& event) {
  for (Seen& seen : tracked.seen) {
    const Occasion at = event.of(seen);
    counts_.registers += seen.name == Name::Own ? 1 : 0;
    for (size_t packing = 0; packing < kPackings; ++packing) {
      const std::optional<TileGrid>& grid = (*seen.grids)[packing];
      if (!grid) continue;
      const std::optional<Tile> addressed = addressed_tile(at, packing);
      const int64_t hinted = addressed ? grid->index_of(*addressed) : -1;
      const Placements::Vote* known = placements_.vote_at(at, packing);
      const int64_t tile =
          find_tile(seen, packing, hinted >= 0 || known == nullptr ? hinted : known->tile, event.value());
      const int weight = tile < 0 ? 0 : weight_of(seen, packing, tile, event.value());
      if (addressed && seen.name == Name::Own) {
        const bool same = tile >= 0 && part_of(*addressed, grid->tile(tile));
        ++counts_.by_address;
        counts_.confirmed += same ? 1 : 0;
        counts_.contradicted += !same && weight >= kTellingWeight ? 1 : 0;
      }
      if (tile < 0) continue;
      seen.last_tile = tile;
      ++tracked.matches[packing];
      ++seen.matches;
      if (seen.name == Name::Possible) {
        seen.possible.push_back({event.core, event.execution, tile});
      } else {
        placements_.vote(at, packing, tile, weight);
      }
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
  if (information_[node] >= kTellingWeight) return information_[node];
  const TileGrid& grid = *(*seen.grids)[packing];
  const Likeness close = Likeness::close(graph_.nodes[node].it->shape.element_type());
  if (grid.count() > kMostTilesCompared) return information_[node];
  for (int64_t other = 0; other < grid.count(); ++other)
    if (other != tile && holds(expected_[node], close, grid.tile(other), grid.per_word(), value))
      return information_[node];
  return kTellingWeight;
}

void Probe::adopt(const Probe& other) {
  const auto own = [&](llo::RunId run) {
    return run == llo::kUnknownRun ? run : origins_.id_of(other.origins_.run(run));
  };
  for (const Tracked& tracked : tracked_)
    for (const Seen& seen : tracked.seen)
      for (uint32_t core = 0; core < Placements::kCores; ++core)
        for (size_t packing = 0; packing < kPackings; ++packing)
          placements_.adopt(other.placements_, seen.sighting.group, core, packing, own);
  for (uint32_t number = 0; number < std::min(tracked_of_.size(), other.tracked_of_.size()); ++number) {
    if (tracked_of_[number] == kUntracked || other.tracked_of_[number] == kUntracked) continue;
    Tracked& tracked = tracked_[tracked_of_[number]];
    const auto nothing = [](uint64_t count) { return count == 0; };
    if (std::ranges::all_of(tracked.matches, nothing) && std::ranges::all_of(tracked.addressed, nothing))
      tracked.packing = other.tracked_[other.tracked_of_[number]].packing;
  }
}

std::optional<Tile> Probe::addressed_tile(const Occasion& at, size_t packing) const {
  const std::span<const llo::RunId> rows = placements_.rows_at(at, packing);
  if (rows.empty()) return std::nullopt;
  Tile tile;
  for (size_t row = 0; row < rows.size(); ++row) {
    const llo::Run& run = origins_.run(rows[row]);
    if (rows[row] == llo::kUnknownRun) return std::nullopt;
    if (run.count > 1 && tile.columns > 1 && run.stride != tile.stride) return std::nullopt;
    if (run.count > 1) tile.stride = run.stride;
    if (run.count > 0) tile.set_row(static_cast<int>(row), {run.base, run.count});
  }
  return tile;
}

std::optional<Probe::PlacedTile> Probe::tile_of(const Tracked& tracked, const Seen& seen, const Occasion& at) const {
  const std::optional<TileGrid>& grid = (*seen.grids)[tracked.packing];
  if (!grid) return std::nullopt;
  const Placements::Vote* vote = placements_.vote_at(at, tracked.packing);
  std::optional<PlacedTile> held;
  if (vote != nullptr && vote->tile < grid->count()) held = PlacedTile{grid->tile(vote->tile), true};
  const std::optional<Tile> addressed = addressed_tile(at, tracked.packing);
  if (!addressed) return held;
  // Rows of which addresses say nothing may be known by what they hold.
  const bool fills = held && *addressed != held->tile && part_of(*addressed, held->tile);
  return fills ? held : PlacedTile{*addressed, false};
}

Result<llo::KernelRun> Probe::read(const RunKernel& run, bool only_matching) {
  return watch(run, [this, only_matching](Tracked& tracked, const Event& event) {
    for (Seen& seen : tracked.seen)
      if (!only_matching || seen.name == Name::Own || seen.matches > 0)
        if (const auto placed = tile_of(tracked, seen, event.of(seen)))
          read(seen, *placed, kPerWord[tracked.packing], event.step.source, event.value());
  });
}

void Probe::read(Seen& seen, const PlacedTile& placed, int per_word, llo::InstructionIndex instruction,
                 const Vreg& value) {
  const NodeIndex node = seen.sighting.node;
  const std::vector<uint32_t>& expected = expected_[node];
  const ElementType type = graph_.nodes[node].it->shape.element_type();
  const Tile& tile = placed.tile;
  Observation& observation = observations_[node];
  if (observation.seen.empty()) observation.seen.resize(expected.size());
  if (seen.point == SIZE_MAX) {
    seen.point = observation.points.size();
    observation.points.push_back({.instruction = instruction});
  }
  Observation::Point& point = observation.points[seen.point];
  ++point.executions;
  int64_t elements = 0;
  for (const Tile::Row& row : tile.row) elements += row.columns;
  point.elements += elements;
  point.by_value += placed.by_value ? elements : 0;
  // Whole rows that are as expected.
  if (per_word == 1 && tile.stride == 1 && type != ElementType::Pred && observation.got.empty()) {
    const auto is_expected = [&](int row) {
      const Tile::Row& it = tile.row[static_cast<size_t>(row)];
      return std::memcmp(&value.word[static_cast<ptrdiff_t>(row) * llo::kLanes], expected.data() + it.base,
                         static_cast<size_t>(it.columns) * 4) == 0;
    };
    bool same = true;
    for (int row = 0; row < tile.rows && same; ++row) same = is_expected(row);
    if (same) {
      for (const Tile::Row& row : tile.row) std::fill_n(observation.seen.begin() + row.base, row.columns, 1);
      return;
    }
  }
  for_each_lane(tile, type, per_word, value, [&](int64_t element, uint32_t word, int) {
    const auto at = static_cast<size_t>(element);
    const bool same = same_value(type, word, expected[at]);
    if (!same && observation.got.empty()) observation.got = expected;
    if (!same || (observation.seen[at] == 0 && !observation.got.empty())) observation.got[at] = word;
    observation.seen[at] = 1;
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
  SAPPER_TRY(const llo::KernelRun done, watch(run, [&, this](Tracked& tracked, const Event& event) {
               for (const Seen& seen : tracked.seen) {
                 if (found || seen.sighting.node != node) continue;
                 const auto placed = tile_of(tracked, seen, event.of(seen));
                 if (!placed) continue;
                 for_each_lane(placed->tile, type, kPerWord[tracked.packing], event.value(),
                               [&](int64_t at, uint32_t word, int lane) {
                                 if (at == element && word == values[static_cast<size_t>(at)])
                                   found = Reading{event.step.source, event.execution, lane};
                               });
               }
             }));
  return found;
}

}  // namespace sapper::inspect
