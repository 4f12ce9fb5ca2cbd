// Edits of dimensions: smaller ones, wherever they must be equal, and what follows from them; none where they are 1.
#include <algorithm>
#include <map>
#include <numeric>

#include "hlo/verifier.h"
#include "reduce/dimensions.h"
#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// What is kept of a dimension.
struct Range {
  int64_t first = 0;
  int64_t size = 0;
};
using Ranges = std::map<uint32_t, Range>;  // by group

// The shape with `change(leaf, dimensions)` made to each of its arrays. Layouts stay where ranks do.
template <class Change>
Shape changed_shape(const Shape& shape, uint32_t& leaf, const Change& change) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements()) elements.push_back(changed_shape(element, leaf, change));
    return Shape::tuple(std::move(elements));
  }
  if (!shape.is_array()) {
    ++leaf;
    return shape;
  }
  std::vector<int64_t> dimensions = shape.dimensions();
  change(leaf++, dimensions);
  return Shape::array(shape.element_type(), dimensions, {},
                      dimensions.size() == shape.rank() ? shape.shared_layout() : nullptr);
}

class Resize {
 public:
  Resize(Program& program, const Dimensions& dimensions, Ranges ranges)
      : program_(program), all_(dimensions), ranges_(std::move(ranges)), asked_(ranges_) {}

  // False: the sizes do not go together.
  bool run() {
    constexpr int most_rounds = 32;
    for (int round = 0; round < most_rounds; ++round) {
      module_ = program_.module;
      changed_ = false;
      if (!apply()) return false;
      if (changed_) continue;  // something follows from the sizes: with it, once more
      take_parts();
      program_.module = std::move(module_);
      return true;
    }
    return false;
  }

 private:
  [[nodiscard]] uint32_t group(ComputationIndex c, InstructionIndex i, uint32_t leaf, size_t d) const {
    return all_.group({c, i, leaf, static_cast<uint32_t>(d)});
  }

  bool apply() {
    for (ComputationIndex c = 0; c < module_.computations.size(); ++c)
      for (InstructionIndex i = 0; i < module_.computations[c].instructions.size(); ++i) {
        uint32_t first_leaf = 0;
        Instruction& instruction = module_.computations[c].instructions[i];
        instruction.shape = changed_shape(instruction.shape, first_leaf, [&](uint32_t leaf, auto& dimensions) {
          for (size_t d = 0; d < dimensions.size(); ++d)
            if (const auto range = ranges_.find(group(c, i, leaf, d)); range != ranges_.end())
              dimensions[d] = range->second.size;
        });
      }
    for (ComputationIndex c = 0; c < module_.computations.size(); ++c)
      for (InstructionIndex i = 0; i < module_.computations[c].instructions.size(); ++i)
        if (!adjust(c, i)) return false;
    return true;
  }

  // A dimension has to have another size; false: it cannot.
  bool demand(ComputationIndex c, InstructionIndex i, size_t d, int64_t size) {
    const uint32_t g = group(c, i, 0, d);
    const int64_t old = program_.module.computations[c].instructions[i].shape.dimension(d);
    if (all_.is_fixed(g) || asked_.contains(g) || size < 0 || size > old) return false;
    const auto [at, is_new] = ranges_.try_emplace(g, Range{0, size});
    if (!is_new && at->second.size == size) return true;
    at->second.size = size;
    changed_ = true;
    return true;
  }

