// The programs of a campaign, one after the other: of templates in turn, or of the grammar; fresh ones, and ones near
// those that brought something new. Which program is the n-th follows from the seed, whatever became of those before.
#pragma once

#include <string>
#include <vector>

#include "fuzz/novelty.h"
#include "fuzz/template.h"

namespace sapper::fuzz {

struct Candidate {
  hlo::Module module;
  std::string fingerprint;
  std::string origin;  // the template; "grammar"
  int64_t number = 0;  // in the campaign
};

class ProgramSource {
 public:
  ProgramSource(Grammar grammar, std::vector<Template> templates, uint64_t seed)
      : grammar_(std::move(grammar)), templates_(std::move(templates)), seed_(seed) {}

  // Error: a template that makes nonsense of these choices.
  [[nodiscard]] Result<Candidate> next();
  // From here on without the opcode: what was made of it means nothing.
  void leave_out(hlo::Opcode opcode) { grammar_.without.insert(opcode); }

  [[nodiscard]] size_t features() const { return novelty_.seen(); }
  [[nodiscard]] size_t kept() const { return kept_.size(); }

 private:
  struct Kept {
    size_t skeleton = 0;
    ChoiceSequence choices;
  };

  [[nodiscard]] Result<Program> make(size_t skeleton, Choices choices) const;

  Grammar grammar_;
  std::vector<Template> templates_;
  uint64_t seed_;
  int64_t next_ = 0;
  Novelty novelty_;
  std::vector<Kept> kept_;
};

}  // namespace sapper::fuzz
