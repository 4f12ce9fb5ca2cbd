#include "llo/matrix_gains.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/assert.h"

namespace sapper::llo {

namespace {

constexpr size_t weights_of_quarter = size_t{kLanes} * kLanes;  // of a quarter
constexpr size_t most_elements = size_t{32} * kLanes;           // of a register

Vreg masked(const Vreg& bits, const Vreg& mask) {
  Vreg result;
  for (int i = 0; i < kVregWords; ++i) result.word[i] = bits.word[i] & mask.word[i];
  return result;
}

Vreg complement(const Vreg& mask) {
  Vreg result;
  for (int i = 0; i < kVregWords; ++i) result.word[i] = ~mask.word[i];
  return result;
}

bool any(const std::vector<uint8_t>& marks) { return std::find(marks.begin(), marks.end(), 1) != marks.end(); }

// Which elements have a bit set in `bits`; empty: none.
std::vector<uint8_t> marks(const Vreg& bits, MatrixFormat format) {
  std::vector<uint8_t> found(static_cast<size_t>(rows_of(format)) * kLanes);
  mark_rows(bits, format, found.data());
  if (!any(found)) found.clear();
  return found;
}

bool is_marked(const std::vector<uint8_t>& marks, size_t at) { return !marks.empty() && marks[at] != 0; }

uint32_t result_bits(double sum, MatrixFormat format) {
  return is_integer(format) ? static_cast<uint32_t>(static_cast<int32_t>(sum))
                            : std::bit_cast<uint32_t>(static_cast<float>(sum));
}

}  // namespace

MatrixOperand MatrixOperand::unknown() {
  MatrixOperand operand{};
  std::fill_n(operand.undefined.emplace().word, kVregWords, ~uint32_t{0});
  return operand;
}

// The elements of a register, row by row.
struct MatrixGains::Numbers {
  std::array<double, most_elements> value;  // 0 where left out
  std::vector<uint8_t> undefined;           // 1: undefined, and not left out; empty: none is
  std::vector<uint8_t> left_out;            // 1: by the mask; empty: none is
};

void MatrixGains::read(const MatrixOperand& operand, MatrixFormat format, Numbers& numbers) {
  if (!operand.mask) {
    decode_rows(operand.value, format, numbers.value.data());
    if (operand.undefined) numbers.undefined = marks(*operand.undefined, format);
    return;
  }
  decode_rows(masked(operand.value, *operand.mask), format, numbers.value.data());
  if (operand.undefined) numbers.undefined = marks(masked(*operand.undefined, *operand.mask), format);
  numbers.left_out = marks(complement(*operand.mask), format);
}

void MatrixGains::clear() {
  for (auto& row : quarters_)
    for (Quarter& quarter : row) {
      quarter.depth = 0;
      quarter.finite = true;
      quarter.undefined.clear();
    }
  empty_ = true;
}

void MatrixGains::put(const MatrixOperand& rows, MatrixFormat format, int first, int half, bool transposed,
                      bool reversed) {
  Numbers numbers;
  read(rows, format, numbers);
  const int count = rows_of(format);
  SAPPER_ASSERT(first >= 0 && first + count <= static_cast<int>(halves_of_unit) * kLanes);
  for (int r = 0; r < count; ++r) {
    const int along = (first + r) / kLanes;
    const int at = (first + r) % kLanes;
    Quarter& quarter = transposed ? quarters_[half][along] : quarters_[along][half];
    if (!quarter.weights) quarter.weights = std::make_unique<double[]>(weights_of_quarter);
    if (quarter.depth == 0) std::fill_n(quarter.weights.get(), weights_of_quarter, 0.0);
    quarter.depth = transposed ? kLanes : std::max(quarter.depth, at + 1);
    if (!numbers.undefined.empty()) quarter.undefined.resize(weights_of_quarter);

    const int from = (reversed ? count - 1 - r : r) * kLanes;
    const int begin = transposed ? at : at * kLanes;
    const int step = transposed ? kLanes : 1;
    for (int lane = 0; lane < kLanes; ++lane) {
      const double weight = numbers.value[from + lane];
      quarter.weights[begin + lane * step] = weight;
      quarter.finite = quarter.finite && std::isfinite(weight);
      if (is_marked(numbers.undefined, from + lane)) quarter.undefined[begin + lane * step] = 1;
    }
  }
  empty_ = false;
}

void MatrixGains::add_products(const Numbers& left, size_t rows, const Quarter& quarter, MatrixSum how, double* sums) {
  const double* weights = quarter.weights.get();
  if (left.left_out.empty() || quarter.finite) {
    multiply_rows(left.value.data(), static_cast<int64_t>(rows), weights, quarter.depth, how, sums);
    return;
  }
  // An infinite weight times the 0 of an element that is left out would be NaN: those are really left out.
  const auto depth = static_cast<size_t>(quarter.depth);
  const auto rounded = [&](double x) { return how == MatrixSum::Single ? static_cast<float>(x) : x; };
  for (size_t row = 0; row < rows; ++row)
    for (size_t k = 0; k < depth; ++k) {
      if (is_marked(left.left_out, row * kLanes + k)) continue;
      for (size_t column = 0; column < kLanes; ++column) {
        double& sum = sums[row * kLanes + column];
        sum = rounded(sum + rounded(left.value[row * kLanes + k] * weights[k * kLanes + column]));
      }
    }
}

void MatrixGains::mark_undefined(const Numbers& left, size_t rows, const Quarter& quarter,
                                 std::vector<uint8_t>& undefined) {
  if (left.undefined.empty() && quarter.undefined.empty()) return;
  const auto depth = static_cast<size_t>(quarter.depth);
  undefined.resize(rows * kLanes);
  for (size_t row = 0; row < rows; ++row) {
    uint8_t* of_row = undefined.data() + row * kLanes;
    for (size_t k = 0; k < depth; ++k) {
      if (is_marked(left.undefined, row * kLanes + k)) std::fill_n(of_row, kLanes, uint8_t{1});
      if (quarter.undefined.empty() || is_marked(left.left_out, row * kLanes + k)) continue;
      const uint8_t* of_weights = quarter.undefined.data() + k * kLanes;
      for (size_t column = 0; column < kLanes; ++column) of_row[column] |= of_weights[column];
    }
  }
}

std::vector<MatrixResult> MatrixGains::multiply(const std::vector<MatrixOperand>& left, MatrixFormat format,
                                                MatrixSum how) const {
  const auto rows = static_cast<size_t>(rows_of(format));
  const size_t halves = left.size();
  SAPPER_ASSERT(halves >= 1 && halves <= halves_of_unit);
  const size_t groups = rows / kSublanes;
  if (empty_) return std::vector<MatrixResult>(groups * halves, {{}, MatrixOperand::unknown().undefined});

  std::array<Numbers, halves_of_unit> numbers;
  for (size_t half = 0; half < halves; ++half) read(left[half], format, numbers[half]);
  std::vector<MatrixResult> results(groups * halves);
  for (size_t side = 0; side < halves; ++side) {
    std::array<double, most_elements> sums{};
    std::vector<uint8_t> undefined;  // empty: none is
    for (size_t half = 0; half < halves; ++half) {
      const Quarter& quarter = quarters_[half][side];
      if (quarter.depth == 0) continue;
      add_products(numbers[half], rows, quarter, how, sums.data());
      mark_undefined(numbers[half], rows, quarter, undefined);
    }
    for (size_t group = 0; group < groups; ++group) {
      MatrixResult& result = results[group * halves + side];
      const size_t first = group * kVregWords;
      for (size_t i = 0; i < kVregWords; ++i) result.value.word[i] = result_bits(sums[first + i], format);
      if (!any(undefined)) continue;
      Vreg& bits = result.undefined.emplace();
      for (size_t i = 0; i < kVregWords; ++i) bits.word[i] = undefined[first + i] != 0 ? ~uint32_t{0} : 0;
    }
  }
  return results;
}

}  // namespace sapper::llo
