#include "isolate/cut.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hlo/verifier.h"
#include "isolate/builder.h"
#include "isolate/canonical.h"
#include "isolate/cost.h"
#include "isolate/plan.h"
#include "isolate/reach.h"
#include "isolate/regions.h"
#include "isolate/roles.h"
#include "isolate/single_device.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// A piece holds a copy of all that it calls: of larger computations, thousands of callers could not each have one.
constexpr int64_t most_called = 1 << 18;

constexpr std::string_view collective = "exchanges data between devices, which on one is to do nothing";

struct HashOf {
  size_t operator()(const hlo::Hash& hash) const { return hash.low; }
};

// What became of a plan: a piece, and how the plan's inputs and outputs are numbered in it; or why there is none.
struct Made {
  size_t piece = 0;
  std::vector<uint32_t> parameters;       // parameter k is input parameters[k]
  std::vector<uint32_t> result_elements;  // leaf k of the result is output result_elements[k]
  std::string problem;
};

class Cutter {
 public:
  Cutter(const Module& module, const CutOptions& options)
      : module_(module),
        options_(options),
        facts_(gather_facts(module)),
        fates_(options.largest_constant_bytes),
        planner_(module, facts_, fates_),
        builder_(module, facts_, fates_),
        reach_(module) {}

  Cut run() {
    std::vector<bool> is_reached(module_.computations.size());
    for (size_t c = module_.computations.size(); c-- > 0;) {
      const Computation& computation = module_.computations[c];
      const auto size = static_cast<int64_t>(computation.instructions.size());
      cut_.coverage.instructions += size;
      const bool is_entered = reach_.executions(static_cast<ComputationIndex>(c)) > 0;
      if (is_entered) {
        enter(static_cast<ComputationIndex>(c));
      } else {
        (is_reached[c] ? cut_.coverage.called : cut_.coverage.unreached) += size;
      }
      if (!is_entered && !is_reached[c]) continue;
      for (const Instruction& instruction : computation.instructions)
        for (const ComputationIndex called : instruction.called) is_reached[called] = true;
    }
    return std::move(cut_);
  }

 private:
  void enter(ComputationIndex c) {
    index_ = c;
    computation_ = &module_.computations[c];
    planner_.enter(c);
    fate_.assign(computation_->instructions.size(), Fate::Nothing);
    if (!cut_whole()) cut_apart();
    for (const Fate fate : fate_) {
      if (fate == Fate::InPiece) ++cut_.coverage.in_pieces;
      if (fate == Fate::Nothing) ++cut_.coverage.nothing;
    }
  }

