#include "tests/inspect/wrong_kernels.h"

#include <algorithm>
#include <map>

#include "inspect/kernel_view.h"
#include "numerics/compare.h"

namespace sapper::inspect {
namespace {

// Of what each number was, execution by execution; defined bits only.
using Trail = std::map<uint32_t, std::vector<uint64_t>>;

struct Run {
  Trail trail;
  hlo::Literal output;
};

uint64_t hash_of(const llo::Machine& machine, llo::Slot slot) {
  const llo::Vreg* undefined = machine.vector_undefined(slot);
  const llo::Vreg& value = machine.vector(slot);
  uint64_t hash = 0x243f6a8885a308d3U;
  for (int i = 0; i < llo::kVregWords; ++i) {
    hash = (hash ^ (undefined == nullptr ? value.word[i] : value.word[i] & ~undefined->word[i])) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  }
  return hash;
}

Result<Run> follow(const KernelCase& kernel, const llo::Program& program, const LloInspectionOptions& options) {
  Run run;
  const LloKernel at_end = kernel.at_end();
  SAPPER_TRY(llo::KernelRun done,
             runner_of(at_end, program, options.machine)({.step = [&](const llo::Step& step, llo::Machine& at) {
               if (step.kind != llo::StepKind::Instruction || step.result == llo::kNoSlot) return;
               if (step.bank != llo::Bank::Vector && step.bank != llo::Bank::Mask) return;
               run.trail[at.instruction(step).result.number].push_back(hash_of(at, step.result));
             }}));
  run.output = std::move(done.output);
  return run;
}

// Whether one of `others` is before `node` in the graph.
bool follows(const KernelGraph& graph, NodeIndex node, const std::set<NodeIndex>& others) {
  std::vector<bool> reached(graph.nodes.size(), false);
  std::vector<NodeIndex> open{node};
  while (!open.empty()) {
    const NodeIndex at = open.back();
    open.pop_back();
    for (const NodeIndex operand : graph.nodes[at].operands) {
      if (reached[operand]) continue;
      if (others.contains(operand)) return true;
      reached[operand] = true;
      open.push_back(operand);
    }
  }
  return false;
}

std::set<NodeIndex> changed_roots(const KernelGraph& graph, const hlo::Literal& right, const hlo::Literal& wrong) {
  const std::vector<hlo::Literal> a = hlo::leaves(right);
  const std::vector<hlo::Literal> b = hlo::leaves(wrong);
  std::set<NodeIndex> changed;
  size_t leaf = 0;
  for (const NodeIndex root : graph.roots)
    for (uint32_t k = hlo::leaf_count(graph.nodes[root].it->shape); k > 0; --k, ++leaf)
      if (!numerics::same_bits(a[leaf], b[leaf], numerics::Alike::FlushedSubnormals)) changed.insert(root);
  return changed;
}

}  // namespace

Result<std::set<std::string>> first_changed(const KernelCase& kernel, const llo::Program& wrong,
                                            const LloInspectionOptions& options) {
  const LloKernel at_end = kernel.at_end();
  SAPPER_TRY(const KernelView view, view_of(at_end, options.evaluation, options.memory_bytes));
  const KernelGraph& graph = view.graph;
  SAPPER_TRY(const Run right_run, follow(kernel, kernel.final, options));
  SAPPER_TRY(const Run wrong_run, follow(kernel, wrong, options));
  if (numerics::same_bits(right_run.output, wrong_run.output, numerics::Alike::FlushedSubnormals))
    return std::set<std::string>();
  check::Judge judge(kernel.module, kernel.operands, options.evaluation, std::nullopt, options.policy);
  SAPPER_CHECKED(judge.prepare());
  if (judge.judge(wrong_run.output, check::Origin::Device).verdict != check::Verdict::Mismatch)
    return std::set<std::string>();

  std::multimap<uint32_t, NodeIndex> nodes_of;
  for (const Sighting& sighting : view.sightings.all) nodes_of.emplace(sighting.number, sighting.node);

  Probe probe(graph, view.sightings, view.words, view.renamed);  // of the right kernel
  SAPPER_TRY(const llo::KernelRun surveyed, probe.survey(runner_of(at_end, kernel.final, options.machine)));
  std::set<NodeIndex> changed = changed_roots(graph, right_run.output, wrong_run.output);
  for (const auto& [number, hashes] : right_run.trail) {
    const auto other = wrong_run.trail.find(number);
    if (other != wrong_run.trail.end() && other->second == hashes) continue;
    const auto old = view.renamed.certain.find(number);
    const auto [first, last] = nodes_of.equal_range(old == view.renamed.certain.end() ? number : old->second);
    for (auto node = first; node != last; ++node)
      if (old == view.renamed.certain.end() || probe.matched(number, node->second)) changed.insert(node->second);
  }
  std::set<std::string> names;
  for (const NodeIndex node : changed)
    if (!follows(graph, node, changed)) names.insert(graph.nodes[node].it->name);
  return names;
}

}  // namespace sapper::inspect
