#include "check/inputs_for.h"

#include <algorithm>
#include <filesystem>

#include "base/memory.h"
#include "hlo/fingerprint.h"
#include "inputs/npz.h"
#include "inputs/sampler.h"

namespace sapper::check {

namespace {

// Of one set of arguments; beyond `limit`, some number above it.
int64_t argument_bytes(const hlo::Module& module, int64_t limit) {
  int64_t bytes = 0;
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::InstructionIndex parameter : entry.parameters()) {
    bytes += std::min(entry.instructions[parameter].shape.host_byte_size(), limit + 1);
    if (bytes > limit) break;
  }
  return bytes;
}

Result<std::vector<InputSet>> sampled(const hlo::Module& module, const Sampling& sampling) {
  constexpr int64_t large_bytes = 16 << 20;
  const int seeds = sampling.seeds.value_or(argument_bytes(module, large_bytes) > large_bytes ? 1 : 3);
  const int64_t room = physical_memory_bytes() / 2 / std::max<int64_t>(1, seeds * std::ssize(sampling.kinds));
  if (argument_bytes(module, room) > room)
    return fail(ErrorKind::Resource, "the inputs would take more than half of the machine's memory ({} MiB)",
                physical_memory_bytes() >> 20);
  const inputs::Ranges ranges = inputs::safe_ranges(module);
  const hlo::Fingerprint fingerprint = hlo::fingerprint(module);
  const bool several = seeds > 1 || sampling.kinds.size() > 1;
  std::vector<InputSet> sets;
  for (const inputs::Kind kind : sampling.kinds)
    for (int i = 0; i < seeds; ++i) {
      const uint64_t seed = sampling.seed + static_cast<uint64_t>(i);
      SAPPER_TRY(std::vector<hlo::Literal> arguments, inputs::sample(module, ranges, fingerprint, seed, kind));
      const std::string name(inputs::to_string(kind));
      sets.push_back({several ? fmt::format("{}, seed {}", name, seed) : "", seed, name, std::move(arguments)});
    }
  return sets;
}

}  // namespace

Result<std::vector<InputSet>> inputs_for(const hlo::Module& module, const std::string& path, std::optional<int> only,
                                         const Sampling& sampling) {
  if (path.empty()) return sampled(module, sampling);
  std::vector<InputSet> sets;
  SAPPER_TRY(const inputs::Npz npz, inputs::read_npz(path));
  const hlo::Computation& entry = module.entry_computation();
  std::vector<hlo::Shape> shapes;
  for (const hlo::InstructionIndex parameter : entry.parameters())
    shapes.push_back(entry.instructions[parameter].shape);
  const auto has_set = [&](int set) {
    const std::string prefix = fmt::format("set{}_", set);
    const auto first = npz.lower_bound(prefix);
    return first != npz.end() && first->first.starts_with(prefix);
  };
  if (!has_set(0)) {
    if (only.value_or(0) != 0)
      return fail(ErrorKind::BadInput, "{}: has one input set only, not number {}", path, *only);
    SAPPER_TRY(std::vector<hlo::Literal> arguments, inputs::read_literals(npz, "in", shapes));
    sets.push_back({"", 0, "", std::move(arguments)});
    return sets;
  }
  for (int set = 0; has_set(set); ++set) {
    if (only && *only != set) continue;
    SAPPER_TRY(std::vector<hlo::Literal> arguments, inputs::read_literals(npz, fmt::format("set{}_in", set), shapes));
    sets.push_back({fmt::format("set{}", set), 0, "", std::move(arguments)});
  }
  if (sets.empty()) return fail(ErrorKind::BadInput, "{}: has no input set {}", path, only.value_or(0));
  return sets;
}

std::string inputs_path(const std::string& inputs, const std::string& module_path) {
  std::error_code error;
  if (inputs.empty() || !std::filesystem::is_directory(inputs, error)) return inputs;
  std::string stem = std::filesystem::path(module_path).filename();
  for (const std::string_view ending : {".zst", ".txt", ".pb", ".hlo"})
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  return std::filesystem::path(inputs) / (stem + ".npz");
}

}  // namespace sapper::check
