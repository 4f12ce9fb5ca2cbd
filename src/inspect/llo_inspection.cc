#include "inspect/llo_inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/stopwatch.h"
#include "check/open_elements.h"
#include "inspect/assess.h"
#include "inspect/kernel_graph.h"
#include "inspect/probe.h"
#include "inspect/sightings.h"
#include "llo/frames.h"
#include "llo/kernel.h"
#include "llo/renamed.h"
#include "numerics/compare.h"

namespace sapper::inspect {
namespace {

using hlo::Literal;

class LloInspector {
 public:
  LloInspector(const LloKernel& kernel, const LloInspectionOptions& options) : kernel_(kernel), options_(options) {}

  Result<Inspection> run() {
    const Stopwatch stopwatch;
    SAPPER_TRY(view_, view_of(kernel_, options_.evaluation, options_.memory_bytes));
    note_left_out();
    const RunKernel run_stage = runner_of(kernel_, kernel_.stage, options_.machine);
    Probe probe(view_.graph, view_.sightings, view_.words, view_.renamed);
    SAPPER_TRY(const llo::KernelRun surveyed, probe.survey(run_stage));
    SAPPER_CHECKED(judge_results(surveyed));
    if (!results_agree_ && &kernel_.stage != &kernel_.original) {
      Probe first(view_.graph, view_.sightings, view_.words);
      if (first.survey(runner_of(kernel_, kernel_.original, options_.machine))) probe.adopt(first);
    }
    SAPPER_TRY(const llo::KernelRun read, probe.read(run_stage, results_agree_));
    inspection_.steps = read.steps;
    const std::vector<Assessment> assessments =
        assess({kernel_.module, view_.graph, kernel_.operands, view_.expected, probe.observations(), results_,
                results_agree_, options_.policy, options_.evaluation});
    inspection_.stage = kernel_.stage_name;
    inspection_.kernel = kernel_.module.entry_computation().root_instruction().name;
    inspection_.module = kernel_.module;
    write_code();
    for (NodeIndex node = 0; node < view_.graph.nodes.size(); ++node) write(node, assessments[node], probe);
    SAPPER_CHECKED(write_divergence(probe));
    write_fusions();
    inspection_.seconds = stopwatch.seconds();
    return std::move(inspection_);
  }

 private:
  Status judge_results(const llo::KernelRun& run) {
    SAPPER_CHECKED(collect_results(run.output));
    for (size_t k = 0; k < results_.size(); ++k) {
      const Literal& wanted = view_.expected[view_.graph.roots[k]];
      const std::vector<Literal> ours = hlo::leaves(results_[k]);
      for (const Literal& leaf : ours) inspection_.output_elements += leaf.element_count();
      if (!wanted.shape().is_valid() || numerics::same_bits(results_[k], wanted, numerics::Alike::FlushedSubnormals))
        continue;
      const std::vector<Literal> theirs = hlo::leaves(wanted);
      for (size_t leaf = 0; leaf < ours.size(); ++leaf)
        if (ours[leaf].shape().is_array())
          inspection_.output_differing += numerics::compare(ours[leaf], theirs[leaf], {}).mismatches;
    }
    for (const llo::Finding& finding : run.findings) write_finding(finding);
    if (inspection_.output_differing == 0) return {};
    check::Judge judge(kernel_.module, kernel_.operands, options_.evaluation, std::nullopt, options_.policy);
    SAPPER_CHECKED(judge.prepare());
    const llo::Elements open =
        check::open_elements(kernel_.module, kernel_.operands, judge.reference(), options_.evaluation);
    const check::Judgement judgement =
        judge.judge(check::closed(run.output, judge.reference(), open), check::Origin::Device);
    results_agree_ = judgement.verdict != check::Verdict::Mismatch;
    inspection_.notes.push_back(fmt::format("results: {}", check::to_string(judgement.verdict)));
    return {};
  }

  void note_left_out() {
    int64_t bytes = 0;
    size_t count = 0;
    for (NodeIndex node = 0; node < view_.graph.nodes.size(); ++node) {
      const hlo::Shape& shape = view_.graph.nodes[node].it->shape;
      if (!shape.is_array()) continue;
      bytes += shape.host_byte_size() + shape.element_count() * kBytesBesideElement;
      count += view_.expected[node].shape().is_valid() ? 0 : 1;
    }
    if (count > 0 && bytes > options_.memory_bytes)
      inspection_.notes.push_back(fmt::format(
          "{} instructions were not looked for: their values, with those before them, take more than {} bytes", count,
          options_.memory_bytes));
  }

  // One value a root: the leaves of one that is a tuple itself together.
  Status collect_results(const Literal& output) {
    const std::vector<Literal> leaves = hlo::leaves(output);
    size_t next = 0;
    for (const NodeIndex root : view_.graph.roots) {
      const hlo::Shape& shape = view_.graph.nodes[root].it->shape;
      const size_t count = hlo::leaf_count(shape);
      if (next + count > leaves.size())
        return fail(ErrorKind::Internal, "the kernel has fewer results than its HLO, which has {}", shape.to_text());
      const std::vector<Literal> own(leaves.begin() + static_cast<int64_t>(next),
                                     leaves.begin() + static_cast<int64_t>(next + count));
      results_.push_back(shape.is_tuple() ? Literal::tuple(own) : own.front());
      next += count;
    }
    return {};
  }