  bool adjust(ComputationIndex c, InstructionIndex i) {
    Computation& computation = module_.computations[c];
    Instruction& instruction = computation.instructions[i];
    const auto operand = [&](size_t k) -> const Shape& {
      return computation.instructions[instruction.operands[k]].shape;
    };
    switch (instruction.opcode) {
      case Opcode::Slice: return adjust_slice(instruction, operand(0));
      case Opcode::DynamicSlice:
        for (size_t d = 0; d < instruction.shape.rank(); ++d)
          instruction.edit_attributes().set_dynamic_slice_sizes(static_cast<int>(d), instruction.shape.dimension(d));
        return true;
      case Opcode::Gather: return adjust_gather(instruction);
      case Opcode::Reshape: return adjust_reshape(c, i, operand(0));
      case Opcode::Convolution: {
        const auto numbers = instruction.attributes().convolution_dimension_numbers();
        for (int d = 0; d < numbers.kernel_spatial_dimensions_size(); ++d)
          instruction.edit_attributes().mutable_window()->mutable_dimensions(d)->set_size(
              operand(1).dimension(static_cast<size_t>(numbers.kernel_spatial_dimensions(d))));
        return follow(c, i);
      }
      case Opcode::ReduceWindow: {
        const Shape& old = program_.module.computations[c].instructions[instruction.operands[0]].shape;
        for (size_t d = 0; d < old.rank(); ++d)  // a window over all of a dimension stays one
          if (instruction.attributes().window().dimensions(static_cast<int>(d)).size() == old.dimension(d))
            instruction.edit_attributes()
                .mutable_window()
                ->mutable_dimensions(static_cast<int>(d))
                ->set_size(operand(0).dimension(d));
        return follow(c, i);
      }
      case Opcode::Pad:
      case Opcode::Concatenate:
      case Opcode::SelectAndScatter: return follow(c, i);
      default: return true;
    }
  }

  // The result's sizes follow from the operands'.
  bool follow(ComputationIndex c, InstructionIndex i) {
    const Instruction& instruction = module_.computations[c].instructions[i];
    const auto inferred = hlo::infer_shape(module_, module_.computations[c], instruction);
    if (!inferred || inferred->is_tuple() || inferred->rank() != instruction.shape.rank()) return inferred.has_value();
    for (size_t d = 0; d < inferred->rank(); ++d)
      if (inferred->dimension(d) != instruction.shape.dimension(d) && !demand(c, i, d, inferred->dimension(d)))
        return false;
    return true;
  }

  static bool adjust_slice(Instruction& instruction, const Shape& operand) {
    for (size_t d = 0; d < instruction.shape.rank(); ++d) {
      auto& slice = *instruction.edit_attributes().mutable_slice_dimensions(static_cast<int>(d));
      const int64_t stride = std::max<int64_t>(1, slice.stride());
      const int64_t size = instruction.shape.dimension(d);
      const int64_t length = size == 0 ? 0 : (size - 1) * stride + 1;
      if (length > operand.dimension(d)) return false;
      slice.set_start(std::min(slice.start(), operand.dimension(d) - length));
      slice.set_limit(slice.start() + length);
    }
    return true;
  }

  static bool adjust_gather(Instruction& instruction) {
    const auto numbers = instruction.attributes().gather_dimension_numbers();
    int window = 0;
    for (const int64_t offset : numbers.offset_dims()) {
      while (std::ranges::find(numbers.collapsed_slice_dims(), window) != numbers.collapsed_slice_dims().end())
        ++window;
      instruction.edit_attributes().set_gather_slice_sizes(window++,
                                                           instruction.shape.dimension(static_cast<size_t>(offset)));
    }
    return true;
  }

  // Where the products of a group of dimensions are not the same any more, one of them gives.
  bool adjust_reshape(ComputationIndex c, InstructionIndex i, const Shape& operand) {
    const Computation& old = program_.module.computations[c];
    const InstructionIndex from = old.instructions[i].operands[0];
    const Shape& shape = module_.computations[c].instructions[i].shape;
    const auto product = [](const Shape& of, const std::vector<size_t>& dimensions) {
      int64_t all = 1;
      for (const size_t d : dimensions) all *= of.dimension(d);
      return all;
    };
    for (const ReshapeGroup& one : reshape_groups(old.instructions[from].shape, old.instructions[i].shape)) {
      const int64_t left = product(operand, one.from);
      const int64_t right = product(shape, one.to);
      if (left == right) continue;
      const auto gives = [&](InstructionIndex at, const Shape& of, const std::vector<size_t>& dimensions, int64_t all,
                             int64_t wanted) {
        return std::ranges::any_of(dimensions, [&](const size_t d) {
          const int64_t others = of.dimension(d) == 0 ? 0 : all / of.dimension(d);
          return others > 0 && wanted % others == 0 && demand(c, at, d, wanted / others);
        });
      };
      if (!gives(i, shape, one.to, right, left) && !gives(from, operand, one.from, left, right)) return false;
    }
    return true;
  }

