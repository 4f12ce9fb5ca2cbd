// Tags: of which elements of a kernel's operands a value was made. The same tags are computed for the elements of each
// HLO instruction and for what is in registers, so that a lane of a register and an element of an array find each
// other, whatever order the code works in.
//
// A tag is a number; equal numbers are equal sets. Sets of many elements of one operand are kept as a hash that does
// not depend on the order in which they came together (sums are made in any order), with the range they lie in.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inputs/draw.h"

namespace sapper::inspect {

using Tag = uint32_t;
constexpr Tag no_tag = 0;  // of no element: a constant, or nobody knows

// Tables with open addressing need numbers whose low bits differ.
struct MixedHash {
  [[nodiscard]] size_t operator()(uint64_t x) const { return inputs::mix(x); }
};

class TagTable {
 public:
  // Operands with so many elements.
  explicit TagTable(std::span<const int64_t> element_counts);

  [[nodiscard]] Tag element(size_t operand, int64_t index) const { return first_[operand] + static_cast<Tag>(index); }
  [[nodiscard]] Tag merge(Tag a, Tag b);
  [[nodiscard]] size_t size() const { return leaves_ + sets_.size(); }

 private:
  // The elements of one operand.
  struct Part {
    uint32_t operand = 0;
    bool is_set = false;
    uint64_t key = 0;  // the element, or the sum of the mixed elements
    int64_t low = 0, high = 0, count = 1;
    bool operator==(const Part&) const = default;
  };
  using Set = std::vector<Part>;  // by operand

  [[nodiscard]] Set parts(Tag tag) const;
  [[nodiscard]] Tag intern(Set set);
  [[nodiscard]] static Part combine(const Part& a, const Part& b);
  [[nodiscard]] static uint64_t hash(const Set& set);

  std::vector<Tag> first_;  // of each operand
  size_t leaves_ = 1;       // no_tag and the single elements
  std::vector<Set> sets_;   // tag leaves_ + i
  tsl::robin_map<uint64_t, Tag, MixedHash> by_hash_;
  tsl::robin_map<uint64_t, Tag, MixedHash> merged_;  // by both tags
};

}  // namespace sapper::inspect
