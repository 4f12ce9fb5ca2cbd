// A choice sequence: every random decision of the generator, in order, from one seed. The sequence alone makes the
// program again (replay), other programs near it (mutation) and smaller ones (shrinking): 0 is the simplest choice, and
// what follows the end of a given sequence is 0, or drawn from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sapper::fuzz {

using ChoiceSequence = std::vector<uint32_t>;

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}
  // `given` first; then what `seed` draws, or 0 without one.
  explicit Choices(ChoiceSequence given, std::optional<uint64_t> seed = std::nullopt)
      : given_(std::move(given)), state_(seed) {}

  // One of 0 .. count - 1.
  uint32_t below(uint32_t count);
  // One of low .. high, both included.
  int64_t between(int64_t low, int64_t high);
  // True in `percent` of all cases; false is the simpler choice.
  bool chance(uint32_t percent) { return below(100) >= 100 - percent; }
  // An index into the weights, which are not negative and not all 0.
  size_t weighted(std::span<const double> weights);

  template <class Range>
  const auto& of(const Range& range) {
    return range[below(static_cast<uint32_t>(range.size()))];
  }
  // A permutation of 0 .. count - 1; all choices 0: the identity.
  std::vector<int64_t> permutation(size_t count);
  // `count` of 0 .. size - 1, ascending.
  std::vector<int64_t> subset(size_t count, size_t size);

  // All that was chosen so far.
  [[nodiscard]] const ChoiceSequence& made() const { return made_; }

 private:
  ChoiceSequence given_;
  std::optional<uint64_t> state_;
  ChoiceSequence made_;
};

// A seed that follows from two others.
[[nodiscard]] uint64_t mixed(uint64_t a, uint64_t b);

// A sequence near `sequence`: some choices changed, a stretch left out, doubled, or redrawn from some place on.
[[nodiscard]] ChoiceSequence mutated(ChoiceSequence sequence, Choices& how);

// The smallest sequence found that `keeps`: stretches left out, choices lowered, in at most `tries` tries.
[[nodiscard]] ChoiceSequence shrunk(ChoiceSequence sequence, const std::function<bool(const ChoiceSequence&)>& keeps,
                                    int tries);

}  // namespace sapper::fuzz
