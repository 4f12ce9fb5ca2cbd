#include "isolate/regions.h"

#include <algorithm>
#include <span>

#include "isolate/roles.h"
#include "isolate/single_device.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::Hash;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;

constexpr uint32_t no_region = UINT32_MAX;
constexpr uint64_t value_domain = 40;

// Who uses each instruction, once for each operand that it is.
class Users {
 public:
  explicit Users(const Computation& computation) {
    const auto& instructions = computation.instructions;
    begin_.assign(instructions.size() + 1, 0);
    for (const Instruction& instruction : instructions)
      for (const InstructionIndex operand : instruction.operands) ++begin_[operand + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    users_.resize(begin_.back());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (InstructionIndex i = 0; i < instructions.size(); ++i)
      for (const InstructionIndex operand : instructions[i].operands) users_[next[operand]++] = i;
  }

  [[nodiscard]] std::span<const InstructionIndex> of(InstructionIndex i) const {
    return {users_.data() + begin_[i], users_.data() + begin_[i + 1]};
  }

 private:
  std::vector<uint32_t> begin_;
  std::vector<InstructionIndex> users_;
};

// Instructions, operands first, in an order that does not depend on the stated one: along operands from the root, then
// from what nobody uses.
std::vector<InstructionIndex> walk_order(const Computation& computation, const ComputationFacts& facts,
                                         const Users& users) {
  const auto& instructions = computation.instructions;
  std::vector<InstructionIndex> order;
  order.reserve(instructions.size());
  std::vector<bool> is_seen(instructions.size());
  std::vector<std::pair<InstructionIndex, uint32_t>> path;
  const auto walk = [&](InstructionIndex from) {
    if (is_seen[from]) return;
    is_seen[from] = true;
    path.emplace_back(from, 0);
    while (!path.empty()) {
      auto& [at, done] = path.back();
      const auto& operands = instructions[at].operands;
      if (done == operands.size()) {
        order.push_back(at);
        path.pop_back();
        continue;
      }
      const InstructionIndex operand = operands[done++];
      if (is_seen[operand]) continue;
      is_seen[operand] = true;
      path.emplace_back(operand, 0);
    }
  };
  walk(computation.root);
  if (order.size() == instructions.size()) return order;
  std::vector<Hash> values(instructions.size());
  std::vector<InstructionIndex> unused;
  for (InstructionIndex i = 0; i < instructions.size(); ++i) {
    hlo::Hasher hasher(value_domain);
    hasher.add(facts.own[i]);
    for (const InstructionIndex operand : instructions[i].operands) hasher.add(values[operand]);
    values[i] = hasher.get();
    if (users.of(i).empty()) unused.push_back(i);
  }
  std::ranges::stable_sort(unused, {}, [&](InstructionIndex i) { return values[i]; });
  for (const InstructionIndex i : unused) walk(i);
  return order;
}

class Grower {
 public:
  Grower(const Computation& computation, int64_t largest, Planner& planner, const ComputationFacts& facts)
      : computation_(computation),
        largest_(largest),
        users_(computation),
        order_(walk_order(computation, facts, users_)),
        region_of_(computation.instructions.size(), no_region),
        is_copied_(computation.instructions.size()) {
    for (InstructionIndex i = 0; i < is_copied_.size(); ++i) {
      roles_.push_back(role_of(computation, at(i)));
      is_copied_[i] = planner.is_copied(at(i));
    }
  }

  std::vector<Region> grow() {
    for (const InstructionIndex i : order_) go_on(i);
    for (size_t k = order_.size(); k-- > 0;) take_in(order_[k]);
    return regions();
  }

 private:
  [[nodiscard]] const Instruction& at(InstructionIndex i) const { return computation_.instructions[i]; }

