// sort: lines of one dimension put in order by a comparator, all operands alike. Always stable. A comparator that is
// not an order gives some permutation, always the same.
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <numeric>

#include "eval/dynamic_shape.h"
#include "eval/index_space.h"
#include "eval/lane_memory.h"
#include "eval/op.h"
#include "eval/parallel.h"
#include "eval/scalar_function.h"
#include "eval/sort_key.h"

namespace sapper::eval {
namespace {

using Permutation = std::vector<int64_t>;  // where the element of each place comes from

// One line of all operands: element i is at offset + i * stride.
struct Line {
  int64_t offset;
  int64_t stride;
  int64_t size;
};

// Sorts by a key: false when the keys of the line have no order.
class KeySorter {
 public:
  KeySorter(const SortKey& key, std::span<const hlo::Literal> operands)
      : key_(key), operands_(operands), lanes_(key.type, block), inputs_(2 * operands.size(), nullptr) {
    for (const size_t o : key.operands) readers_.emplace_back(operands[o].shape().element_type(), block);
  }

  bool sort(const Line& line, Permutation& permutation) {
    if (!make_keys(line)) return false;
    const auto n = static_cast<size_t>(line.size);
    entries_.resize(n);
    for (size_t i = 0; i < n; ++i) entries_[i] = {keys_[i], static_cast<int64_t>(i)};
    // Places break ties, so that any correct sort gives the one stable order.
    constexpr size_t parallel_from = 100'000;
    if (n >= parallel_from) {
      tbb::parallel_sort(entries_.begin(), entries_.end());
    } else {
      std::sort(entries_.begin(), entries_.end());
    }
    for (size_t i = 0; i < n; ++i) permutation[i] = entries_[i].second;
    return true;
  }

 private:
  static constexpr size_t block = ScalarProgram::block;

  bool make_keys(const Line& line) {
    keys_.resize(static_cast<size_t>(line.size));
    for (int64_t i = 0; i < line.size; i += static_cast<int64_t>(block)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(block, line.size - i));
      for (size_t k = 0; k < readers_.size(); ++k) {
        const size_t o = key_.operands[k];
        const int bytes = hlo::host_bytes(operands_[o].shape().element_type());
        const std::byte* from = operands_[o].bytes().data() + (line.offset + i * line.stride) * bytes;
        inputs_[2 * o] = inputs_[2 * o + 1] = readers_[k].read(n, from, line.stride);
      }
      void* outputs[] = {lanes_.at(0)};
      key_.program.run(n, inputs_, outputs);
      if (!make_ordered_keys(key_.type, key_.order, key_.descending, n, lanes_.at(0), keys_.data() + i)) return false;
    }
    return true;
  }

  SortKey key_;
  std::span<const hlo::Literal> operands_;
  std::vector<LaneReader> readers_;
  LaneBuffer lanes_;
  std::vector<const void*> inputs_;
  std::vector<uint64_t> keys_;
  std::vector<std::pair<uint64_t, int64_t>> entries_;
};

// Sorts by asking the comparator, which need not be an order: a merge sort that any answers leave within its bounds.
class ComparatorSorter {
 public:
  ComparatorSorter(ScalarFunction comparator, std::span<const hlo::Literal> operands)
      : comparator_(std::move(comparator)), operands_(operands), inputs_(2 * operands.size()) {}

  Status sort(const Line& line, Permutation& permutation) {
    load(line);
    status_ = {};
    std::iota(permutation.begin(), permutation.end(), int64_t{0});
    const auto n = permutation.size();
    for (size_t begin = 0; begin < n; begin += run) insertion_sort(permutation, begin, std::min(n, begin + run));
    Permutation merged(n);
    for (size_t width = run; width < n; width *= 2) {
      for (size_t begin = 0; begin < n; begin += 2 * width) {
        merge(permutation, begin, std::min(n, begin + width), std::min(n, begin + 2 * width), merged);
      }
      permutation.swap(merged);
    }
    return status_;
  }

 private:
  static constexpr size_t run = 8;

  void load(const Line& line) {
    const auto n = static_cast<size_t>(line.size);
    lanes_.clear();
    for (const hlo::Literal& operand : operands_) {
      const hlo::ElementType type = operand.shape().element_type();
      LaneBuffer lanes(type, n);
      const std::byte* from = operand.bytes().data() + line.offset * hlo::host_bytes(type);
      if (n > 0) std::memcpy(lanes.at(0), LaneReader(type, n).read(n, from, line.stride), n * lane_bytes(type));
      lanes_.push_back(std::move(lanes));
    }
  }

