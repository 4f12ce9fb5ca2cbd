#include "isolate/capture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace sapper::isolate {
namespace {

using hlo::Literal;

// An instruction whose value some pieces take: which leaves are wanted, and what they were.
struct Wanted {
  std::unordered_map<uint32_t, std::optional<Literal>> leaves;
  bool seen = false;
};

// By the names of computation and instruction: the evaluator may run a rewritten copy of the module.
struct Place {
  std::string_view computation;
  std::string_view instruction;
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  size_t operator()(const Place& place) const {
    const std::hash<std::string_view> hash;
    return hash(place.computation) * 31 + hash(place.instruction);
  }
};

class Capture {
 public:
  Capture(const hlo::Module& module, int64_t room) : module_(module), room_(room) {}

  void want(const Occurrence& occurrence) {
    for (const ValueRef& input : occurrence.inputs) wanted_[place(occurrence, input)].leaves[input.leaf];
  }

  void see(std::string_view computation, std::string_view instruction, const Literal& value) {
    const auto found = wanted_.find({computation, instruction});
    if (found == wanted_.end() || found->second.seen) return;
    found->second.seen = true;
    const std::vector<Literal> leaves = hlo::leaves(value);
    for (auto& [leaf, kept] : found->second.leaves) {
      const int64_t bytes = leaves[leaf].shape().host_byte_size();
      if (bytes > room_) continue;
      room_ -= bytes;
      kept = leaves[leaf];
    }
  }

  [[nodiscard]] std::optional<std::vector<Literal>> arguments(const Occurrence& occurrence) const {
    std::vector<Literal> arguments;
    for (const ValueRef& input : occurrence.inputs) {
      const std::optional<Literal>& value = wanted_.at(place(occurrence, input)).leaves.at(input.leaf);
      if (!value) return std::nullopt;
      arguments.push_back(*value);
    }
    return arguments;
  }

 private:
  [[nodiscard]] Place place(const Occurrence& occurrence, const ValueRef& value) const {
    const hlo::Computation& computation = module_.computations[occurrence.computation];
    return {computation.name, computation.instructions[value.instruction].name};
  }

  const hlo::Module& module_;
  int64_t room_;
  std::unordered_map<Place, Wanted, PlaceHash> wanted_;
};

}  // namespace

TensorSummary summarize(const Literal& array) {
  if (!array.shape().is_array()) return {};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double mean = 0;
  double squares = 0;  // of the deviations from the mean so far (Welford)
  int64_t count = 0;
  for (int64_t i = 0; i < array.element_count(); ++i) {
    const double value =
        hlo::is_complex(array.shape().element_type()) ? std::abs(array.complex_at(i)) : array.real_at(i);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    const double from_mean = value - mean;
    mean += from_mean / static_cast<double>(++count);
    squares += from_mean * (value - mean);
  }
  if (count == 0) return {};
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {narrow(low), narrow(high), narrow(mean), narrow(std::sqrt(squares / static_cast<double>(count)))};
}

Result<std::vector<std::optional<std::vector<Literal>>>> capture(const hlo::Module& module,
                                                                 std::span<const Literal> arguments,
                                                                 std::span<const Occurrence* const> occurrences,
                                                                 const CaptureOptions& options) {
  Capture capture(module, options.memory_bytes);
  for (const Occurrence* occurrence : occurrences) capture.want(*occurrence);
  const hlo::Computation& entry = module.entry_computation();
  for (size_t k = 0; k < arguments.size(); ++k)
    capture.see(entry.name, entry.instructions[entry.parameters()[k]].name, arguments[k]);
  eval::Options evaluation = options.evaluation;
  evaluation.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                         const Literal& value) { capture.see(computation.name, instruction.name, value); };
  SAPPER_TRY(const Literal result, eval::evaluate(module, arguments, evaluation));
  std::vector<std::optional<std::vector<Literal>>> captured;
  for (const Occurrence* occurrence : occurrences) captured.push_back(capture.arguments(*occurrence));
  return captured;
}

}  // namespace sapper::isolate