  void write_finding(const llo::Finding& finding) {
    std::string where;
    if (finding.instruction < kernel_.stage.instructions.size())
      where = fmt::format("line {}: ", kernel_.stage.instructions[finding.instruction].line);
    inspection_.notes.push_back(fmt::format("{}{}: {}", where, llo::to_string(finding.kind), finding.message));
  }

  void write_code() {
    std::unordered_map<uint32_t, NodeIndex> made_for;  // by the number of the value
    for (const Sighting& sighting : view_.sightings.all) made_for.emplace(sighting.number, sighting.node);
    for (const EmittedCode& code : view_.sightings.code)
      for (llo::InstructionIndex i = code.first; i < code.end; ++i)
        made_for[kernel_.original.instructions[i].result.number] = code.node;
    for (const llo::Instruction& instruction : kernel_.stage.instructions) {
      CodeLine line{.text = llo::text_of(kernel_.stage, instruction)};
      if (instruction.bundle < kernel_.stage.bundles.size())
        line.address = fmt::format("{:#x}", kernel_.stage.bundles[instruction.bundle].address);
      const auto old = view_.renamed.certain.find(instruction.result.number);
      const uint32_t number = old == view_.renamed.certain.end() ? instruction.result.number : old->second;
      if (const auto node = made_for.find(number); node != made_for.end())
        line.hlo_instruction = view_.graph.nodes[node->second].it->name;
      inspection_.code.push_back(std::move(line));
    }
  }

  // What the kernel made of a node that is one of its results; null: it is none.
  [[nodiscard]] const Literal* result_of(NodeIndex node) const {
    const auto root = std::ranges::find(view_.graph.roots, node);
    return root == view_.graph.roots.end() ? nullptr : &results_[static_cast<size_t>(root - view_.graph.roots.begin())];
  }

  void write(NodeIndex node, const Assessment& assessment, const Probe& probe) {
    const Node& from = view_.graph.nodes[node];
    const Observation& observation = probe.observations()[node];
    InspectedInstruction to{.computation = from.computation, .instruction = from.instruction};
    to.standing = assessment.standing;
    to.liberty = assessment.liberty;
    to.reason = assessment.reason;
    to.elements = from.it->shape.element_count();
    const Literal& expected = view_.expected[node];
    if (expected.shape().is_array()) to.expected = isolate::summarize(expected);
    if (assessment.standing == Standing::Folded) return inspection_.instructions.push_back(std::move(to));
    for (const Observation::Point& point : observation.points)
      to.probes.push_back({point.instruction, llo::to_string(kernel_.stage.instructions[point.instruction].result),
                           point.executions, point.elements, point.by_value});
    if (const Literal* result = result_of(node); result != nullptr && expected.shape().is_valid()) {
      write_result(*result, expected, to);
    } else if (!observation.seen.empty()) {
      write_values(observation.got.empty() ? expected : array_of_lanes(from.it->shape, observation.got), expected,
                   observation.seen, to);
    }
    inspection_.instructions.push_back(std::move(to));
  }

  // Of a tuple the first array that differs.
  static void write_result(const Literal& got, const Literal& expected, InspectedInstruction& to) {
    const std::vector<Literal> ours = hlo::leaves(got);
    const std::vector<Literal> wanted = hlo::leaves(expected);
    for (size_t leaf = 0; leaf < ours.size() && to.differing == 0; ++leaf) {
      if (!ours[leaf].shape().is_array()) continue;
      to.elements = wanted[leaf].element_count();
      to.expected = isolate::summarize(wanted[leaf]);
      write_values(ours[leaf], wanted[leaf], {}, to);
    }
  }

  // `seen` empty: all elements.
  static void write_values(const Literal& got, const Literal& expected, const std::vector<uint8_t>& seen,
                           InspectedInstruction& to) {
    const int64_t elements = expected.element_count();
    std::vector<int64_t> places;
    for (int64_t i = 0; i < elements; ++i)
      if (seen.empty() || seen[static_cast<size_t>(i)] != 0) places.push_back(i);
    to.seen = std::ssize(places);
    Literal read(hlo::Shape::array(hlo::ElementType::F64, {to.seen}));
    const auto numbers = read.mutable_data<double>();
    const bool real = !hlo::is_complex(expected.shape().element_type());
    double worst = -1;
    for (size_t k = 0; k < places.size(); ++k) {
      const int64_t i = places[k];
      const double ours = real ? got.real_at(i) : std::abs(got.complex_at(i));
      const double wanted = real ? expected.real_at(i) : std::abs(expected.complex_at(i));
      numbers[k] = ours;
      if (ours == wanted || (std::isnan(ours) && std::isnan(wanted))) continue;
      ++to.differing;
      const double absolute = std::abs(ours - wanted);
      const double relative = wanted == 0 || !std::isfinite(absolute) ? std::numeric_limits<double>::infinity()
                                                                      : absolute / std::abs(wanted);
      if (std::isfinite(absolute)) to.max_absolute = std::max(to.max_absolute, absolute);
      if (std::isfinite(relative)) to.max_relative = std::max(to.max_relative, relative);
      const std::vector<int64_t> index = index_of(expected.shape(), i);
      widen_box(index, to);
      if (relative > worst || (relative == worst && absolute > std::abs(to.worst->got - to.worst->expected))) {
        worst = relative;
        to.worst = DifferingElement{.index = index, .got = ours, .expected = wanted};
      }
    }
    to.got = isolate::summarize(read);
  }

