#include "eval/fast_reduce.h"

#include <algorithm>
#include <array>
#include <limits>

#include "eval/lane_memory.h"
#include "eval/parallel.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::Opcode;

constexpr int64_t piece = 1 << 14;          // elements that one thread folds in a row
constexpr int64_t block_of_columns = 1024;  // results that take neighbouring elements together

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

template <class T>
bool put_integer_identity(std::byte* at, Opcode opcode) {
  switch (opcode) {
    case Opcode::Add:
    case Opcode::Or:
    case Opcode::Xor: return put(at, T{0}), true;
    case Opcode::Multiply: return put(at, T{1}), true;
    case Opcode::And: return put(at, static_cast<T>(~T{0})), true;
    case Opcode::Maximum: return put(at, std::numeric_limits<T>::min()), true;
    case Opcode::Minimum: return put(at, std::numeric_limits<T>::max()), true;
    default: return false;
  }
}

template <class T>
bool put_float_identity(std::byte* at, Opcode opcode) {
  switch (opcode) {
    case Opcode::Add: return put(at, T{-0.0}), true;  // -0 + x = x for both zeros
    case Opcode::Multiply: return put(at, T{1}), true;
    case Opcode::Maximum: return put(at, -std::numeric_limits<T>::infinity()), true;
    case Opcode::Minimum: return put(at, std::numeric_limits<T>::infinity()), true;
    default: return false;
  }
}

bool put_identity(std::byte* at, Opcode opcode, ElementType running) {
  switch (running) {
    case ElementType::Pred: {
      const bool all = opcode == Opcode::And || opcode == Opcode::Minimum || opcode == Opcode::Multiply;
      return put(at, static_cast<uint8_t>(all ? 1 : 0)), true;
    }
    case ElementType::S8: return put_integer_identity<int8_t>(at, opcode);
    case ElementType::S16: return put_integer_identity<int16_t>(at, opcode);
    case ElementType::S32: return put_integer_identity<int32_t>(at, opcode);
    case ElementType::S64: return put_integer_identity<int64_t>(at, opcode);
    case ElementType::U8: return put_integer_identity<uint8_t>(at, opcode);
    case ElementType::U16: return put_integer_identity<uint16_t>(at, opcode);
    case ElementType::U32: return put_integer_identity<uint32_t>(at, opcode);
    case ElementType::U64: return put_integer_identity<uint64_t>(at, opcode);
    case ElementType::F32: return put_float_identity<float>(at, opcode);
    case ElementType::F64: return put_float_identity<double>(at, opcode);
    default: return false;
  }
}

}  // namespace

// Runs of the elements as lanes. Each thread has its own.
class FastReduce::Reader {
 public:
  // Reads of up to `longest` elements.
  Reader(const FastReduce& reduce, const Elements& elements, int64_t longest)
      : element_bytes_(hlo::host_bytes(reduce.type_)),
        elements_(elements),
        widen_(reduce.widen_),
        lanes_(widen_ == nullptr ? 0 : static_cast<size_t>(longest) * lane_bytes(reduce.type_)) {
    if (elements.program == nullptr) return;
    program_.emplace(*elements.program, elements.operands, longest);
    targets_.resize(elements.program->result_count());
    if (elements.kept.size() < targets_.size()) computed_.resize(static_cast<size_t>(longest * element_bytes_));
  }

  // Lanes of the n elements from `first` on, until the next read.
  const void* read(int64_t first, size_t n) {
    const std::byte* const run = program_ ? compute(first, n) : elements_.array + first * element_bytes_;
    if (widen_ == nullptr) return run;
    widen_(n, lanes_.data(), run, nullptr, nullptr, 0);
    return lanes_.data();
  }

 private:
  const std::byte* compute(int64_t first, size_t n) {
    const size_t not_kept = targets_.size() - elements_.kept.size();
    targets_[0] = computed_.data();
    for (size_t k = not_kept; k < targets_.size(); ++k)
      targets_[k] = elements_.kept[k - not_kept] + first * hlo::host_bytes(elements_.program->result_type(k));
    program_->read(first, static_cast<int64_t>(n), targets_);
    return targets_[0];
  }

  int64_t element_bytes_;
  const Elements& elements_;
  LaneFunction widen_;
  std::vector<std::byte> lanes_;
  std::optional<LaneProgram::Reader> program_;
  std::vector<std::byte> computed_;
  std::vector<std::byte*> targets_;
};

