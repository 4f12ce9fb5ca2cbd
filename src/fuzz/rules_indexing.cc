// Backward rules of dynamic slices, gathers and scatters. Indices of any integer type: compilers go wrong where a
// narrow one meets a large dimension. Those out of bounds are defined (clamped, or, in a scatter, left out), and
// samplers of inputs keep parameters within.
#include <algorithm>
#include <array>

#include "fuzz/rule_builders.h"

namespace sapper::fuzz {
namespace {

ElementType index_type(Builder& builder) {
  const auto fits = [](ElementType type) { return hlo::is_integer(type) && hlo::bit_width(type) >= 8; };
  return choose_type(builder.grammar(), builder.choices(), fits).value_or(ElementType::S32);
}

// Sizes of at least `least`, mostly more, of so many elements.
std::vector<int64_t> grown(Builder& builder, std::vector<int64_t> least) {
  for (int64_t& size : least) {
    const int64_t others = std::max<int64_t>(1, hlo::element_count(least) / std::max<int64_t>(1, size));
    const int64_t most = builder.grammar().elements / others;
    if (most <= size || builder.choices().chance(20)) continue;
    size = std::max(size, choose_size(builder.grammar(), builder.choices(), most));
  }
  return least;
}

// Scalar starts for each dimension.
std::vector<Index> starts(Builder& builder, size_t rank) {
  const Shape scalar = Shape::scalar(index_type(builder));
  std::vector<Index> indices;
  for (size_t i = 0; i < rank; ++i) indices.push_back(builder.value(scalar));
  return indices;
}

// Where index vectors lie among the other dimensions of the indices; a scalar index may have no dimension of its own.
struct IndexLayout {
  Shape shape;
  int64_t vector_dim = 0;
};

IndexLayout index_layout(Builder& builder, std::vector<int64_t> batch, size_t components) {
  Choices& choices = builder.choices();
  const ElementType type = index_type(builder);
  const auto rank = static_cast<int64_t>(batch.size());
  if (components == 1 && choices.chance(30)) return {Shape::array(type, batch), rank};
  const int64_t at = choices.chance(25) ? choices.between(0, rank) : rank;
  batch.insert(batch.begin() + at, static_cast<int64_t>(components));
  return {Shape::array(type, batch), at};
}

// Dimensions of an array from those of windows on it, in order, and some that windows lack.
struct Windowed {
  std::vector<int64_t> sizes;      // of windows; 1 where a window lacks the dimension
  std::vector<int64_t> lacking;    // ascending
  std::vector<int64_t> index_map;  // which dimensions index vectors speak of
};

Windowed windowed(Choices& choices, const std::vector<int64_t>& windows, size_t lacking, size_t most_indexed) {
  Windowed made;
  const size_t rank = windows.size() + lacking;
  made.lacking = choices.subset(lacking, rank);
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool lacks = std::ranges::binary_search(made.lacking, static_cast<int64_t>(i));
    made.sizes.push_back(lacks ? 1 : windows[next++]);
  }
  const auto components = static_cast<size_t>(choices.between(1, static_cast<int64_t>(std::min(rank, most_indexed))));
  made.index_map = choices.permutation(rank);
  made.index_map.resize(components);
  return made;
}

constexpr std::array<Opcode, 5> integer_combiners = {Opcode::Add, Opcode::Minimum, Opcode::Maximum, Opcode::Multiply,
                                                     Opcode::Xor};
constexpr std::array<Opcode, 3> float_combiners = {Opcode::Add, Opcode::Minimum, Opcode::Maximum};
constexpr std::array<Opcode, 2> pred_combiners = {Opcode::And, Opcode::Or};

hlo::ComputationIndex scatter_combiner(Builder& builder, ElementType type, bool overwrite) {
  const Shape scalar = Shape::scalar(type);
  if (overwrite)
    return builder.computation("overwrite", {scalar, scalar}, [](const std::vector<Index>& given) { return given[1]; });
  Choices& choices = builder.choices();
  if (type == ElementType::Pred) return builder.combiner(choices.of(pred_combiners), type);
  if (hlo::is_integer(type)) return builder.combiner(choices.of(integer_combiners), type);
  return builder.combiner(hlo::is_complex(type) ? Opcode::Add : choices.of(float_combiners), type);
}

}  // namespace

Index build_dynamic_slice(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Shape operand = Shape::array(wanted.element_type(), grown(builder, wanted.dimensions()));
  std::vector<Index> operands = {builder.value(operand)};
  for (const Index start : starts(builder, wanted.rank())) operands.push_back(start);
  const Index made = builder.add(rule.opcode, wanted, std::move(operands));
  for (const int64_t size : wanted.dimensions()) builder.at(made).edit_attributes().add_dynamic_slice_sizes(size);
  return made;
}

