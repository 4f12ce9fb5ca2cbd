// Backward rules of operations that move elements: each finds operands whose elements end up as wanted.
#include <algorithm>

#include "fuzz/rule_builders.h"

namespace sapper::fuzz {
namespace {

Shape with_dimensions(const Shape& shape, std::vector<int64_t> dimensions) {
  return Shape::array(shape.element_type(), std::move(dimensions));
}

// How much larger than `shape` one of its dimensions may get.
int64_t room(const Builder& builder, const Shape& shape, int64_t dimension) {
  return std::max<int64_t>(
      0, builder.grammar().elements / std::max<int64_t>(1, shape.element_count() / dimension) - dimension);
}

// `count` as a product of `rank` factors.
std::vector<int64_t> factorized(int64_t count, size_t rank, Choices& choices) {
  std::vector<int64_t> factors(rank, 1);
  for (int64_t prime = 2; count > 1; ++prime) {
    if (prime * prime > count) prime = count;
    while (count % prime == 0) {
      factors[choices.below(static_cast<uint32_t>(rank))] *= prime;
      count /= prime;
    }
  }
  return factors;
}

}  // namespace

bool makes_array(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return wanted.rank() > 0 && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_concatenation(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted) &&
         std::ranges::any_of(wanted.dimensions(), [](int64_t d) { return d > 1; });
}

bool makes_dimension_size(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return wanted.rank() == 0 && wanted.element_type() == ElementType::S32 && grammar.takes(rule.opcode);
}

bool makes_iota(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted) && wanted.element_type() != ElementType::Pred &&
         hlo::bit_width(wanted.element_type()) >= 16 &&
         std::ranges::all_of(wanted.dimensions(), [](int64_t d) { return d <= 256; });
}

Index build_broadcast(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const size_t kept = choices.below(static_cast<uint32_t>(wanted.rank()) + 1);
  const std::vector<int64_t> dimensions = choices.subset(kept, wanted.rank());
  std::vector<int64_t> sizes;
  for (const int64_t d : dimensions) sizes.push_back(wanted.dimension(static_cast<size_t>(d)));
  const Index made = builder.add(rule.opcode, wanted, {builder.value(with_dimensions(wanted, sizes))});
  builder.at(made).dimensions = dimensions;
  return made;
}

Index build_reshape(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const auto rank = static_cast<size_t>(choices.between(1, builder.grammar().rank));
  const Shape operand = with_dimensions(wanted, factorized(wanted.element_count(), rank, choices));
  return builder.add(rule.opcode, wanted, {builder.value(operand)});
}

Index build_transpose(const Rule& rule, Builder& builder, const Shape& wanted) {
  const std::vector<int64_t> order = builder.choices().permutation(wanted.rank());
  std::vector<int64_t> sizes(wanted.rank());
  for (size_t i = 0; i < order.size(); ++i) sizes[static_cast<size_t>(order[i])] = wanted.dimension(i);
  const Index made = builder.add(rule.opcode, wanted, {builder.value(with_dimensions(wanted, sizes))});
  builder.at(made).dimensions = order;
  return made;
}

Index build_reverse(const Rule& rule, Builder& builder, const Shape& wanted) {
  const auto count = static_cast<size_t>(builder.choices().between(1, std::ssize(wanted.dimensions())));
  const std::vector<int64_t> dimensions = builder.choices().subset(count, wanted.rank());
  const Index made = builder.add(rule.opcode, wanted, {builder.value(wanted)});
  builder.at(made).dimensions = dimensions;
  return made;
}

Index build_slice(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  std::vector<int64_t> sizes = wanted.dimensions(), starts, strides;
  for (int64_t& size : sizes) {
    const int64_t free = room(builder, with_dimensions(wanted, sizes), size);
    const int64_t most_stride = size > 1 ? std::min<int64_t>(3, 1 + free / (size - 1)) : 1;
    strides.push_back(choices.chance(30) ? choices.between(1, most_stride) : 1);
    const int64_t span = (size - 1) * strides.back() + 1;
    starts.push_back(choices.between(0, std::clamp<int64_t>(free - (span - size), 0, 9)));
    const int64_t beyond = choices.between(0, std::clamp<int64_t>(free - (span - size) - starts.back(), 0, 9));
    size = starts.back() + span + beyond;
  }
  const Index made = builder.add(rule.opcode, wanted, {builder.value(with_dimensions(wanted, sizes))});
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto* const slice = attributes.add_slice_dimensions();
    slice->set_start(starts[i]);
    slice->set_stride(strides[i]);
    slice->set_limit(starts[i] + (wanted.dimension(i) - 1) * strides[i] + 1);
  }
  return made;
}

Index build_pad(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  std::vector<int64_t> sizes;
  proto::PaddingConfig config;
  for (const int64_t size : wanted.dimensions()) {
    auto* const dimension = config.add_dimensions();
    const int64_t operand = std::max<int64_t>(1, size - choices.between(-2, 4));
    const int64_t interior = choices.chance(25) ? choices.between(1, 2) : 0;
    const int64_t spread = operand + (operand - 1) * interior;
    const int64_t padding = size - spread;  // may be negative: then elements are cut off
    const int64_t low = choices.between(std::max<int64_t>(-2, 1 - spread), std::max<int64_t>(padding, 1));
    dimension->set_edge_padding_low(low);
    dimension->set_edge_padding_high(padding - low);
    dimension->set_interior_padding(interior);
    sizes.push_back(operand);
  }
  const Index operand = builder.value(with_dimensions(wanted, sizes));
  const Index made = builder.add(rule.opcode, wanted, {operand, builder.leaf(Shape::scalar(wanted.element_type()))});
  *builder.at(made).edit_attributes().mutable_padding_config() = config;
  return made;
}

Index build_concatenate(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  std::vector<int64_t> longer;
  for (size_t i = 0; i < wanted.rank(); ++i)
    if (wanted.dimension(i) > 1) longer.push_back(static_cast<int64_t>(i));
  const auto dimension = static_cast<size_t>(choices.of(longer));
  std::vector<Index> parts;
  int64_t left = wanted.dimension(dimension);
  for (int64_t parts_left = choices.between(2, 3); left > 0; --parts_left) {
    const int64_t size = parts_left <= 1 ? left : choices.between(1, std::max<int64_t>(1, left - 1));
    std::vector<int64_t> sizes = wanted.dimensions();
    sizes[dimension] = size;
    parts.push_back(builder.value(with_dimensions(wanted, sizes)));
    left -= size;
  }
  const Index made = builder.add(rule.opcode, wanted, std::move(parts));
  builder.at(made).dimensions = {static_cast<int64_t>(dimension)};
  return made;
}

Index build_iota(const Rule&, Builder& builder, const Shape& wanted) {
  return builder.iota(wanted, builder.choices().between(0, std::ssize(wanted.dimensions()) - 1));
}

Index build_get_dimension_size(const Rule& rule, Builder& builder, const Shape& wanted) {
  std::vector<int64_t> sizes = choose_dimensions(builder.grammar(), builder.choices(), 2, builder.grammar().elements);
  sizes.push_back(3);
  const int64_t dimension = builder.choices().between(0, std::ssize(sizes) - 1);
  const Index made = builder.add(rule.opcode, wanted, {builder.leaf(Shape::array(ElementType::S32, sizes))});
  builder.at(made).dimensions = {dimension};
  return made;
}

}  // namespace sapper::fuzz
