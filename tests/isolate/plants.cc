#include "tests/isolate/plants.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/evaluator.h"
#include "hlo/fingerprint.h"
#include "inputs/sampler.h"
#include "numerics/compare.h"
#include "tests/check/hlo_mutants.h"

namespace sapper::isolate {
namespace {

bool far_apart(const hlo::Literal& a, const hlo::Literal& b) {
  const std::vector<hlo::Literal> left = hlo::leaves(a);
  const std::vector<hlo::Literal> right = hlo::leaves(b);
  for (size_t k = 0; k < left.size(); ++k) {
    if (!left[k].shape().is_array()) continue;
    const numerics::Difference difference = numerics::compare(left[k], right[k], {.relative = 0.5, .scaled = 1e-2});
    if (difference.mismatches > 0) return true;
  }
  return false;
}

bool in_entry(const hlo::Module& module, const std::string& instruction) {
  return std::ranges::any_of(module.entry_computation().instructions,
                             [&](const hlo::Instruction& it) { return it.name == instruction; });
}

std::vector<Plant> plants_in(const Piece& piece) {
  std::vector<Plant> plants;
  const auto inputs = inputs::sample(piece.module, hlo::fingerprint(piece.module), 0);
  if (!inputs) return plants;
  const eval::Options options{.time_limit_seconds = 10};
  const auto right = eval::evaluate(piece.module, *inputs, options);
  if (!right) return plants;
  for (const check::HloMutant& mutant : check::mutants_of(piece.module, 1)) {
    // A reducer that is not associative any more means what the compiler's order makes of it, be it the right sum.
    if (!in_entry(piece.module, mutant.instruction)) continue;
    const auto wrong = eval::evaluate(mutant.module, *inputs, options);
    if (wrong && far_apart(*right, *wrong))
      plants.push_back({piece.fingerprint, std::string(mutant.kind), mutant.instruction});
  }
  return plants;
}

}  // namespace

std::vector<Plant> choose_plants(const std::vector<Piece>& pieces, size_t most) {
  std::vector<Plant> chosen;
  const size_t step = std::max<size_t>(1, pieces.size() / (2 * most));
  for (size_t i = 0; i < pieces.size() && chosen.size() < most; i += step) {
    const std::vector<Plant> plants = plants_in(pieces[i]);
    if (!plants.empty()) chosen.push_back(plants[chosen.size() % plants.size()]);  // another kind each time
  }
  return chosen;
}

std::string plants_text(const std::vector<Plant>& plants) {
  std::string text;
  for (const Plant& plant : plants) text += fmt::format("{}={},", plant.fingerprint, plant.kind);
  return text;
}

}  // namespace sapper::isolate