std::optional<FastReduce> FastReduce::make(const hlo::Module& module, const Instruction& instruction,
                                           const hlo::Shape& operand) {
  if (instruction.operands.size() != 2 || !instruction.shape.is_array() || operand.is_dynamic()) return {};
  const hlo::Computation& reducer = module.computations[instruction.called[0]];
  const std::optional<Opcode> opcode = hlo::single_operation(reducer);
  const ElementType type = operand.element_type();
  const bool one_type = instruction.shape.element_type() == type &&
                        std::all_of(reducer.instructions.begin(), reducer.instructions.end(),
                                    [&](const Instruction& step) { return step.shape.element_type() == type; });
  if (!opcode || reducer.instructions.size() != 3 || !one_type) return {};

  FastReduce reduce;
  reduce.type_ = type;
  const bool wide = hlo::is_float(type) && (*opcode == Opcode::Add || *opcode == Opcode::Multiply);
  reduce.running_type_ = wide ? ElementType::F64 : lane_type(type);
  reduce.fold_ = lane_fold(*opcode, lane_type(type));
  reduce.fold_running_ = lane_fold(*opcode, reduce.running_type_);
  if (reduce.fold_.row == nullptr || !put_identity(reduce.identity_, *opcode, reduce.running_type_)) return {};
  reduce.widen_ = load_lanes(type);
  reduce.to_running_ = convert_lanes(type, reduce.running_type_);
  reduce.to_result_ = convert_lanes(reduce.running_type_, type);
  reduce.store_ = store_lanes(type);
  reduce.result_count_ = instruction.shape.element_count();

  const std::vector<int64_t> strides = row_major_strides(operand.dimensions());
  struct Dimension {
    int64_t size;
    int64_t stride;
    bool reduced;
  };
  std::vector<Dimension> dimensions;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto& over = instruction.dimensions;
    const bool reduced = std::find(over.begin(), over.end(), static_cast<int64_t>(d)) != over.end();
    const int64_t size = operand.dimension(d);
    if (size == 1) continue;
    if (!dimensions.empty() && dimensions.back().reduced == reduced) {
      dimensions.back() = {dimensions.back().size * size, strides[d], reduced};
    } else {
      dimensions.push_back({size, strides[d], reduced});
    }
  }
  if (!dimensions.empty()) {
    reduce.inner_ = dimensions.back().size;
    reduce.inner_is_reduced_ = dimensions.back().reduced;
    dimensions.pop_back();
  }
  for (const Dimension& dimension : dimensions)
    (dimension.reduced ? reduce.reduced_ : reduce.kept_).push_back({dimension.size, {dimension.stride}});
  return reduce;
}

void FastReduce::fill_running(std::byte* running, int64_t n) const {
  const auto bytes = static_cast<size_t>(hlo::host_bytes(running_type_));
  for (int64_t i = 0; i < n; ++i) std::memcpy(running + static_cast<size_t>(i) * bytes, identity_, bytes);
}

// Results [first, first + n) from their running values: the init value, once, and one rounding.
void FastReduce::finish(const std::byte* init, const std::byte* running, int64_t first, size_t n,
                        std::byte* result) const {
  constexpr size_t block = 256;
  const auto running_bytes = static_cast<size_t>(hlo::host_bytes(running_type_));
  alignas(16) std::byte init_lane[16];
  alignas(16) std::byte init_running[16];
  if (widen_ != nullptr) widen_(1, init_lane, init, nullptr, nullptr, 0);
  to_running_.apply(1, init_running, widen_ == nullptr ? init : init_lane);
  alignas(64) std::array<std::byte, block * 8> started;
  alignas(64) std::array<std::byte, block * 8> lanes;
  for (size_t i = 0; i < n; i += block) {
    const size_t part = std::min(block, n - i);
    for (size_t j = 0; j < part; ++j) std::memcpy(started.data() + j * running_bytes, init_running, running_bytes);
    fold_running_.columns(part, running + i * running_bytes, started.data());
    std::byte* const target = result + (static_cast<size_t>(first) + i) * static_cast<size_t>(hlo::host_bytes(type_));
    to_result_.apply(part, store_ == nullptr ? target : lanes.data(), started.data());
    if (store_ != nullptr) store_(part, target, lanes.data(), nullptr, nullptr, 0);
  }
}

// Nanoseconds that reading and folding n elements takes.
int64_t FastReduce::cost(const Elements& elements, int64_t n) {
  return n / 4 + (elements.program == nullptr ? 0 : n * elements.program->cost());
}

int64_t FastReduce::run_length() const { return std::min(inner_is_reduced_ ? piece : block_of_columns, inner_); }

void FastReduce::run(const Elements& elements, const std::byte* init, std::byte* result) const {
  if (result_count_ == 0) return;
  inner_is_reduced_ ? run_rows(elements, init, result) : run_columns(elements, init, result);
}

