#include "fuzz/grammar.h"

#include <algorithm>

namespace sapper::fuzz {

using hlo::ElementType;
using hlo::Opcode;

std::vector<WeightedType> Grammar::all_types() {
  return {{ElementType::F32, 6},        {ElementType::S32, 6},        {ElementType::BF16, 3},
          {ElementType::Pred, 2},       {ElementType::U8, 2},         {ElementType::S8, 2},
          {ElementType::U32, 2},        {ElementType::F16, 2},        {ElementType::S16, 1},
          {ElementType::U16, 1},        {ElementType::S64, 1},        {ElementType::U64, 1},
          {ElementType::F64, 1},        {ElementType::S4, 1},         {ElementType::U4, 1},
          {ElementType::C64, 1},        {ElementType::C128, 0.5},     {ElementType::F8E5M2, 0.5},
          {ElementType::F8E4M3FN, 0.5}, {ElementType::F8E4M3, 0.3},   {ElementType::F8E4M3B11FNUZ, 0.3},
          {ElementType::F8E3M4, 0.3},   {ElementType::S2, 0.3},       {ElementType::F8E5M2FNUZ, 0.3},
          {ElementType::U2, 0.3},       {ElementType::S1, 0.2},       {ElementType::F8E4M3FNUZ, 0.3},
          {ElementType::U1, 0.2},       {ElementType::F4E2M1FN, 0.3}, {ElementType::F8E8M0FNU, 0.2}};
}

bool Grammar::has(ElementType type) const { return std::ranges::find(types, type, &WeightedType::type) != types.end(); }

bool Grammar::takes(Opcode opcode) const {
  return !without.contains(opcode) && (only.empty() || only.contains(opcode));
}

bool Grammar::takes(Opcode opcode, ElementType type) const {
  return (opcode == Opcode::Parameter || takes(opcode)) && !without_types.contains({opcode, type});
}

std::optional<ElementType> choose_type(const Grammar& grammar, Choices& choices,
                                       const std::function<bool(ElementType)>& fits) {
  std::vector<double> weights;
  bool any = false;
  for (const WeightedType& type : grammar.types) {
    weights.push_back(fits(type.type) ? type.weight : 0);
    any = any || weights.back() > 0;
  }
  if (!any) return std::nullopt;
  return grammar.types[choices.weighted(weights)].type;
}

int64_t choose_size(const Grammar& grammar, Choices& choices, int64_t most) {
  const auto end = std::ranges::upper_bound(grammar.sizes, most);
  const auto count = static_cast<uint32_t>(end - grammar.sizes.begin());
  return count == 0 ? 1 : grammar.sizes[choices.below(count)];
}

std::vector<int64_t> choose_dimensions(const Grammar& grammar, Choices& choices, int64_t rank, int64_t elements) {
  std::vector<int64_t> dimensions(static_cast<size_t>(choices.between(0, rank)));
  int64_t left = std::max<int64_t>(1, elements);
  for (const int64_t i : choices.permutation(dimensions.size())) {
    dimensions[static_cast<size_t>(i)] = choose_size(grammar, choices, left);
    left /= dimensions[static_cast<size_t>(i)];
  }
  return dimensions;
}

}  // namespace sapper::fuzz
