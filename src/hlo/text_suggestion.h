// "did you mean": the nearest known name to one that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sapper::hlo {

// How many letters to insert, delete, replace or swap to turn one word into the other; at most `limit` + 1.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

// Calls candidates(consider), which calls consider(name) for each known name. "; did you mean NAME?", or nothing when
// none is near.
template <class Candidates>
std::string suggestion(std::string_view word, Candidates candidates) {
  size_t best = (word.size() + 1) / 3;
  std::string_view nearest;
  candidates([&](std::string_view name) {
    const size_t distance = edit_distance(word, name, best);
    if (distance > best || (distance == best && !nearest.empty() && nearest <= name)) return;
    best = distance;
    nearest = name;
  });
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

}  // namespace sapper::hlo