  // Light ones, and collectives, which are next to nothing on one device.
  [[nodiscard]] bool is_light(InstructionIndex i) const {
    if (is_copied_[i]) return false;
    if (roles_[i] == Role::Light) return true;
    if (roles_[i] != Role::Collective || is_start(at(i).opcode) || is_done(at(i).opcode)) return false;
    std::vector<hlo::Shape> operands;
    for (const InstructionIndex operand : at(i).operands) operands.push_back(at(operand).shape);
    return single_device_problem(at(i), operands).empty();
  }

  void join(InstructionIndex i, uint32_t region) {
    region_of_[i] = region;
    ++size_of_[region];
  }

  void open(InstructionIndex i) {
    size_of_.push_back(0);
    join(i, static_cast<uint32_t>(size_of_.size() - 1));
  }

  // Downwards: `i` joins what it alone goes on with.
  void go_on(InstructionIndex i) {
    if (at(i).opcode == Opcode::GetTupleElement) {  // goes where its tuple is, free of charge
      region_of_[i] = region_of_[at(i).operands[0]];
      return;
    }
    if (roles_[i] == Role::Heavy) return open(i);
    if (!is_light(i)) return;
    for (const InstructionIndex operand : at(i).operands) {
      const uint32_t region = region_of_[operand];
      if (region == no_region || size_of_[region] >= largest_ || operand == computation_.root) continue;
      if (std::ranges::count(users_.of(operand), i) == std::ssize(users_.of(operand))) return join(i, region);
    }
  }

  // Upwards: `i` joins its users where they are all in one region; else what comes before it gathers around it.
  void take_in(InstructionIndex i) {
    if (region_of_[i] != no_region || !is_light(i)) return;
    const auto users = users_.of(i);
    const uint32_t region = users.empty() || i == computation_.root ? no_region : region_of_[users[0]];
    const auto is_there = [&](InstructionIndex user) { return region_of_[user] == region; };
    if (region != no_region && size_of_[region] < largest_ && std::all_of(users.begin(), users.end(), is_there))
      return join(i, region);
    if (roles_[i] != Role::Collective) open(i);
  }

  std::vector<Region> regions() {
    std::vector<Region> regions(size_of_.size());
    for (InstructionIndex i = 0; i < region_of_.size(); ++i) {
      if (region_of_[i] == no_region) continue;
      Region& region = regions[region_of_[i]];
      const bool is_heavier = region.members.empty() || roles_[region.main] != Role::Heavy;
      if (is_heavier && at(i).opcode != Opcode::GetTupleElement) region.main = i;
      region.members.push_back(i);
      const auto users = users_.of(i);
      const auto is_elsewhere = [&](InstructionIndex user) { return region_of_[user] != region_of_[i]; };
      if (users.empty() || i == computation_.root || std::any_of(users.begin(), users.end(), is_elsewhere))
        region.outputs.push_back(i);
    }
    add_lone_copies(regions);
    return regions;
  }

  // What everyone would have a copy of, and nobody in a region has.
  void add_lone_copies(std::vector<Region>& regions) const {
    for (InstructionIndex i = 0; i < region_of_.size(); ++i) {
      if (!is_copied_[i] || roles_[i] == Role::Nothing) continue;
      const auto users = users_.of(i);
      const auto is_in_region = [&](InstructionIndex user) { return region_of_[user] != no_region; };
      if (std::none_of(users.begin(), users.end(), is_in_region)) regions.push_back({{i}, {i}, i});
    }
  }

  const Computation& computation_;
  int64_t largest_;
  Users users_;
  std::vector<InstructionIndex> order_;
  std::vector<uint32_t> region_of_;
  std::vector<bool> is_copied_;
  std::vector<Role> roles_;
  std::vector<int64_t> size_of_;  // by region
};

}  // namespace

std::vector<Region> grow_regions(const Computation& computation, int64_t largest, Planner& planner,
                                 const ComputationFacts& facts) {
  return Grower(computation, largest, planner, facts).grow();
}

}  // namespace sapper::isolate