  // The computation as one piece, where it is small.
  bool cut_whole() {
    const ComputationFacts& facts = facts_[index_];
    if (options_.granularity != Granularity::Computation || facts.instructions > options_.largest_computation ||
        !facts.problem.empty())
      return false;
    std::vector<InstructionIndex> members;
    bool does_something = false;
    for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i) {
      if (at(i).opcode != Opcode::Parameter) members.push_back(i);
      const Role role = role_of(*computation_, at(i));
      does_something |= role == Role::Light || role == Role::Heavy || role == Role::Control;
    }
    return does_something && add(members, std::array{computation_->root}, computation_->root).empty();
  }

  void cut_apart() {
    for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i) {
      const bool is_opened = options_.granularity == Granularity::Op && at(i).opcode == Opcode::Fusion;
      if ((runs_called(at(i).opcode) && !cut_control(i)) || is_opened) reach_.enter_called(index_, at(i));
    }
    if (options_.granularity == Granularity::Region || options_.granularity == Granularity::Computation) {
      for (const Region& region : grow_regions(*computation_, options_.largest_region, planner_, facts_[index_]))
        add_or_skip(region.members, region.outputs, region.main);
    } else {
      cut_instructions();
    }
    skip_rest();
  }

  // A loop or conditional that is small with all that it calls is a piece.
  bool cut_control(InstructionIndex i) {
    if (options_.granularity != Granularity::Computation) return false;
    if (at(i).opcode != Opcode::While && at(i).opcode != Opcode::Conditional) return false;
    int64_t instructions = 1;
    for (const ComputationIndex called : at(i).called) {
      if (!facts_[called].problem.empty()) return false;
      instructions = std::min(instructions, options_.largest_computation) + facts_[called].instructions;
    }
    return instructions <= options_.largest_computation && add(std::array{i}, std::array{i}, i).empty();
  }

  void cut_instructions() {
    for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i) {
      const Role role = role_of(*computation_, at(i));
      if (role != Role::Light && role != Role::Heavy) continue;
      if (options_.granularity == Granularity::Op && at(i).opcode == Opcode::Fusion) continue;
      add_or_skip(std::array{i}, std::array{i}, i);
    }
  }

  void skip_rest() {
    for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i) {
      if (fate_[i] != Fate::Nothing) continue;
      const Role role = role_of(*computation_, at(i));
      if (role == Role::Outside) skip(i, std::string(outside_reason(at(i))));
      if (role == Role::Collective) skip(i, std::string(collective));
    }
  }

  void skip(InstructionIndex i, std::string reason) {
    fate_[i] = Fate::Skipped;
    cut_.coverage.skipped.push_back({.computation = index_, .instruction = i, .reason = std::move(reason)});
  }

  void add_or_skip(std::span<const InstructionIndex> members, std::span<const InstructionIndex> outputs,
                   InstructionIndex main) {
    const std::string problem = add(members, outputs, main);
    if (problem.empty()) return;
    for (const InstructionIndex member : members)
      if (role_of(*computation_, at(member)) != Role::Nothing) skip(member, problem);
  }

  // The piece of these members, or a further occurrence of it. Returns why there can be none.
  std::string add(std::span<const InstructionIndex> members, std::span<const InstructionIndex> outputs,
                  InstructionIndex main) {
    if (std::ranges::all_of(outputs, [&](InstructionIndex i) { return is_empty(at(i).shape); })) return {};
    const Plan& plan = planner_.plan(members, outputs);
    if (!plan.problem.empty()) return std::string(plan.problem);
    for (const InstructionIndex member : members)
      if (const std::string_view problem = problem_of_called(member); !problem.empty()) return std::string(problem);
    const auto [made, is_new] = made_.try_emplace(planner_.hash(plan));
    if (is_new) made->second = make(plan);
    if (!made->second.problem.empty()) return made->second.problem;
    add_occurrence(made->second, plan, main);
    for (const InstructionIndex member : members) fate_[member] = Fate::InPiece;
    for (const PlanNode& node : plan.nodes)
      if (node.what == PlanNode::What::Copy || node.what == PlanNode::What::Splat)
        fate_[node.instruction] = Fate::InPiece;
    return {};
  }

  // What keeps the computations that `member` calls out of pieces.
  [[nodiscard]] std::string_view problem_of_called(InstructionIndex member) const {
    for (const ComputationIndex called : at(member).called) {
      if (!facts_[called].problem.empty()) return facts_[called].problem;
      if (facts_[called].instructions > most_called) return "calls more instructions than a piece may hold";
    }
    return {};
  }

  [[nodiscard]] static bool is_empty(const hlo::Shape& shape) {
    bool is_empty = true;
    hlo::for_each_leaf(shape,
                       [&](const hlo::Shape& leaf) { is_empty &= leaf.is_array() && leaf.element_count() == 0; });
    return is_empty;
  }

  Made make(const Plan& plan) {
    Canonical canonical = canonicalize(builder_.build(index_, plan));
    if (const Status legal = hlo::verify(canonical.module); !legal)
      return {.problem = "makes no legal module: " + legal.error().describe()};
    Made made{.parameters = std::move(canonical.parameters), .result_elements = std::move(canonical.result_elements)};
    if (made.result_elements.empty()) {
      made.result_elements.resize(plan.outputs.size());
      std::iota(made.result_elements.begin(), made.result_elements.end(), 0);
    }
    const auto [known, is_new] = pieces_.try_emplace(canonical.fingerprint, cut_.pieces.size());
    made.piece = known->second;
    if (!is_new) return made;
    const Weight weight = weigh(canonical.module);
    Piece& piece = cut_.pieces.emplace_back();
    piece.module = std::move(canonical.module);
    piece.module.name = "piece_" + canonical.fingerprint.substr(0, 12);
    piece.fingerprint = std::move(canonical.fingerprint);
    piece.kind = weight.kind;
    piece.cost = weight.cycles;
    return made;
  }

  void add_occurrence(const Made& made, const Plan& plan, InstructionIndex main) {
    Occurrence& occurrence = cut_.pieces[made.piece].occurrences.emplace_back();
    occurrence.computation = index_;
    occurrence.instruction = main;
    occurrence.executions = reach_.executions(index_);
    for (const uint32_t input : made.parameters) occurrence.inputs.push_back(plan.inputs[input]);
    for (const uint32_t output : made.result_elements) occurrence.outputs.push_back(plan.outputs[output]);
    for (uint32_t k = 0; k < made.parameters.size(); ++k) {
      if (std::ranges::find(plan.constants, made.parameters[k]) == plan.constants.end()) continue;
      const hlo::Literal* literal = at(plan.inputs[made.parameters[k]].instruction).literal.get();
      const auto [known, is_new] = statistics_.try_emplace(literal);
      if (is_new) known->second = statistics(*literal);
      occurrence.constants.push_back(known->second);
      occurrence.constants.back().parameter = k;
    }
  }

  [[nodiscard]] const Instruction& at(InstructionIndex i) const { return computation_->instructions[i]; }

  enum class Fate : uint8_t { Nothing, InPiece, Skipped };

  const Module& module_;
  const CutOptions& options_;
  std::vector<ComputationFacts> facts_;
  ConstantFates fates_;
  Planner planner_;
  Builder builder_;
  Reach reach_;
  Cut cut_;
  std::unordered_map<hlo::Hash, Made, HashOf> made_;  // by the hash of the plan
  std::unordered_map<std::string, size_t> pieces_;    // by fingerprint
  std::unordered_map<const hlo::Literal*, ConstantStatistics> statistics_;
  // Of the computation that is being cut.
  ComputationIndex index_ = 0;
  const Computation* computation_ = nullptr;
  std::vector<Fate> fate_;
};