  // Of the arguments and constants.
  void take_parts() {
    for (ComputationIndex c = 0; c < module_.computations.size(); ++c)
      for (InstructionIndex i = 0; i < module_.computations[c].instructions.size(); ++i) {
        Instruction& instruction = module_.computations[c].instructions[i];
        if (instruction.literal && instruction.shape.is_array())
          instruction.literal = std::make_shared<hlo::Literal>(part_of_all(*instruction.literal, c, i));
        if (c == module_.entry && instruction.opcode == Opcode::Parameter) {
          hlo::Literal& argument = program_.arguments[static_cast<size_t>(instruction.parameter_number)];
          argument = part_of_all(argument, c, i);
        }
      }
  }

  [[nodiscard]] hlo::Literal part_of_all(hlo::Literal array, ComputationIndex c, InstructionIndex i) const {
    for (size_t d = 0; d < array.shape().rank(); ++d) {
      const auto range = ranges_.find(group(c, i, 0, d));
      if (range == ranges_.end() || range->second.size >= array.shape().dimension(d)) continue;
      const int64_t first = std::min(range->second.first, array.shape().dimension(d) - range->second.size);
      array = part_of(array, d, first, range->second.size);
    }
    return array;
  }

  Program& program_;
  const Dimensions& all_;
  Ranges ranges_;
  const Ranges asked_;
  Module module_;
  bool changed_ = false;
};

// The dimension in the place of `old` where those that `gone` names are left out.
int64_t renumbered(int64_t old, const std::vector<bool>& gone) {
  return old - std::count(gone.begin(), gone.begin() + old, true);
}

template <class List>
void renumber(List& list, const std::vector<bool>& gone) {
  std::vector<int64_t> kept;
  for (const int64_t d : list)
    if (!gone[static_cast<size_t>(d)]) kept.push_back(renumbered(d, gone));
  list = List(kept.begin(), kept.end());
}

// Leaves out a group of dimensions of size 1.
class DropRank {
 public:
  DropRank(Program& program, const Dimensions& dimensions, uint32_t group)
      : program_(program), all_(dimensions), group_(group) {}

  bool run() {
    Module module = program_.module;
    for (ComputationIndex c = 0; c < module.computations.size(); ++c)
      for (InstructionIndex i = 0; i < module.computations[c].instructions.size(); ++i)
        if (!adjust(module.computations[c].instructions[i], c, i)) return false;
    program_.module = std::move(module);
    const Computation& entry = program_.module.entry_computation();
    for (const InstructionIndex parameter : entry.parameters()) {
      const Instruction& instruction = entry.instructions[parameter];
      hlo::Literal& argument = program_.arguments[static_cast<size_t>(instruction.parameter_number)];
      argument = in_shape(argument, instruction.shape);
    }
    return true;
  }

 private:
  // Which dimensions of the first array of a value go.
  [[nodiscard]] std::vector<bool> gone_of(ComputationIndex c, InstructionIndex i) const {
    const Shape& shape = program_.module.computations[c].instructions[i].shape;
    std::vector<bool> gone(shape.rank(), false);
    for (uint32_t d = 0; d < shape.rank(); ++d) gone[d] = all_.group({c, i, 0, d}) == group_;
    return gone;
  }

