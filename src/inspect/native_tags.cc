#include "inspect/native_tags.h"

#include <algorithm>

namespace sapper::inspect {

TagTable::TagTable(std::span<const int64_t> element_counts) {
  for (const int64_t count : element_counts) {
    first_.push_back(static_cast<Tag>(leaves_));
    leaves_ += static_cast<size_t>(count);
  }
}

TagTable::Set TagTable::parts(Tag tag) const {
  if (tag >= leaves_) return sets_[tag - leaves_];
  const auto operand = static_cast<uint32_t>(std::ranges::upper_bound(first_, tag) - first_.begin() - 1);
  const int64_t index = tag - first_[operand];
  return {{.operand = operand, .key = static_cast<uint64_t>(index), .low = index, .high = index}};
}

TagTable::Part TagTable::combine(const Part& a, const Part& b) {
  if (a == b) return a;
  const auto is_whole = [](const Part& part) { return part.count == part.high - part.low + 1; };
  const auto contains = [&](const Part& outer, const Part& inner) {
    return is_whole(outer) && outer.low <= inner.low && inner.high <= outer.high;
  };
  if (contains(a, b)) return a;
  if (contains(b, a)) return b;
  const auto sum = [](const Part& part) { return part.is_set ? part.key : inputs::mix(part.key); };
  return {.operand = a.operand,
          .is_set = true,
          .key = sum(a) + sum(b),
          .low = std::min(a.low, b.low),
          .high = std::max(a.high, b.high),
          .count = a.count + b.count};
}

uint64_t TagTable::hash(const Set& set) {
  uint64_t result = 0;
  for (const Part& part : set) result = inputs::mix(result ^ part.key) + 2 * part.operand + (part.is_set ? 1 : 0);
  return result;
}

Tag TagTable::intern(Set set) {
  if (set.size() == 1 && !set[0].is_set) return element(set[0].operand, static_cast<int64_t>(set[0].key));
  // Equal hashes of 64 bits are taken for equal sets.
  const auto [place, is_new] = by_hash_.try_emplace(hash(set), static_cast<Tag>(size()));
  if (is_new) sets_.push_back(std::move(set));
  return place->second;
}

Tag TagTable::merge(Tag a, Tag b) {
  if (a == b || b == no_tag) return a;
  if (a == no_tag) return b;
  if (a > b) std::swap(a, b);
  const uint64_t both = uint64_t{a} << 32 | b;
  if (const auto known = merged_.find(both); known != merged_.end()) return known->second;
  const Set left = parts(a);
  const Set right = parts(b);
  Set merged;
  auto l = left.begin();
  auto r = right.begin();
  while (l != left.end() || r != right.end()) {
    if (r == right.end() || (l != left.end() && l->operand < r->operand))
      merged.push_back(*l++);
    else if (l == left.end() || r->operand < l->operand)
      merged.push_back(*r++);
    else
      merged.push_back(combine(*l++, *r++));
  }
  const Tag tag = intern(std::move(merged));
  merged_[both] = tag;
  return tag;
}

}  // namespace sapper::inspect
