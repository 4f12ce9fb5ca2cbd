#include "reduce/dimensions.h"

#include <algorithm>
#include <numeric>

namespace sapper::reduce {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// What each opcode says of the dimensions around it.
class DimensionRules {
 public:
  DimensionRules(const Module& module, Dimensions& dimensions) : module_(module), all_(dimensions) {}

  void visit(ComputationIndex c, InstructionIndex i) {
    computation_ = c;
    at_ = i;
    apply();
  }

 private:
  using Place = Dimensions::Place;

  [[nodiscard]] const Computation& computation() const { return module_.computations[computation_]; }
  [[nodiscard]] const Instruction& instruction() const { return computation().instructions[at_]; }
  [[nodiscard]] InstructionIndex operand_index(size_t k) const { return instruction().operands[k]; }
  [[nodiscard]] const Shape& operand(size_t k) const { return computation().instructions[operand_index(k)].shape; }
  [[nodiscard]] size_t operands() const { return instruction().operands.size(); }
  [[nodiscard]] const Shape& shape() const { return instruction().shape; }
  // Array k of the result: itself, or an element of the tuple.
  [[nodiscard]] const Shape& result(size_t k) const { return shape().is_tuple() ? shape().elements()[k] : shape(); }

  [[nodiscard]] Place out(size_t d, size_t leaf = 0) const {
    return {computation_, at_, static_cast<uint32_t>(leaf), static_cast<uint32_t>(d)};
  }
  [[nodiscard]] Place in(size_t k, size_t d) const {
    return {computation_, operand_index(k), 0, static_cast<uint32_t>(d)};
  }

  // All dimensions of two whole values.
  void unite_values(ComputationIndex ca, InstructionIndex a, ComputationIndex cb, InstructionIndex b,
                    uint32_t first_leaf_of_b = 0) {
    uint32_t leaf = 0;
    hlo::for_each_leaf(module_.computations[ca].instructions[a].shape, [&](const Shape& array) {
      for (uint32_t d = 0; d < array.rank(); ++d) all_.unite({ca, a, leaf, d}, {cb, b, first_leaf_of_b + leaf, d});
      ++leaf;
    });
  }
  void unite_with_parameters(size_t called, size_t first_operand) {
    const ComputationIndex callee = instruction().called[called];
    const std::vector<InstructionIndex> parameters = module_.computations[callee].parameters();
    for (size_t k = 0; k < parameters.size() && first_operand + k < operands(); ++k)
      unite_values(computation_, operand_index(first_operand + k), callee, parameters[k]);
  }
  void unite_with_root(size_t called) {
    const ComputationIndex callee = instruction().called[called];
    unite_values(computation_, at_, callee, module_.computations[callee].root);
  }

  // The dimensions of operand k and of array `leaf` of the result but for those left out, in order.
  void unite_in_order(size_t k, std::span<const int64_t> left_out, size_t leaf = 0) {
    size_t to = 0;
    for (size_t d = 0; d < operand(k).rank() && to < result(leaf).rank(); ++d)
      if (std::ranges::find(left_out, static_cast<int64_t>(d)) == left_out.end()) all_.unite(in(k, d), out(to++, leaf));
  }
  void unite_operands(size_t a, size_t b) {
    for (size_t d = 0; d < std::min(operand(a).rank(), operand(b).rank()); ++d) all_.unite(in(a, d), in(b, d));
  }
  // Where the sizes are the same and something else would have to give.
  void unite_where_equal(const Place& a, int64_t size_a, const Place& b, int64_t size_b) {
    if (size_a == size_b) all_.unite(a, b);
  }

  void fix_all() {
    for (const InstructionIndex operand : instruction().operands) fix_value(operand);
    fix_value(at_);
  }
  void fix_value(InstructionIndex i) {
    uint32_t leaf = 0;
    hlo::for_each_leaf(computation().instructions[i].shape, [&](const Shape& array) {
      for (uint32_t d = 0; d < array.rank(); ++d) all_.fix({computation_, i, leaf, d});
      ++leaf;
    });
  }

  void elementwise() {
    for (size_t k = 0; k < operands(); ++k)
      if (operand(k).is_array() && operand(k).rank() == shape().rank()) unite_in_order(k, {});
  }

