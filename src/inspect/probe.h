// Probes: reads the registers of a kernel while it runs on the LLO machine, and puts what they hold together to the
// arrays of its HLO instructions. The kernel is run twice: once to learn which elements each register holds whenever it
// is written (placements.h), and once to read.
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
#include "inspect/placements.h"
#include "inspect/sightings.h"
#include "llo/kernel.h"
#include "llo/machine.h"
#include "llo/origins.h"
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
    int64_t by_value = 0;  // of them, placed by what the register holds
  };
  std::vector<Point> points;
};

// Where an element of a node was read.
struct Reading {
  llo::InstructionIndex instruction = 0;
  uint64_t execution = 0;
  int lane = 0;
};

struct KernelWatch {
  std::function<void(const llo::Step&, llo::Machine&)> step;  // MachineOptions::observer
  llo::ArraysPlaced placed;
};
// Runs one stage of the kernel.
using RunKernel = std::function<Result<llo::KernelRun>(const KernelWatch&)>;

// How often a register whose elements are known by the addresses of operands was found to hold them.
struct PlaceCounts {
  uint64_t registers = 0;  // written, each for each instruction that it may be
  uint64_t by_address = 0;
  uint64_t confirmed = 0;     // it holds what the reference has there
  uint64_t contradicted = 0;  // it holds what the reference has in one other place only
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
  [[nodiscard]] const PlaceCounts& place_counts() const { return counts_; }

 private:
  using Grids = std::array<std::optional<TileGrid>, kPackings>;
  enum class Name {
    Own,       // as in the sightings
    Renamed,   // certainly another name of it
    Possible,  // perhaps another name of it
  };
  struct Seen {  // a sighting with what its places are found by
    Sighting sighting;
    const Grids* grids = nullptr;
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
    std::array<uint64_t, kPackings> matches{};
    std::array<uint64_t, kPackings> addressed{};  // how often its rows were known by addresses
    size_t packing = 0;
  };
  struct Event {  // a tracked register is written
    const llo::Step& step;
    const llo::Machine& machine;
    uint32_t core = 0;
    uint64_t execution = 0;
    [[nodiscard]] const llo::Vreg& value() const { return machine.vector(step.result); }
    [[nodiscard]] Occasion of(const Seen& seen) const { return {seen.sighting.group, core, execution}; }
  };
  using OnEvent = std::function<void(Tracked&, const Event&)>;
  struct Mark {  // of a register (llo/origins.h)
    uint32_t tracked = 0;
    uint32_t core = 0;
    uint64_t execution = 0;
  };
  struct PlacedTile {
    Tile tile;
    bool by_value = false;
  };

  void track(uint32_t number, const Sighting& sighting, Name name);
  // Of values that perhaps are one thing and perhaps another, what they are.
  void settle();
  [[nodiscard]] Result<llo::KernelRun> watch(const RunKernel& run, const OnEvent& event, bool with_origins = false);
  [[nodiscard]] uint64_t confirmed(const Seen& seen, size_t packing) const;
  // Scattered elements are no known run.
  [[nodiscard]] llo::Runs known_runs(llo::Runs runs) const;
  // By addresses: as the operands' elements that the register is made of.
  void place_by_operands(Tracked& tracked, const Event& event);
  // As the results' elements that registers became.
  void place_by_results();
  void place_by_address(Tracked& tracked, const Seen& seen, const Occasion& at, const PackedRows& rows);
  void mark(const Tracked& tracked, const Event& event);
  void place_by_value(Tracked& tracked, const Event& event);
  [[nodiscard]] int64_t find_tile(const Seen& seen, size_t packing, int64_t hint, const llo::Vreg& value) const;
  // How much a match says: little where values are few, unless no other tile matches.
  [[nodiscard]] int weight_of(const Seen& seen, size_t packing, int64_t tile, const llo::Vreg& value) const;
  // The rows that addresses say, of a node; nullopt: they say nothing, or two things.
  [[nodiscard]] std::optional<Tile> addressed_tile(const Occasion& at, size_t packing) const;
  // The tile that a register holds of the node of `seen`; nullopt: nobody knows.
  [[nodiscard]] std::optional<PlacedTile> tile_of(const Tracked& tracked, const Seen& seen, const Occasion& at) const;
  void read(Seen& seen, const PlacedTile& placed, int per_word, llo::InstructionIndex instruction,
            const llo::Vreg& value);

  const KernelGraph& graph_;
  const ExpectedWords& expected_;
  std::vector<Grids> grids_;      // of each node
  std::vector<int> information_;  // of a lane that matches, by node: how much it says of the place
  std::vector<float> scale_;      // of the values of a node: their root mean square
  std::vector<Tracked> tracked_;
  std::vector<uint32_t> tracked_of_;  // by number; UINT32_MAX: none
  KeptElements kept_;
  llo::Origins origins_;
  std::vector<Mark> marks_;
  Placements placements_;
  PlaceCounts counts_;
  std::vector<Observation> observations_;
};

}  // namespace sapper::inspect