  bool adjust(Instruction& instruction, ComputationIndex c, InstructionIndex i) {
    const std::vector<bool> gone = gone_of(c, i);
    const std::vector<bool> gone_in = instruction.operands.empty() ? gone : gone_of(c, instruction.operands[0]);
    uint32_t first_leaf = 0;
    bool any = false;
    instruction.shape = changed_shape(instruction.shape, first_leaf, [&](uint32_t leaf, auto& dimensions) {
      std::vector<int64_t> kept;
      for (uint32_t d = 0; d < dimensions.size(); ++d)
        if (all_.group({c, i, leaf, d}) != group_) kept.push_back(dimensions[d]);
      any |= kept.size() != dimensions.size();
      dimensions = kept;
    });
    if (instruction.literal && instruction.shape.is_array())
      instruction.literal = std::make_shared<hlo::Literal>(in_shape(*instruction.literal, instruction.shape));
    const auto touches = [](const std::vector<bool>& these) { return std::ranges::find(these, true) != these.end(); };
    if (!any && !touches(gone_in) && std::ranges::none_of(instruction.operands, [&](const InstructionIndex operand) {
          return touches(gone_of(c, operand));
        }))
      return true;
    return adjust_attributes(instruction, c, gone, gone_in);
  }

  bool adjust_attributes(Instruction& instruction, ComputationIndex c, const std::vector<bool>& gone,
                         const std::vector<bool>& gone_in) const {
    auto& dimensions = instruction.dimensions;
    switch (instruction.opcode) {
      case Opcode::Iota:
      case Opcode::Concatenate:
      case Opcode::Sort:
        if (gone[static_cast<size_t>(dimensions[0])]) return false;
        [[fallthrough]];
      case Opcode::Reverse: renumber(dimensions, gone); return true;
      case Opcode::Reduce: renumber(dimensions, gone_in); return true;
      case Opcode::Broadcast: renumber(dimensions, gone); return true;
      case Opcode::Transpose: renumber(dimensions, gone_in); return true;
      case Opcode::Slice: {
        Instruction old = instruction;
        instruction.edit_attributes().clear_slice_dimensions();
        for (size_t d = 0; d < gone.size(); ++d)
          if (!gone[d])
            *instruction.edit_attributes().add_slice_dimensions() =
                old.attributes().slice_dimensions(static_cast<int>(d));
        return gone == gone_in;
      }
      case Opcode::Pad: {
        Instruction old = instruction;
        instruction.edit_attributes().mutable_padding_config()->clear_dimensions();
        for (size_t d = 0; d < gone.size(); ++d)
          if (!gone[d])
            *instruction.edit_attributes().mutable_padding_config()->add_dimensions() =
                old.attributes().padding_config().dimensions(static_cast<int>(d));
        return gone == gone_in;
      }
      case Opcode::DynamicSlice: return drop_indices(instruction, 1, gone) && gone == gone_in;
      case Opcode::DynamicUpdateSlice: return drop_indices(instruction, 2, gone) && gone == gone_in;
      case Opcode::Dot: {
        auto& numbers = *instruction.edit_attributes().mutable_dot_dimension_numbers();
        const std::vector<bool> gone_right = gone_of(c, instruction.operands[1]);
        renumber(*numbers.mutable_lhs_batch_dimensions(), gone_in);
        renumber(*numbers.mutable_lhs_contracting_dimensions(), gone_in);
        renumber(*numbers.mutable_rhs_batch_dimensions(), gone_right);
        renumber(*numbers.mutable_rhs_contracting_dimensions(), gone_right);
        return true;
      }
      case Opcode::Gather:
      case Opcode::Scatter:
      case Opcode::Convolution:
      case Opcode::ReduceWindow:
      case Opcode::SelectAndScatter:
      case Opcode::Fft:
      case Opcode::Topk:
      case Opcode::TriangularSolve:
      case Opcode::Cholesky:
      case Opcode::CustomCall: return false;
      default: return true;  // says nothing of dimensions
    }
  }

  // One scalar index a dimension, from operand `first` on.
  static bool drop_indices(Instruction& instruction, size_t first, const std::vector<bool>& gone) {
    if (instruction.operands.size() != first + gone.size()) return false;
    std::vector<InstructionIndex> operands(instruction.operands.begin(),
                                           instruction.operands.begin() + static_cast<int64_t>(first));
    const Instruction old = instruction;
    if (first == 1) instruction.edit_attributes().clear_dynamic_slice_sizes();
    for (size_t d = 0; d < gone.size(); ++d) {
      if (gone[d]) continue;
      operands.push_back(old.operands[first + d]);
      if (first == 1)
        instruction.edit_attributes().add_dynamic_slice_sizes(
            old.attributes().dynamic_slice_sizes(static_cast<int>(d)));
    }
    instruction.operands = std::move(operands);
    return true;
  }