  void dot() {
    const auto& numbers = instruction().attributes().dot_dimension_numbers();
    size_t to = 0;
    for (int b = 0; b < numbers.lhs_batch_dimensions_size(); ++b) {
      const auto left = static_cast<size_t>(numbers.lhs_batch_dimensions(b));
      all_.unite(in(0, left), in(1, static_cast<size_t>(numbers.rhs_batch_dimensions(b))));
      all_.unite(in(0, left), out(to++));
    }
    for (int c = 0; c < numbers.lhs_contracting_dimensions_size(); ++c)
      all_.unite(in(0, static_cast<size_t>(numbers.lhs_contracting_dimensions(c))),
                 in(1, static_cast<size_t>(numbers.rhs_contracting_dimensions(c))));
    const auto free = [&](size_t k, const auto& batch, const auto& contracting) {
      for (size_t d = 0; d < operand(k).rank(); ++d) {
        const auto is_d = [&](int64_t other) { return other == static_cast<int64_t>(d); };
        if (std::ranges::none_of(batch, is_d) && std::ranges::none_of(contracting, is_d))
          all_.unite(in(k, d), out(to++));
      }
    };
    free(0, numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions());
    free(1, numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions());
  }

  void convolution() {
    const auto& numbers = instruction().attributes().convolution_dimension_numbers();
    if (instruction().attributes().feature_group_count() > 1 || instruction().attributes().batch_group_count() > 1) {
      fix_all();
      return;
    }
    const auto at = [](int64_t d) { return static_cast<size_t>(d); };
    all_.unite(in(0, at(numbers.input_batch_dimension())), out(at(numbers.output_batch_dimension())));
    all_.unite(in(0, at(numbers.input_feature_dimension())), in(1, at(numbers.kernel_input_feature_dimension())));
    all_.unite(in(1, at(numbers.kernel_output_feature_dimension())), out(at(numbers.output_feature_dimension())));
  }

  void gather() {
    const auto& numbers = instruction().attributes().gather_dimension_numbers();
    if (numbers.operand_batching_dims_size() > 0) {
      fix_all();
      return;
    }
    const auto is_in = [](const auto& list, size_t d) {
      return std::ranges::find(list, static_cast<int64_t>(d)) != list.end();
    };
    const auto vector = static_cast<size_t>(numbers.index_vector_dim());
    size_t from = 0;
    size_t window = 0;
    for (size_t d = 0; d < shape().rank(); ++d) {
      if (is_in(numbers.offset_dims(), d)) {
        while (is_in(numbers.collapsed_slice_dims(), window)) ++window;
        unite_where_equal(in(0, window), operand(0).dimension(window), out(d), shape().dimension(d));
        ++window;
      } else {
        if (from == vector) ++from;
        all_.unite(in(1, from++), out(d));
      }
    }
    if (vector < operand(1).rank()) all_.fix(in(1, vector));
  }

  void scatter() {
    const auto& numbers = instruction().attributes().scatter_dimension_numbers();
    if (operands() != 3 || numbers.input_batching_dims_size() > 0) {
      fix_all();
      return;
    }
    unite_in_order(0, {});
    const auto vector = static_cast<size_t>(numbers.index_vector_dim());
    size_t from = 0;
    size_t window = 0;
    const auto is_in = [](const auto& list, size_t d) {
      return std::ranges::find(list, static_cast<int64_t>(d)) != list.end();
    };
    for (size_t d = 0; d < operand(2).rank(); ++d) {
      if (is_in(numbers.update_window_dims(), d)) {
        while (is_in(numbers.inserted_window_dims(), window)) ++window;
        unite_where_equal(in(0, window), operand(0).dimension(window), in(2, d), operand(2).dimension(d));
        ++window;
      } else {
        if (from == vector) ++from;
        all_.unite(in(1, from++), in(2, d));
      }
    }
    if (vector < operand(1).rank()) all_.fix(in(1, vector));
  }

  void reshape() {
    for (const ReshapeGroup& group : reshape_groups(operand(0), shape()))
      if (group.from.size() == 1 && group.to.size() == 1) all_.unite(in(0, group.from[0]), out(group.to[0]));
  }

  void pad() {
    const auto& config = instruction().attributes().padding_config();
    for (size_t d = 0; d < shape().rank(); ++d) {
      const auto& one = config.dimensions(static_cast<int>(d));
      if (one.edge_padding_low() == 0 && one.edge_padding_high() == 0 && one.interior_padding() == 0)
        all_.unite(in(0, d), out(d));
    }
  }