  static std::vector<int64_t> index_of(const hlo::Shape& shape, int64_t element) {
    std::vector<int64_t> index(shape.rank());
    for (size_t i = index.size(); i-- > 0; element /= shape.dimension(i)) index[i] = element % shape.dimension(i);
    return index;
  }

  static void widen_box(const std::vector<int64_t>& index, InspectedInstruction& to) {
    if (to.box_low.empty()) to.box_low = to.box_high = index;
    for (size_t i = 0; i < index.size(); ++i) {
      to.box_low[i] = std::min(to.box_low[i], index[i]);
      to.box_high[i] = std::max(to.box_high[i], index[i]);
    }
  }

  // The first divergence, where it was read, and the values around it; without one those around the first liberty.
  Status write_divergence(Probe& probe) {
    auto& all = inspection_.instructions;
    const auto first = std::ranges::find(all, Standing::Diverges, &InspectedInstruction::standing);
    if (first == all.end()) {
      const auto liberty = std::ranges::find(all, Standing::Explained, &InspectedInstruction::standing);
      if (liberty != all.end()) keep_window(static_cast<size_t>(liberty - all.begin()), probe);
      return {};
    }
    const auto node = static_cast<size_t>(first - all.begin());
    inspection_.first_divergence = node;
    if (first->worst && first->worst->index.size() == view_.graph.nodes[node].it->shape.rank()) {
      int64_t element = 0;
      for (size_t i = 0; i < first->worst->index.size(); ++i)
        element = element * view_.graph.nodes[node].it->shape.dimension(i) + first->worst->index[i];
      SAPPER_TRY(const auto reading, probe.locate(runner_of(kernel_, kernel_.stage, options_.machine),
                                                  static_cast<NodeIndex>(node), element));
      if (reading) {
        first->worst->line = reading->instruction;
        first->worst->reg = llo::to_string(kernel_.stage.instructions[reading->instruction].result);
        first->worst->lane = reading->lane;
        first->worst->execution = reading->execution;
      }
    }
    keep_window(node, probe);
    return {};
  }

  void keep_window(size_t node, const Probe& probe) {
    const auto low = node - std::min<size_t>(node, static_cast<size_t>(options_.window));
    const size_t high = std::min(inspection_.instructions.size(), node + static_cast<size_t>(options_.window) + 1);
    for (size_t i = low; i < high; ++i) keep_values(static_cast<NodeIndex>(i), probe.observations()[i]);
  }

  void keep_values(NodeIndex node, const Observation& observation) {
    InspectedInstruction& to = inspection_.instructions[node];
    if (!view_.expected[node].shape().is_array()) return;
    to.expected_value = view_.expected[node];
    if (const Literal* result = result_of(node)) {
      to.got_value = *result;
    } else if (!observation.seen.empty()) {
      to.got_value = observation.got.empty() ? view_.expected[node]
                                             : array_of_lanes(view_.graph.nodes[node].it->shape, observation.got);
      to.seen_elements.assign(observation.seen.begin(), observation.seen.end());
    }
  }

  // Fusions within stand where their roots stand.
  void write_fusions() {
    for (const Alias& alias : view_.graph.aliases) {
      const hlo::Instruction& it = kernel_.module.computations[alias.computation].instructions[alias.instruction];
      if (it.opcode != hlo::Opcode::Fusion || alias.computation == kernel_.module.entry) continue;
      InspectedInstruction fusion = inspection_.instructions[alias.node];
      fusion.computation = alias.computation;
      fusion.instruction = alias.instruction;
      fusion.expected_value.reset();
      fusion.got_value.reset();
      fusion.seen_elements.clear();
      inspection_.instructions.push_back(std::move(fusion));
    }
  }

  const LloKernel& kernel_;
  const LloInspectionOptions& options_;
  KernelView view_;
  std::vector<Literal> results_;
  bool results_agree_ = true;
  Inspection inspection_;
};

}  // namespace

Result<Inspection> inspect_llo(const LloKernel& kernel, const LloInspectionOptions& options) {
  return LloInspector(kernel, options).run();
}

}  // namespace sapper::inspect
