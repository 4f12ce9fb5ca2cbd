// Names as text can say them: words, each once in its scope.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sapper::hlo {

class TextNames {
 public:
  // Of computations or instructions: bytes that a word cannot hold become _; the first of equal names keeps it, the
  // others get the first suffix .1, .2, ... that makes a new one. Views of the names of `named` are kept.
  template <class Named>
  explicit TextNames(const std::vector<Named>& named) {
    names_.reserve(named.size());
    for (const Named& thing : named) names_.push_back(thing.name);
    make_words_once();
  }
  [[nodiscard]] std::string_view operator[](size_t i) const { return names_[i]; }

 private:
  void make_words_once();

  std::vector<std::string_view> names_;
  std::deque<std::string> made_;
};

}  // namespace sapper::hlo
