// The programs of a campaign, one after the other: of templates in turn, or of the grammar; fresh ones, and ones near
// those that brought something new. Which program is the n-th follows from the seed and from what was learnt before it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/novelty.h"
#include "fuzz/template.h"
#include "isolate/shard.h"

namespace sapper::fuzz {

// What makes a program again, or others near it.
struct Recipe {
  size_t skeleton = 0;  // which template
  ChoiceSequence choices;
};

struct Candidate {
  hlo::Module module;
  std::string fingerprint;
  std::string origin;  // the template; "grammar"
  int64_t number = 0;  // in the campaign, all shards together
  Recipe recipe;
};

class ProgramSource {
 public:
  // Every shard has the programs whose number modulo their count is its own.
  ProgramSource(Grammar grammar, std::vector<Template> templates, uint64_t seed, isolate::Shard shard = {})
      : grammar_(std::move(grammar)), templates_(std::move(templates)), seed_(seed), shard_(shard) {}

  [[nodiscard]] int64_t next_number() const {
    return made_ * static_cast<int64_t>(shard_.count) + static_cast<int64_t>(shard_.index);
  }
  // Error: a template that makes nonsense of these choices.
  [[nodiscard]] Result<Candidate> next();
  // These were compiled, as one module or alone, and that did this.
  void learn(std::span<const Recipe> compiled, const CompiledFeatures& features);
  // From here on without the opcode: what was made of it means nothing.
  void leave_out(hlo::Opcode opcode) { grammar_.without.insert(opcode); }

  [[nodiscard]] size_t features() const { return novelty_.seen(); }
  [[nodiscard]] size_t kept() const { return kept_.size(); }

 private:
  [[nodiscard]] Result<Program> make(size_t skeleton, Choices choices) const;

  Grammar grammar_;
  std::vector<Template> templates_;
  uint64_t seed_;
  isolate::Shard shard_;
  int64_t made_ = 0;
  Novelty novelty_;
  std::vector<Recipe> kept_;
};

}  // namespace sapper::fuzz
