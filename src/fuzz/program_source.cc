#include "fuzz/program_source.h"

#include "isolate/piece.h"

namespace sapper::fuzz {

namespace {

constexpr uint32_t near_kept_ones = 30;  // percent

}  // namespace

Result<Program> ProgramSource::make(size_t skeleton, Choices choices) const {
  if (templates_.empty()) return generate(grammar_, std::move(choices));
  return instantiate(templates_[skeleton], grammar_, std::move(choices));
}

Result<Candidate> ProgramSource::next() {
  const int64_t number = next_number();
  const uint64_t seed = mixed(seed_, static_cast<uint64_t>(number));
  Choices how(mixed(seed, 1));
  size_t skeleton = templates_.empty() ? 0 : static_cast<size_t>(made_) % templates_.size();
  ++made_;
  Choices choices(seed);
  if (!kept_.empty() && how.chance(near_kept_ones)) {
    const Recipe& near = kept_[how.below(static_cast<uint32_t>(kept_.size()))];
    skeleton = near.skeleton;
    choices = Choices(mutated(near.choices, how), seed);
  }
  SAPPER_TRY(Program program, make(skeleton, std::move(choices)));
  if (novelty_.take(program.module) > 0) kept_.push_back({skeleton, program.choices});
  std::string fingerprint = isolate::piece_fingerprint(program.module);
  return Candidate{std::move(program.module),
                   std::move(fingerprint),
                   templates_.empty() ? "grammar" : templates_[skeleton].name,
                   number,
                   {skeleton, std::move(program.choices)}};
}

void ProgramSource::learn(std::span<const Recipe> compiled, const CompiledFeatures& features) {
  if (novelty_.take(features) == 0) return;
  kept_.insert(kept_.end(), compiled.begin(), compiled.end());
}

}  // namespace sapper::fuzz