  // Whether element a goes before element b; false once the comparator has failed.
  bool before(int64_t a, int64_t b) {
    if (!status_) return false;
    for (size_t o = 0; o < lanes_.size(); ++o) {
      inputs_[2 * o] = lanes_[o].at(static_cast<size_t>(a));
      inputs_[2 * o + 1] = lanes_[o].at(static_cast<size_t>(b));
    }
    uint8_t answer = 0;
    void* outputs[] = {&answer};
    status_ = comparator_.run(1, inputs_, outputs);
    return answer != 0;
  }

  void insertion_sort(Permutation& permutation, size_t begin, size_t end) {
    for (size_t i = begin + 1; i < end; ++i) {
      const int64_t moving = permutation[i];
      size_t place = i;
      for (; place > begin && before(moving, permutation[place - 1]); --place)
        permutation[place] = permutation[place - 1];
      permutation[place] = moving;
    }
  }

  void merge(const Permutation& from, size_t begin, size_t middle, size_t end, Permutation& to) {
    size_t left = begin;
    size_t right = middle;
    for (size_t place = begin; place < end; ++place) {
      const bool take_right = left == middle || (right < end && before(from[right], from[left]));
      to[place] = take_right ? from[right++] : from[left++];
    }
  }

  ScalarFunction comparator_;
  std::span<const hlo::Literal> operands_;
  std::vector<LaneBuffer> lanes_;
  std::vector<const void*> inputs_;
  Status status_;
};

template <size_t bytes>
void permute(std::byte* to, const std::byte* from, int64_t stride, const Permutation& permutation) {
  const int64_t apart = stride * static_cast<int64_t>(bytes);
  for (size_t i = 0; i < permutation.size(); ++i) {
    std::memcpy(to + static_cast<int64_t>(i) * apart, from + permutation[i] * apart, bytes);
  }
}

void apply(const Permutation& permutation, const Line& line, const hlo::Literal& operand, std::byte* result) {
  const int bytes = hlo::host_bytes(operand.shape().element_type());
  const std::byte* from = operand.bytes().data() + line.offset * bytes;
  std::byte* to = result + line.offset * bytes;
  switch (bytes) {
    case 1: return permute<1>(to, from, line.stride, permutation);
    case 2: return permute<2>(to, from, line.stride, permutation);
    case 4: return permute<4>(to, from, line.stride, permutation);
    case 8: return permute<8>(to, from, line.stride, permutation);
    default: return permute<16>(to, from, line.stride, permutation);
  }
}

}  // namespace

Result<hlo::Literal> sort(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = operands[0].shape();
  const auto dimension = static_cast<size_t>(context.instruction.dimensions[0]);
  const std::vector<int64_t> strides = row_major_strides(shape.dimensions());
  const int64_t size = shape.rank() == 0 ? 1 : actual_size(operands[0], dimension);

  std::vector<hlo::ElementType> types;
  for (const hlo::Literal& operand : operands) types.insert(types.end(), 2, operand.shape().element_type());
  SAPPER_TRY(const ScalarFunction comparator, ScalarFunction::make(context, 0, types));
  std::optional<SortKey> key;
  if (comparator.program() != nullptr) key = find_sort_key(*comparator.program());

  std::vector<hlo::Literal> results;
  std::vector<std::byte*> bytes;
  for (const hlo::Literal& operand : operands) {
    // Elements past the dynamic size stay where they are.
    results.push_back(operand.dynamic_sizes().empty() ? hlo::Literal::uninitialized(operand.shape()) : operand);
    bytes.push_back(results.back().mutable_bytes().data());
  }
  std::vector<Axis<1>> lines;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (d != dimension) lines.push_back({shape.dimension(d), {strides[d]}});
  }
  lines = coalesce(lines);

  const int64_t count = shape.element_count() == 0 ? 0 : Walk<1>(lines).positions();
  const Status done =
      try_blocks(comparator.program() != nullptr, count, size * 50, [&](int64_t begin, int64_t end) -> Status {
        std::optional<KeySorter> by_key;
        if (key) by_key.emplace(*key, operands);
        ComparatorSorter by_comparator(comparator, operands);
        Permutation permutation(static_cast<size_t>(size));
        Walk<1> walk(lines);
        walk.seek(begin);
        for (int64_t l = begin; l < end; ++l, walk.next()) {
          const Line line{walk.offset(0), shape.rank() == 0 ? 1 : strides[dimension], size};
          if (!by_key || !by_key->sort(line, permutation)) SAPPER_CHECKED(by_comparator.sort(line, permutation));
          for (size_t o = 0; o < operands.size(); ++o) apply(permutation, line, operands[o], bytes[o]);
        }
        return {};
      });
  SAPPER_CHECKED(done);
  return context.instruction.shape.is_tuple() ? hlo::Literal::tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace sapper::eval