// The innermost dimension is reduced: each result takes rows, in pieces.
void FastReduce::run_rows(const Elements& elements, const std::byte* init, std::byte* result) const {
  const auto running_bytes = static_cast<size_t>(hlo::host_bytes(running_type_));
  const int64_t pieces_of_row = (inner_ + piece - 1) / piece;
  const int64_t pieces = Walk<1>(reduced_).positions() * pieces_of_row;
  const int64_t longest = run_length();
  const int64_t piece_cost = cost(elements, longest) + 10;
  const auto fold_piece = [&](Reader& reader, Walk<1>& row, int64_t base, int64_t p, std::byte* value) {
    if (pieces > 1) row.seek(p / pieces_of_row);
    const int64_t first = p % pieces_of_row * piece;
    const auto n = static_cast<size_t>(std::min(piece, inner_ - first));
    fold_.row(n, reader.read(base + row.offset(0) + first, n), value);
  };
  if (result_count_ >= pieces) {
    parallel_blocks(result_count_, pieces * piece_cost, [&](int64_t begin, int64_t end) {
      constexpr int64_t block = 64;
      Walk<1> kept(kept_);
      Walk<1> row(reduced_);
      Reader reader(*this, elements, longest);
      alignas(64) std::array<std::byte, static_cast<size_t>(block) * 8> running;
      kept.seek(begin);
      for (int64_t first = begin; first < end; first += block) {
        const int64_t n = std::min(block, end - first);
        fill_running(running.data(), n);
        for (int64_t i = 0; i < n; ++i, kept.next())
          for (int64_t p = 0; p < pieces; ++p)
            fold_piece(reader, row, kept.offset(0), p, running.data() + static_cast<size_t>(i) * running_bytes);
        finish(init, running.data(), first, static_cast<size_t>(n), result);
      }
    });
    return;
  }
  // Few results: the pieces of each in parallel, then together in order.
  std::vector<std::byte> values(static_cast<size_t>(pieces + 1) * running_bytes);
  Walk<1> kept(kept_);
  for (int64_t i = 0; i < result_count_; ++i, kept.next()) {
    fill_running(values.data(), pieces + 1);
    parallel_blocks(pieces, piece_cost, [&](int64_t begin, int64_t end) {
      Walk<1> row(reduced_);
      Reader reader(*this, elements, longest);
      for (int64_t p = begin; p < end; ++p)
        fold_piece(reader, row, kept.offset(0), p, values.data() + static_cast<size_t>(p + 1) * running_bytes);
    });
    fold_values(values.data(), 1, static_cast<size_t>(pieces), running_bytes);
    finish(init, values.data(), i, 1, result);
  }
}

// Folds `count` groups of n running values, `stride` bytes apart, that follow the first into it, in order.
void FastReduce::fold_values(std::byte* values, size_t n, size_t count, size_t stride) const {
  for (size_t k = 1; k <= count; ++k) fold_running_.columns(n, values + k * stride, values);
}

// The innermost dimension is kept: neighbouring results take neighbouring elements.
void FastReduce::run_columns(const Elements& elements, const std::byte* init, std::byte* result) const {
  const int64_t rows = Walk<1>(reduced_).positions();
  const int64_t blocks_of_row = (inner_ + block_of_columns - 1) / block_of_columns;
  const int64_t width = run_length();
  // Rows are folded in groups, so that the work for few results can be shared out too.
  const int64_t rows_of_group = std::max<int64_t>(1, piece * 8 / width);
  const int64_t groups = (rows + rows_of_group - 1) / rows_of_group;
  const int64_t targets = Walk<1>(kept_).positions() * blocks_of_row;
  const int64_t group_cost = std::min(rows, rows_of_group) * (cost(elements, width) + 5) + 50;
  const size_t stride = static_cast<size_t>(width) * static_cast<size_t>(hlo::host_bytes(running_type_));
  const auto width_of = [&](int64_t target) {
    return static_cast<size_t>(std::min(block_of_columns, inner_ - target % blocks_of_row * block_of_columns));
  };
  const auto fold_group = [&](Reader& reader, int64_t target, int64_t group, std::byte* values) {
    Walk<1> kept(kept_);
    Walk<1> row(reduced_);
    kept.seek(target / blocks_of_row);
    row.seek(group * rows_of_group);
    const int64_t first = kept.offset(0) + target % blocks_of_row * block_of_columns;
    const size_t n = width_of(target);
    const int64_t end = std::min(rows, (group + 1) * rows_of_group);
    for (int64_t r = group * rows_of_group; r < end; ++r, row.next())
      fold_.columns(n, reader.read(first + row.offset(0), n), values);
  };
  const auto finish_target = [&](int64_t target, const std::byte* values) {
    finish(init, values, target / blocks_of_row * inner_ + target % blocks_of_row * block_of_columns, width_of(target),
           result);
  };
  if (groups <= 1) {
    parallel_blocks(targets, group_cost, [&](int64_t begin, int64_t end) {
      Reader reader(*this, elements, width);
      std::vector<std::byte> values(stride);
      for (int64_t t = begin; t < end; ++t) {
        fill_running(values.data(), width);
        if (groups == 1) fold_group(reader, t, 0, values.data());
        finish_target(t, values.data());
      }
    });
    return;
  }
  std::vector<std::byte> values(static_cast<size_t>(groups + 1) * stride);
  for (int64_t t = 0; t < targets; ++t) {
    fill_running(values.data(), (groups + 1) * width);
    parallel_blocks(groups, group_cost, [&](int64_t begin, int64_t end) {
      Reader reader(*this, elements, width);
      for (int64_t g = begin; g < end; ++g)
        fold_group(reader, t, g, values.data() + static_cast<size_t>(g + 1) * stride);
    });
    fold_values(values.data(), width_of(t), static_cast<size_t>(groups), stride);
    finish_target(t, values.data());
  }
}

}  // namespace sapper::eval