Index build_dynamic_update_slice(const Rule& rule, Builder& builder, const Shape& wanted) {
  std::vector<int64_t> sizes = wanted.dimensions();
  for (int64_t& size : sizes) size = choose_size(builder.grammar(), builder.choices(), size);
  std::vector<Index> operands = {builder.value(wanted)};
  operands.push_back(builder.value(Shape::array(wanted.element_type(), sizes)));
  for (const Index start : starts(builder, wanted.rank())) operands.push_back(start);
  return builder.add(rule.opcode, wanted, std::move(operands));
}

Index build_gather(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const auto window_count = static_cast<size_t>(choices.between(0, std::ssize(wanted.dimensions())));
  const std::vector<int64_t> offset_dims = choices.subset(window_count, wanted.rank());
  std::vector<int64_t> windows, batch;
  for (size_t i = 0; i < wanted.rank(); ++i)
    (std::ranges::binary_search(offset_dims, static_cast<int64_t>(i)) ? windows : batch).push_back(wanted.dimension(i));
  const size_t lacking = windows.empty() ? 1 : choices.below(2);
  const Windowed of = windowed(choices, windows, lacking, 3);
  const Shape operand = Shape::array(wanted.element_type(), grown(builder, of.sizes));
  const IndexLayout indices = index_layout(builder, batch, of.index_map.size());
  const Index array = builder.value(operand);
  const Index made = builder.add(rule.opcode, wanted, {array, builder.value(indices.shape)});
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  auto* const numbers = attributes.mutable_gather_dimension_numbers();
  numbers->mutable_offset_dims()->Assign(offset_dims.begin(), offset_dims.end());
  numbers->mutable_collapsed_slice_dims()->Assign(of.lacking.begin(), of.lacking.end());
  numbers->mutable_start_index_map()->Assign(of.index_map.begin(), of.index_map.end());
  numbers->set_index_vector_dim(indices.vector_dim);
  attributes.mutable_gather_slice_sizes()->Assign(of.sizes.begin(), of.sizes.end());
  return made;
}

bool makes_scatter(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted);
}

Index build_scatter(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  // Indices that count up along their only dimension are unique and sorted. Windows of size 1 there do not overlap.
  const bool counting = choices.chance(35);
  const size_t rank = wanted.rank();
  const auto lacking_count = static_cast<size_t>(choices.between(counting ? 1 : 0, static_cast<int64_t>(rank)));
  const std::vector<int64_t> lacking = choices.subset(lacking_count, rank);
  std::vector<int64_t> windows;
  for (size_t i = 0; i < rank; ++i)
    if (!std::ranges::binary_search(lacking, static_cast<int64_t>(i)))
      windows.push_back(choose_size(builder.grammar(), choices, wanted.dimension(i)));
  std::vector<int64_t> index_map = choices.permutation(rank);
  index_map.resize(counting ? 1 : static_cast<size_t>(choices.between(1, static_cast<int64_t>(rank))));
  if (counting) index_map = {choices.of(lacking)};
  std::vector<int64_t> batch;
  if (counting)
    batch = {choose_size(builder.grammar(), choices, wanted.dimension(static_cast<size_t>(index_map[0])))};
  else
    batch = choose_dimensions(
        builder.grammar(), choices, 2,
        std::min<int64_t>(64, builder.grammar().elements / std::max<int64_t>(1, hlo::element_count(windows))));
  IndexLayout indices = index_layout(builder, batch, index_map.size());
  if (counting) indices.shape = indices.shape.with_element_type(ElementType::S32);

  std::vector<int64_t> update_dims = choices.subset(windows.size(), windows.size() + batch.size());
  std::vector<int64_t> update_sizes;
  size_t next_window = 0, next_batch = 0;
  for (size_t i = 0; i < windows.size() + batch.size(); ++i)
    update_sizes.push_back(std::ranges::binary_search(update_dims, static_cast<int64_t>(i)) ? windows[next_window++]
                                                                                            : batch[next_batch++]);
  const ElementType type = wanted.element_type();
  const bool overwrite = counting && choices.chance(60);
  const hlo::ComputationIndex combiner = scatter_combiner(builder, type, overwrite);
  const Index operand = builder.value(wanted);
  const int64_t along = indices.vector_dim == 0 && indices.shape.rank() > 1 ? 1 : 0;
  const Index where = counting ? builder.iota(indices.shape, along) : builder.value(indices.shape);
  const Index made =
      builder.add(rule.opcode, wanted, {operand, where, builder.value(Shape::array(type, update_sizes))});
  hlo::Instruction& scatter = builder.at(made);
  scatter.called = {combiner};
  hlo::Attributes& attributes = scatter.edit_attributes();
  auto* const numbers = attributes.mutable_scatter_dimension_numbers();
  numbers->mutable_update_window_dims()->Assign(update_dims.begin(), update_dims.end());
  numbers->mutable_inserted_window_dims()->Assign(lacking.begin(), lacking.end());
  numbers->mutable_scatter_dims_to_operand_dims()->Assign(index_map.begin(), index_map.end());
  numbers->set_index_vector_dim(indices.vector_dim);
  attributes.set_unique_indices(counting && choices.chance(50));
  attributes.set_indices_are_sorted(counting && choices.chance(50));
  return made;
}

}  // namespace sapper::fuzz
