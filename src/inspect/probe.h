// Probes: reads the registers of a kernel while it runs on the LLO machine, and puts what they hold together to the
// arrays of its HLO instructions. The kernel is run twice: once to learn which elements each register holds whenever it
// is written, by what it holds, and once to read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "inspect/kernel_graph.h"
#include "inspect/lanes.h"
#include "inspect/sightings.h"
#include "llo/kernel.h"
#include "llo/machine.h"
#include "llo/renamed.h"

namespace sapper::inspect {

// The reference's value of a node in lanes; empty: it is not kept, or does not fit lanes.
using ExpectedWords = std::vector<std::vector<uint32_t>>;

// What was seen of one node.
struct Observation {
  std::vector<uint8_t> seen;  // of each element; empty: nothing was
  std::vector<uint32_t> got;  // empty: everything that was seen is as expected
  struct Point {
    llo::InstructionIndex instruction = 0;
    uint64_t executions = 0;
    int64_t elements = 0;
  };
  std::vector<Point> points;
};

// Where an element of a node was read.
struct Reading {
  llo::InstructionIndex instruction = 0;
  uint64_t execution = 0;
  int lane = 0;
};

// Runs one stage of the kernel with `observer`.
using RunKernel = std::function<Result<llo::KernelRun>(std::function<void(const llo::Step&, llo::Machine&)> observer)>;

// The tiles that the registers of each group of sightings hold, by core and execution.
class Placements {
 public:
  static constexpr uint32_t kCores = 2;
  static constexpr size_t kPackings = 3;  // 1, 2 and 4 elements a word

  struct Vote {
    int64_t tile = -1;
    int weight = 0;
  };

  explicit Placements(uint32_t groups) : votes_(size_t{groups} * kCores * kPackings) {}
  void vote(uint32_t group, uint32_t core, size_t packing, uint64_t execution, int64_t tile, int weight);
  void set(uint32_t group, uint32_t core, size_t packing, uint64_t execution, const Vote& vote);
  // nullptr: nobody knows.
  [[nodiscard]] const Vote* at(uint32_t group, uint32_t core, size_t packing, uint64_t execution) const;
  [[nodiscard]] uint64_t executions(uint32_t group, uint32_t core, size_t packing) const {
    return votes_[index(group, core, packing)].size();
  }

 private:
  [[nodiscard]] static size_t index(uint32_t group, uint32_t core, size_t packing) {
    return (size_t{group} * kCores + core) * kPackings + packing;
  }
  std::vector<std::vector<Vote>> votes_;
};

class Probe {
 public:
  // `renamed`: numbers of the stage for values that have another one in the sightings (llo/renamed.h).
  Probe(const KernelGraph& graph, const Sightings& sightings, const ExpectedWords& expected,
        const llo::Renamed& renamed = {});

  // The first run: learns the places.
  [[nodiscard]] Result<llo::KernelRun> survey(const RunKernel& run);
  // Takes the places of `other`, a probe of an earlier stage of the kernel, where that one ran as often: what a
  // register of this stage holds may be another tile, computed right, that belongs somewhere else.
  void adopt(const Probe& other);
  // The second run. `only_matching`: values that passes renamed are left out where they never were what they should be:
  // they are something else.
  [[nodiscard]] Result<llo::KernelRun> read(const RunKernel& run, bool only_matching);
  // One more: where the value of `element` of `node` was read.
  [[nodiscard]] Result<std::optional<Reading>> locate(const RunKernel& run, NodeIndex node, int64_t element);

  // Whether the stage's value `number` was, in the first run, what the sightings say it is.
  [[nodiscard]] bool matched(uint32_t number, NodeIndex node) const;

  [[nodiscard]] const std::vector<Observation>& observations() const { return observations_; }

 private:
  enum class Name {
    Own,       // as in the sightings
    Renamed,   // certainly another name of it
    Possible,  // perhaps another name of it
  };
  struct Seen {  // a sighting with what its places are found by
    Sighting sighting;
    const std::array<std::optional<TileGrid>, Placements::kPackings>* grids = nullptr;
    Name name = Name::Own;
    uint64_t matches = 0;
    int64_t last_tile = -1;
    struct Match {
      uint32_t core = 0;
      uint64_t execution = 0;
      int64_t tile = 0;
    };
    std::vector<Match> possible;  // what speaks for a possible name
    size_t point = SIZE_MAX;
  };
  struct Tracked {
    std::vector<Seen> seen;
    std::array<uint64_t, Placements::kCores> executions{};
    std::array<uint64_t, Placements::kPackings> matches{};
    size_t packing = 0;
  };
  using Event =
      std::function<void(Tracked&, uint32_t core, uint64_t execution, llo::InstructionIndex, const llo::Vreg&)>;

  void track(uint32_t number, const Sighting& sighting, Name name);
  // Of values that perhaps are one thing and perhaps another, what they are.
  void settle();
  [[nodiscard]] Result<llo::KernelRun> watch(const RunKernel& run, const Event& event);
  void adopt(const Placements& other, uint32_t group, uint32_t core, size_t packing);
  [[nodiscard]] uint64_t confirmed(const Seen& seen, size_t packing) const;
  void place(Tracked& tracked, uint32_t core, uint64_t execution, const llo::Vreg& value);
  [[nodiscard]] int64_t find_tile(const Seen& seen, size_t packing, int64_t hint, const llo::Vreg& value) const;
  // How much a match says: little where values are few, unless no other tile matches.
  [[nodiscard]] int weight_of(const Seen& seen, size_t packing, int64_t tile, const llo::Vreg& value) const;
  // The tile that a register holds of the node of `seen`; nullopt: nobody knows.
  [[nodiscard]] std::optional<Tile> tile_of(const Tracked& tracked, const Seen& seen, uint32_t core,
                                            uint64_t execution) const;
  void read(Seen& seen, const Tile& tile, int per_word, llo::InstructionIndex instruction, const llo::Vreg& value);

  const KernelGraph& graph_;
  const ExpectedWords& expected_;
  std::vector<std::array<std::optional<TileGrid>, Placements::kPackings>> grids_;  // of each node
  std::vector<int> information_;  // of a lane that matches, by node: how much it says of the place
  std::vector<float> scale_;      // of the values of a node: their root mean square
  std::vector<Tracked> tracked_;
  std::vector<uint32_t> tracked_of_;  // by number; UINT32_MAX: none
  Placements placements_;
  std::vector<Observation> observations_;
};

}  // namespace sapper::inspect