constexpr std::array granularities = {
    std::pair{Granularity::Op, std::string_view("op")},
    std::pair{Granularity::Fusion, std::string_view("fusion")},
    std::pair{Granularity::Region, std::string_view("region")},
    std::pair{Granularity::Computation, std::string_view("computation")},
};

}  // namespace

std::string_view to_string(Granularity granularity) {
  return std::ranges::find(granularities, granularity, &std::pair<Granularity, std::string_view>::first)->second;
}

Result<Granularity> parse_granularity(std::string_view name) {
  for (const auto& [granularity, text] : granularities)
    if (name == text) return granularity;
  return fail(ErrorKind::BadInput, "granularity '{}' is none of op, fusion, region, computation", name);
}

std::map<std::string, int64_t> Coverage::skipped_by_reason() const {
  std::map<std::string, int64_t> counts;
  for (const Skipped& one : skipped) ++counts[one.reason];
  return counts;
}

Cut cut(const Module& module, const CutOptions& options) { return Cutter(module, options).run(); }

void merge(Cut& all, Cut more, uint32_t module) {
  std::unordered_map<std::string_view, size_t> known;
  all.pieces.reserve(all.pieces.size() + more.pieces.size());  // the views stay valid
  for (size_t k = 0; k < all.pieces.size(); ++k) known.emplace(all.pieces[k].fingerprint, k);
  for (Piece& piece : more.pieces) {
    for (Occurrence& occurrence : piece.occurrences) occurrence.module = module;
    if (const auto at = known.find(piece.fingerprint); at != known.end()) {
      auto& occurrences = all.pieces[at->second].occurrences;
      std::ranges::move(piece.occurrences, std::back_inserter(occurrences));
    } else {
      all.pieces.push_back(std::move(piece));
    }
  }
  Coverage& coverage = all.coverage;
  coverage.instructions += more.coverage.instructions;
  coverage.in_pieces += more.coverage.in_pieces;
  coverage.called += more.coverage.called;
  coverage.nothing += more.coverage.nothing;
  coverage.unreached += more.coverage.unreached;
  for (Skipped& skipped : more.coverage.skipped) {
    skipped.module = module;
    coverage.skipped.push_back(std::move(skipped));
  }
}

}  // namespace sapper::isolate
