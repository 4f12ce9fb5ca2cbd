#include "hlo/text_names.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "hlo/text_string.h"

namespace sapper::hlo {

void TextNames::make_words_once() {
  tsl::robin_set<std::string_view> taken(names_.size());
  std::vector<size_t> to_change;
  for (size_t i = 0; i < names_.size(); ++i)
    if (!is_word(names_[i]) || !taken.insert(names_[i]).second) to_change.push_back(i);
  tsl::robin_map<std::string, int> last_suffix;  // equal names go on counting where the last one stopped
  for (const size_t i : to_change) {
    const std::string stem = word_from(names_[i]);
    int& suffix = last_suffix[stem];
    std::string name = stem;
    while (taken.contains(name)) name = fmt::format("{}.{}", stem, ++suffix);
    names_[i] = made_.emplace_back(std::move(name));
    taken.insert(names_[i]);
  }
}

}  // namespace sapper::hlo
