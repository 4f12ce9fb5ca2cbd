#include "inspect/kernel_view.h"

#include <algorithm>

#include "inspect/lanes.h"
#include "llo/frames.h"

namespace sapper::inspect {
namespace {

std::vector<std::optional<uint32_t>> uniform_bits(const KernelView& view) {
  std::vector<std::optional<uint32_t>> bits(view.words.size());
  for (size_t node = 0; node < bits.size(); ++node) {
    const std::vector<uint32_t>& words = view.words[node];
    if (!view.graph.nodes[node].constant || words.empty()) continue;
    if (std::ranges::all_of(words, [&](uint32_t word) { return word == words.front(); })) bits[node] = words.front();
  }
  return bits;
}

}  // namespace

Result<KernelView> view_of(const LloKernel& kernel, const eval::Options& evaluation, int64_t memory_bytes) {
  KernelView view;
  SAPPER_TRY(view.graph, graph_of(kernel.module));
  SAPPER_TRY(view.expected, expected_values(kernel.module, view.graph, kernel.operands, evaluation, memory_bytes,
                                            kBytesBesideElement));
  view.words.resize(view.expected.size());
  for (size_t node = 0; node < view.words.size(); ++node) {
    const hlo::Shape& shape = view.expected[node].shape();
    if (shape.is_array() && fits_lane(shape.element_type())) view.words[node] = lane_words(view.expected[node]);
  }
  view.sightings = find_sightings(view.graph, llo::frames_of(kernel.original), uniform_bits(view));
  if (&kernel.stage != &kernel.original) view.renamed = llo::renamed_values(kernel.original, kernel.stage);
  return view;
}

RunKernel runner_of(const LloKernel& kernel, const llo::Program& program, const llo::MachineOptions& machine) {
  return [&kernel, &program, machine](const KernelWatch& watch) {
    llo::MachineOptions options = machine;
    options.observer = watch.step;
    const hlo::Computation& entry = kernel.module.entry_computation();
    std::vector<hlo::Shape> shapes;
    for (const hlo::InstructionIndex parameter : entry.parameters())
      shapes.push_back(entry.instructions[parameter].shape);
    return llo::run_kernel(program, program.form == llo::Form::Ssa ? nullptr : &kernel.original, kernel.operands,
                           shapes, entry.root_instruction().shape, options, {}, watch.placed);
  };
}

}  // namespace sapper::inspect
