// rng-bit-generator: state and bits exactly as XLA's compilers lay them out, which StableHLO leaves to implementations
// but every frontend relies on. The state is u64[2] or u64[3]: the key, then the counter. RNG_DEFAULT is Philox, as on
// XLA:CPU.
//
// rng and rng-get-and-update-state draw from a generator that each device keeps for itself: their values are not part
// of the program, so they are not evaluated.

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "eval/dimensions.h"
#include "eval/op.h"
#include "eval/random_bits.h"

namespace sapper::eval {
namespace {

// Stores the low bits of `word` as element i of any integer or float type.
void store(hlo::ElementType type, std::byte* data, int64_t i, uint64_t word) {
  const int64_t bytes = hlo::host_bytes(type);
  const int unused = 64 - hlo::bit_width(type);
  const uint64_t shifted = word << unused;
  word = hlo::element_class(type) == hlo::ElementClass::Signed
             ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused)
             : shifted >> unused;
  std::memcpy(data + i * bytes, &word, static_cast<size_t>(bytes));
}

template <class Fill>
void for_each_block(int64_t blocks, const Fill& fill) {
  parallel_for(blocks, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i != end; ++i) fill(i);
  });
}

// The dimension along which the two words of a Threefry block are neighbours: the first even one, or else the longest.
size_t paired_dimension(const std::vector<int64_t>& dimensions) {
  const auto even = std::ranges::find_if(dimensions, [](int64_t size) { return size % 2 == 0; });
  return static_cast<size_t>((even != dimensions.end() ? even : std::ranges::max_element(dimensions)) -
                             dimensions.begin());
}

// Fills `bits` and returns how far the counter moves.
uint64_t fill_threefry(uint64_t key, uint64_t counter, hlo::Literal& bits) {
  const hlo::ElementType type = bits.shape().element_type();
  std::byte* data = bits.mutable_bytes().data();
  if (hlo::bit_width(type) == 64) {
    for_each_block(bits.element_count(), [&](int64_t i) {
      const auto [low, high] = threefry(key, counter + static_cast<uint64_t>(i));
      store(type, data, i, low | uint64_t{high} << 32);
    });
    return static_cast<uint64_t>(bits.element_count());
  }
  const std::vector<int64_t>& dimensions = bits.shape().dimensions();
  if (dimensions.empty()) {
    store(type, data, 0, threefry(key, counter)[0]);
    return 1;
  }
  const size_t paired = paired_dimension(dimensions);
  const int64_t size = dimensions[paired];
  const int64_t pairs = (size + 1) / 2;
  const int64_t inner = hlo::element_count(std::span(dimensions).subspan(paired + 1));
  const int64_t blocks = hlo::element_count(std::span(dimensions).first(paired)) * pairs * inner;
  for_each_block(blocks, [&](int64_t i) {
    const std::array<uint32_t, 2> words = threefry(key, counter + static_cast<uint64_t>(i));
    const int64_t outer = i / inner / pairs;
    const int64_t pair = i / inner % pairs;
    for (int64_t word = 0; word < 2 && 2 * pair + word < size; ++word)
      store(type, data, (outer * size + 2 * pair + word) * inner + i % inner, words[static_cast<size_t>(word)]);
  });
  return static_cast<uint64_t>(blocks);
}

std::array<uint64_t, 2> add(std::array<uint64_t, 2> counter, uint64_t steps) {
  const uint64_t low = counter[0] + steps;
  return {low, counter[1] + (low < steps ? 1 : 0)};
}

uint64_t fill_philox(uint64_t key, std::array<uint64_t, 2> counter, hlo::Literal& bits) {
  const hlo::ElementType type = bits.shape().element_type();
  const int64_t count = bits.element_count();
  const bool wide = hlo::bit_width(type) == 64;
  const int64_t per_block = wide ? 2 : 4;
  const int64_t blocks = (count + per_block - 1) / per_block;
  std::byte* data = bits.mutable_bytes().data();
  for_each_block(blocks, [&](int64_t i) {
    const std::array<uint32_t, 4> words = philox(key, add(counter, static_cast<uint64_t>(i)));
    for (int64_t j = 0; j < per_block && i * per_block + j < count; ++j) {
      const auto at = static_cast<size_t>(wide ? 2 * j : j);
      store(type, data, i * per_block + j, wide ? words[at] | uint64_t{words[at + 1]} << 32 : words[at]);
    }
  });
  return static_cast<uint64_t>(blocks);
}

}  // namespace

Result<hlo::Literal> rng_bit_generator(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Shape& shape = context.instruction.shape;
  hlo::Literal state = operands[0];
  const hlo::ElementType type =
      shape.elements().size() == 2 ? shape.elements()[1].element_type() : hlo::ElementType::Invalid;
  const bool is_state = state.shape().element_type() == hlo::ElementType::U64 && state.shape().rank() == 1 &&
                        (state.element_count() == 2 || state.element_count() == 3);
  if (!is_state || !(hlo::is_integer(type) || hlo::is_float(type)))
    return fail(hlo::error_at(ErrorKind::Unsupported, context.instruction,
                              fmt::format("not evaluated: rng-bit-generator of {} from a state {}; known are integers "
                                          "and floats from u64[2] or u64[3]",
                                          shape.to_text(false), state.shape().to_text(false))));
  hlo::Literal bits = hlo::Literal::uninitialized(shape.elements()[1]);
  const std::span<uint64_t> words = state.mutable_data<uint64_t>();
  if (context.instruction.attributes().rng_algorithm() == proto::RNG_THREE_FRY) {
    words[1] += fill_threefry(words[0], words[1], bits);
  } else if (words.size() == 3) {
    const std::array<uint64_t, 2> counter = {words[1], words[2]};
    const std::array<uint64_t, 2> next = add(counter, fill_philox(words[0], counter, bits));
    words[1] = next[0];
    words[2] = next[1];
  } else {  // a short state lends its key as the counter's high half
    words[1] += fill_philox(words[0], {words[1], words[0]}, bits);
  }
  return hlo::Literal::tuple({std::move(state), std::move(bits)});
}

Result<hlo::Literal> rng_of_device(const OpContext& context, std::span<const hlo::Literal> /*operands*/) {
  return fail(hlo::error_at(
      ErrorKind::Unsupported, context.instruction,
      fmt::format("not evaluated: {} ({}): its values come from the device's own generator, not from the program",
                  hlo::to_string(context.instruction.opcode), context.instruction.name)));
}

}  // namespace sapper::eval