  // Results of which the first dimensions are those of the operands.
  void batches(size_t k, size_t last_fixed) {
    for (size_t d = 0; d + last_fixed < std::min(shape().rank(), operand(k).rank()); ++d) all_.unite(in(k, d), out(d));
    for (size_t d = 0; d < std::min(last_fixed, shape().rank()); ++d) all_.fix(out(shape().rank() - 1 - d));
    for (size_t d = 0; d < std::min(last_fixed, operand(k).rank()); ++d) all_.fix(in(k, operand(k).rank() - 1 - d));
  }

  void apply() {
    const Instruction& it = instruction();
    const auto dimension = [&](size_t d) { return static_cast<size_t>(it.dimensions[d]); };
    switch (it.opcode) {
      case Opcode::Parameter:
      case Opcode::Constant:
      case Opcode::Iota:
      case Opcode::AfterAll:
      case Opcode::Rng: return;
      case Opcode::Broadcast:
        for (size_t d = 0; d < operand(0).rank(); ++d) all_.unite(in(0, d), out(dimension(d)));
        return;
      case Opcode::Transpose:
        for (size_t d = 0; d < shape().rank(); ++d) all_.unite(in(0, dimension(d)), out(d));
        return;
      case Opcode::Reduce:
        for (size_t k = 0; k < operands() / 2; ++k) {
          unite_operands(0, k);
          unite_in_order(0, it.dimensions, shape().is_tuple() ? k : 0);
        }
        return;
      case Opcode::Sort:
        for (size_t k = 0; k < operands(); ++k) {
          unite_operands(0, k);
          unite_in_order(0, {}, shape().is_tuple() ? k : 0);
        }
        return;
      case Opcode::Tuple: {
        uint32_t leaf = 0;
        for (size_t k = 0; k < operands(); ++k) {
          unite_values(computation_, operand_index(k), computation_, at_, leaf);
          leaf += hlo::leaf_count(operand(k));
        }
        return;
      }
      case Opcode::GetTupleElement: {
        uint32_t leaf = 0;
        for (int64_t k = 0; k < it.tuple_index; ++k)
          leaf += hlo::leaf_count(operand(0).elements()[static_cast<size_t>(k)]);
        unite_values(computation_, at_, computation_, operand_index(0), leaf);
        return;
      }
      case Opcode::While:
        unite_values(computation_, at_, computation_, operand_index(0));
        unite_with_parameters(0, 0);
        unite_with_parameters(1, 0);
        unite_with_root(0);
        return;
      case Opcode::Conditional:
        for (size_t branch = 0; branch < it.called.size(); ++branch) {
          const InstructionIndex parameter = module_.computations[it.called[branch]].parameters()[0];
          unite_values(computation_, operand_index(branch + 1), it.called[branch], parameter);
          unite_with_root(branch);
        }
        return;
      case Opcode::Call:
      case Opcode::Fusion:
        unite_with_parameters(0, 0);
        unite_with_root(0);
        return;
      case Opcode::OptBarrier: return unite_values(computation_, at_, computation_, operand_index(0));
      case Opcode::Dot: return dot();
      case Opcode::Convolution: return convolution();
      case Opcode::Gather: return gather();
      case Opcode::Scatter: return scatter();
      case Opcode::Reshape: return reshape();
      case Opcode::Pad: return pad();
      case Opcode::Concatenate:
        for (size_t k = 0; k < operands(); ++k)
          for (size_t d = 0; d < shape().rank(); ++d)
            if (static_cast<int64_t>(d) != it.dimensions[0]) all_.unite(in(k, d), out(d));
        return;
      case Opcode::Slice:
      case Opcode::DynamicSlice:
        for (size_t d = 0; d < shape().rank(); ++d)
          unite_where_equal(in(0, d), operand(0).dimension(d), out(d), shape().dimension(d));
        return;
      case Opcode::DynamicUpdateSlice:
        unite_in_order(0, {});
        for (size_t d = 0; d < shape().rank(); ++d)
          unite_where_equal(in(0, d), operand(0).dimension(d), in(1, d), operand(1).dimension(d));
        return;
      case Opcode::ReduceWindow:
        for (size_t k = 0; k < operands() / 2; ++k)
          for (size_t d = 0; d < operand(k).rank(); ++d) {
            all_.unite(in(0, d), in(k, d));
            if (shape().is_tuple()) all_.unite(out(d, 0), out(d, k));
            unite_where_equal(in(k, d), operand(k).dimension(d), out(d, shape().is_tuple() ? k : 0),
                              result(k).dimension(d));
          }
        return;
      case Opcode::Cholesky: return batches(0, 2);
      case Opcode::Fft: return batches(0, static_cast<size_t>(it.attributes().fft_length_size()));
      case Opcode::TriangularSolve:
        unite_in_order(1, {});
        for (size_t d = 0; d + 2 < shape().rank(); ++d) all_.unite(in(0, d), out(d));
        all_.fix(in(0, shape().rank() - 1));
        all_.fix(in(0, shape().rank() - 2));
        return;
      case Opcode::BitcastConvert:
      case Opcode::Convert:
      case Opcode::Map: return elementwise();
      default:
        // What takes arrays of its own shape and calls nothing works element by element, or fixes what it does.
        if (!it.called.empty() || !shape().is_array() || it.opcode == Opcode::CustomCall ||
            std::ranges::any_of(it.operands, [&](const InstructionIndex k) {
              const Shape& other = computation().instructions[k].shape;
              return !other.same_dimensions(shape()) && !other.is_scalar();
            }))
          return fix_all();
        return elementwise();
    }
  }

