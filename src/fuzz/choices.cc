#include "fuzz/choices.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace sapper::fuzz {
namespace {

uint64_t scrambled(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t step = 0x9e3779b97f4a7c15;

}  // namespace

uint64_t mixed(uint64_t a, uint64_t b) { return scrambled(scrambled(a + step) ^ b); }

uint32_t Choices::below(uint32_t count) {
  SAPPER_ASSERT(count > 0);
  uint32_t choice = 0;
  if (made_.size() < given_.size()) {
    choice = given_[made_.size()] % count;
  } else if (state_) {
    *state_ += step;
    choice = static_cast<uint32_t>((scrambled(*state_) >> 32) * count >> 32);
  }
  made_.push_back(choice);
  return choice;
}

int64_t Choices::between(int64_t low, int64_t high) {
  SAPPER_ASSERT(low <= high && high - low < UINT32_MAX);
  return low + below(static_cast<uint32_t>(high - low + 1));
}

size_t Choices::weighted(std::span<const double> weights) {
  constexpr uint32_t fine = 1U << 20;
  double left = std::accumulate(weights.begin(), weights.end(), 0.0) * below(fine) / fine;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (left < weights[i]) break;
    left -= weights[i];
  }
  return last;
}

std::vector<int64_t> Choices::permutation(size_t count) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i + 1 < count; ++i) std::swap(order[i], order[i + below(static_cast<uint32_t>(count - i))]);
  return order;
}

std::vector<int64_t> Choices::subset(size_t count, size_t size) {
  std::vector<int64_t> chosen = permutation(size);
  chosen.resize(count);
  std::ranges::sort(chosen);
  return chosen;
}

ChoiceSequence mutated(ChoiceSequence sequence, Choices& how) {
  if (sequence.empty()) return sequence;
  const auto place = [&] { return how.below(static_cast<uint32_t>(sequence.size())); };
  const auto at = [&](uint32_t index) { return sequence.begin() + index; };
  switch (how.below(4)) {
    case 0:
      for (uint32_t left = 1 + how.below(4); left > 0; --left) sequence[place()] = how.below(UINT32_MAX);
      break;
    case 1: sequence.resize(place()); break;
    case 2: {
      const uint32_t from = place();
      const uint32_t length = 1 + how.below(8);
      sequence.erase(at(from), sequence.begin() + std::min<ptrdiff_t>(from + length, std::ssize(sequence)));
      break;
    }
    default: {
      const uint32_t from = place();
      const ChoiceSequence stretch(at(from), sequence.begin() + std::min<ptrdiff_t>(from + 8, std::ssize(sequence)));
      sequence.insert(at(place()), stretch.begin(), stretch.end());
    }
  }
  return sequence;
}

ChoiceSequence shrunk(ChoiceSequence sequence, const std::function<bool(const ChoiceSequence&)>& keeps, int tries) {
  const auto try_it = [&](const ChoiceSequence& candidate) {
    if (tries <= 0) return false;
    --tries;
    if (!keeps(candidate)) return false;
    sequence = candidate;
    return true;
  };
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = false;
    for (size_t length = std::max<size_t>(1, sequence.size() / 2); length > 0; length /= 2) {
      for (size_t from = 0; from + length <= sequence.size() && tries > 0;) {
        ChoiceSequence candidate = sequence;
        const auto first = candidate.begin() + static_cast<ptrdiff_t>(from);
        candidate.erase(first, first + static_cast<ptrdiff_t>(length));
        if (try_it(candidate))
          smaller = true;
        else
          from += length;
      }
    }
    for (size_t i = 0; i < sequence.size() && tries > 0; ++i) {
      for (const uint32_t lower : {0U, sequence[i] / 2, sequence[i] - 1}) {
        if (lower >= sequence[i]) continue;
        ChoiceSequence candidate = sequence;
        candidate[i] = lower;
        if (try_it(candidate)) {
          smaller = true;
          break;
        }
      }
    }
  }
  return sequence;
}

}  // namespace sapper::fuzz
