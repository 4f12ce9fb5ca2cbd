#include "inputs/ranges.h"

#include <algorithm>
#include <unordered_set>

#include "inputs/demand.h"
#include "inputs/estimate.h"
#include "inputs/natural.h"

namespace sapper::inputs {
namespace {

using hlo::Module;
using hlo::Shape;

class Analysis {
 public:
  explicit Analysis(const Module& module) : module_(module), program_(flatten(module)) {}

  Ranges run() {
    name_parameters();
    const std::vector<Estimate> expected = estimate(module_, program_, natural_estimates(), {});
    Demand demand(module_, program_, expected);
    demand.run();
    for (const Clash& clash : demand.needs().clashes())
      ranges_.conflicts.push_back(
          {program_.nodes[clash.node].instruction->name, reason(clash.kept), reason(clash.dropped)});
    for (Node n = 0; n < program_.parameters.size(); ++n) take(ranges_.parameters[n], demand.needs()[n]);
    confirm(demand, expected);
    return std::move(ranges_);
  }

 private:
  void name_parameters() {
    const hlo::Computation& entry = module_.entry_computation();
    terms_ = contracted_terms(program_);
    for (const hlo::InstructionIndex parameter : entry.parameters()) {
      const hlo::Instruction& instruction = entry.instructions[parameter];
      add_leaves(instruction, instruction.shape, "");
    }
  }

  void add_leaves(const hlo::Instruction& instruction, const Shape& shape, const std::string& position) {
    if (shape.is_tuple()) {
      for (size_t i = 0; i < shape.elements().size(); ++i)
        add_leaves(instruction, shape.elements()[i], fmt::format("{}{}{}", position, position.empty() ? "" : ",", i));
      return;
    }
    ParameterRange range;
    range.parameter = instruction.parameter_number;
    range.name = position.empty() ? instruction.name : fmt::format("{}{{{}}}", instruction.name, position);
    range.shape = shape;
    if (shape.is_array()) range.natural = natural_values(shape, terms_[ranges_.parameters.size()]);
    ranges_.parameters.push_back(std::move(range));
  }

  // The root mean square of numbers drawn over five binades, to their bound.
  static constexpr double typical_share = 0.4;

  [[nodiscard]] std::vector<Estimate> natural_estimates() const {
    std::vector<Estimate> estimates;
    for (const ParameterRange& range : ranges_.parameters)
      estimates.push_back(
          {{range.natural.low, range.natural.high}, typical_share * range.natural.high, range.shape.is_array()});
    return estimates;
  }

  [[nodiscard]] Reason reason(const Cause& cause) const {
    if (cause.node == no_node) return {};
    const FlatNode& node = program_.nodes[cause.node];
    if (cause.node < program_.parameters.size()) return {};  // its own type
    return {node.instruction->name, module_.computations[node.computation].name,
            std::string(to_string(node.instruction->opcode)), cause.because};
  }

  void take(ParameterRange& range, const Need& need) {
    if (!range.shape.is_array()) return;
    range.values = need.values;
    range.low = reason(need.low);
    range.high = reason(need.high);
    if (!need.is_proof) range.values.away = std::min(need.values.away, need.firm.away);
    if (range.values.away > 0) range.away = reason(need.is_proof ? need.away : need.firm_away);
    range.roles = need.roles;
    range.is_proof = need.is_proof;
    // What else is needed of a word with fields goes before them.
    const bool is_free = range.values.contains(finite_values(range.shape.element_type())) && range.values.away == 0;
    if (is_free) range.fields = need.fields;
    if (!is_free && !need.fields.empty()) range.is_proof = false;
    range.indexes =
        hlo::is_integer(range.shape.element_type()) &&
        (!range.fields.empty() || need.high.because == Because::Index || need.low.because == Because::Index);
    if (range.values.is_empty()) range.values.away = 0;
    if (hlo::is_integer(range.shape.element_type())) return;
    keep_useful(range, need);
    if (!range.is_proof) keep_everyday(range, need);
  }

  // Where no range is proven safe, everyday values have to do.
  void keep_everyday(ParameterRange& range, const Need& need) const {
    const Interval everyday{range.natural.low, range.natural.high};
    if (intersection(range.values, everyday).is_empty()) keep_firm(range, need);
    if (intersection(range.values, everyday).is_empty()) range.values.away = 0;
    if (intersection(range.values, everyday).is_empty()) range.values = everyday;
    const Interval both = intersection(range.values, everyday);
    if (both.low > range.values.low) range.low = {};
    if (both.high < range.values.high) range.high = {};
    range.values = both;
  }

  // Overflow that only numbers far below everyday ones would prevent is left to chance.
  void keep_useful(ParameterRange& range, const Need& need) const {
    constexpr double least_share = 0x1p-20;
    if (range.values.largest() >= range.natural.largest() * least_share) return;
    const Interval& firm = need.firm;
    if (firm.largest() < range.natural.largest() * least_share) return;
    keep_firm(range, need);
    range.is_proof = false;
  }

  void keep_firm(ParameterRange& range, const Need& need) const {
    range.values = need.firm;
    range.low = reason(need.firm_low);
    range.high = reason(need.firm_high);
    range.away = need.firm.away > 0 ? reason(need.firm_away) : Reason();
  }

  void confirm(const Demand& demand, const std::vector<Estimate>& expected) {
    std::vector<Interval> assured(program_.nodes.size());
    std::vector<bool> holds(program_.nodes.size());
    std::vector<Estimate> parameters;
    for (Node n = 0; n < program_.nodes.size(); ++n) {
      if (n < program_.parameters.size()) {
        const ParameterRange& range = ranges_.parameters[n];
        holds[n] = demand.needs()[n].values.contains(range.values);
        parameters.push_back({range.values, expected[n].size, expected[n].adjustable});
        continue;
      }
      holds[n] = demand.is_assured(n);
      for (const Node operand : program_.operands_of(program_.nodes[n]))
        if (operand != no_node && !holds[operand]) holds[n] = false;
      if (holds[n] && expected[n].adjustable) assured[n] = demand.needs()[n].values;
    }
    const std::vector<Estimate> found = estimate(module_, program_, parameters, assured);
    std::unordered_set<const hlo::Instruction*> seen;
    for (Node n = static_cast<Node>(program_.parameters.size()); n < found.size(); ++n)
      if (found[n].may_overflow || found[n].may_leave_domain)
        if (seen.insert(program_.nodes[n].instruction).second) doubt(program_.nodes[n], found[n].may_leave_domain);
    ranges_.doubtful = seen.size();
  }

  void doubt(const FlatNode& node, bool leaves_domain) {
    constexpr size_t most_doubts = 100;
    if (ranges_.doubts.size() < most_doubts)
      ranges_.doubts.push_back({node.instruction->name, module_.computations[node.computation].name,
                                std::string(to_string(node.instruction->opcode)), leaves_domain});
  }

  const Module& module_;
  FlatProgram program_;
  std::vector<double> terms_;  // contracted, of the parameters' leaves
  Ranges ranges_;
};

}  // namespace

Ranges safe_ranges(const Module& module) { return Analysis(module).run(); }

std::string_view to_string(Because because) {
  switch (because) {
    case Because::Overflow: return "overflow";
    case Because::Index: return "index";
    case Because::Domain: return "domain";
  }
  return "";
}

}  // namespace sapper::inputs