  Program& program_;
  const Dimensions& all_;
  const uint32_t group_;
};

int64_t size_at(const Module& module, const Dimensions::Place& place) {
  int64_t size = 0;
  uint32_t leaf = 0;
  hlo::for_each_leaf(module.computations[place.computation].instructions[place.instruction].shape,
                     [&](const Shape& array) {
                       if (leaf++ == place.leaf) size = array.dimension(place.dimension);
                     });
  return size;
}

struct Resizable {
  uint32_t group = 0;
  int64_t size = 0;
};

std::vector<Resizable> resizable(const Program& program, const Dimensions& dimensions) {
  std::vector<Resizable> all;
  for (const Dimensions::Place& place : dimensions.groups()) {
    const int64_t size = size_at(program.module, place);
    if (size > 1 && !dimensions.is_fixed(dimensions.group(place))) all.push_back({dimensions.group(place), size});
  }
  return all;
}

bool has_dynamic_shapes(const Module& module) {
  bool has = false;
  hlo::for_each_instruction(
      module, [&](const Computation&, const Instruction& instruction) { has |= instruction.shape.is_dynamic(); });
  return has;
}

}  // namespace

size_t dimensions_of(const Program& program) {
  return has_dynamic_shapes(program.module) ? 0 : resizable(program, Dimensions(program.module)).size();
}

std::vector<Edit> shrink(const Program& program, size_t chunk) {
  const auto dimensions = std::make_shared<const Dimensions>(program.module);
  const std::vector<Resizable> all = resizable(program, *dimensions);
  std::vector<Edit> edits;
  const auto add = [&](size_t first, const auto& range_of, const char* what) {
    Ranges ranges;
    for (size_t k = first; k < std::min(first + chunk, all.size()); ++k) {
      const Range range = range_of(all[k].size);
      if (range.size < all[k].size) ranges[all[k].group] = range;
    }
    if (ranges.empty()) return;
    edits.push_back({fmt::format("{} of {} elements in {} dimensions", what, all[first].size, ranges.size()),
                     [dimensions, ranges](Program& edited) { return Resize(edited, *dimensions, ranges).run(); }});
  };
  for (size_t first = 0; first < all.size(); first += chunk) {
    add(
        first,
        [](int64_t) {
          return Range{0, 1};
        },
        "the first");
    add(
        first,
        [](int64_t n) {
          return Range{0, n / 2};
        },
        "the first half");
    add(
        first,
        [](int64_t n) {
          return Range{n - n / 2, n / 2};
        },
        "the second half");
    if (chunk > 1) continue;
    add(
        first,
        [](int64_t n) {
          return Range{n - 1, 1};
        },
        "the last");
    add(
        first,
        [](int64_t n) {
          return Range{0, n * 3 / 4};
        },
        "three quarters");
    add(
        first,
        [](int64_t n) {
          return Range{n - n * 3 / 4, n * 3 / 4};
        },
        "the last three quarters");
    add(
        first,
        [](int64_t n) {
          return Range{0, n - 1};
        },
        "all but the last");
  }
  return edits;
}

std::vector<Edit> drop_ranks(const Program& program, size_t /*chunk*/) {
  std::vector<Edit> edits;
  if (has_dynamic_shapes(program.module)) return edits;
  const auto dimensions = std::make_shared<const Dimensions>(program.module);
  for (const Dimensions::Place& place : dimensions->groups()) {
    const uint32_t group = dimensions->group(place);
    if (size_at(program.module, place) != 1 || dimensions->is_fixed(group)) continue;
    edits.push_back({"without a dimension of 1",
                     [dimensions, group](Program& edited) { return DropRank(edited, *dimensions, group).run(); }});
  }
  return edits;
}

}  // namespace sapper::reduce