  const Module& module_;
  Dimensions& all_;
  ComputationIndex computation_ = 0;
  InstructionIndex at_ = 0;
};

Dimensions::Dimensions(const Module& module) {
  uint32_t instructions = 0;
  for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
    first_instruction_.push_back(instructions);
    for (InstructionIndex i = 0; i < module.computations[c].instructions.size(); ++i, ++instructions) {
      first_leaf_.push_back(static_cast<uint32_t>(first_leaf_dimension_.size()));
      uint32_t leaf = 0;
      hlo::for_each_leaf(module.computations[c].instructions[i].shape, [&](const Shape& array) {
        first_leaf_dimension_.push_back(static_cast<uint32_t>(places_.size()));
        for (uint32_t d = 0; d < array.rank(); ++d) places_.push_back({c, i, leaf, d});
        ++leaf;
      });
    }
  }
  parent_.resize(places_.size());
  std::iota(parent_.begin(), parent_.end(), 0U);
  fixed_.resize(places_.size(), false);
  DimensionRules rules(module, *this);
  for (ComputationIndex c = 0; c < module.computations.size(); ++c)
    for (InstructionIndex i = 0; i < module.computations[c].instructions.size(); ++i) rules.visit(c, i);
}

uint32_t Dimensions::find(uint32_t dimension) const {
  while (parent_[dimension] != dimension) dimension = parent_[dimension] = parent_[parent_[dimension]];
  return dimension;
}

void Dimensions::unite(const Place& a, const Place& b) {
  const uint32_t x = find(index(a));
  const uint32_t y = find(index(b));
  if (x == y) return;
  parent_[std::max(x, y)] = std::min(x, y);
  if (fixed_[std::max(x, y)]) fixed_[std::min(x, y)] = true;
}

std::vector<Dimensions::Place> Dimensions::groups() const {
  std::vector<Place> all;
  for (uint32_t d = 0; d < places_.size(); ++d)
    if (find(d) == d) all.push_back(places_[d]);
  return all;
}

std::vector<ReshapeGroup> reshape_groups(const Shape& from, const Shape& to) {
  std::vector<ReshapeGroup> groups;
  size_t a = 0;
  size_t b = 0;
  while (a < from.rank() || b < to.rank()) {
    ReshapeGroup& group = groups.emplace_back();
    const bool has_left = a < from.rank();
    const bool has_right = b < to.rank();
    const bool left_alone = has_left && from.dimension(a) == 1 && !(has_right && to.dimension(b) == 1);
    const bool right_alone = has_right && to.dimension(b) == 1 && !(has_left && from.dimension(a) == 1);
    if (has_left && !right_alone) group.from.push_back(a++);
    if (has_right && !left_alone) group.to.push_back(b++);
    if (left_alone || right_alone) continue;
    const auto product = [](const Shape& shape, const std::vector<size_t>& dimensions) {
      int64_t all = 1;
      for (const size_t d : dimensions) all *= shape.dimension(d);
      return all;
    };
    for (;;) {
      const int64_t left = product(from, group.from);
      const int64_t right = product(to, group.to);
      if (left < right && a < from.rank()) {
        group.from.push_back(a++);
      } else if (left > right && b < to.rank()) {
        group.to.push_back(b++);
      } else {
        break;
      }
    }
  }
  return groups;
}

}  // namespace sapper::reduce
