#include "eval/sliding_window.h"

#include <algorithm>
#include <numeric>

#include "eval/dynamic_shape.h"

namespace sapper::eval {
namespace {

__extension__ using Wide =
    __int128;  // positions in the dilated, padded base may pass 64 bits before they are found to be padding

// Division of 128 bits is slow, and most windows have no dilations to divide by.
Wide modulo(Wide a, Wide b) { return b == 1 ? 0 : (a % b + b) % b; }
Wide divide_down(Wide a, Wide b) { return b == 1 ? a : (a - modulo(a, b)) / b; }
Wide divide_up(Wide a, Wide b) { return -divide_down(-a, b); }

// x with a * x = 1 modulo `modulus`, for a prime to it (Euclid's algorithm).
Wide inverse(Wide a, Wide modulus) {
  Wide remainder = modulus;
  Wide next_remainder = modulo(a, modulus);
  Wide x = 0;
  Wide next_x = 1;
  while (next_remainder != 0) {
    const Wide quotient = remainder / next_remainder;
    remainder = std::exchange(next_remainder, remainder - quotient * next_remainder);
    x = std::exchange(next_x, x - quotient * next_x);
  }
  return modulo(x, modulus);
}

int64_t at_least_one(int64_t value) { return std::max<int64_t>(1, value); }

bool is_identity(const proto::WindowDimension& window, int64_t size, int64_t positions) {
  const bool moves_one =
      positions <= 1 || (at_least_one(window.stride()) == 1 && at_least_one(window.base_dilation()) == 1);
  return window.size() == 1 && window.padding_low() == 0 && positions == size && moves_one;
}

}  // namespace

WindowAxis::WindowAxis(const proto::WindowDimension& window, int64_t size, int64_t positions)
    : first_(static_cast<size_t>(positions)), count_(static_cast<size_t>(positions)), size_(size) {
  const Wide base_dilation = at_least_one(window.base_dilation());
  const Wide window_dilation = at_least_one(window.window_dilation());
  // Window elements k0, k0 + period, k0 + 2 * period, ... meet elements of the base; others fall into the gaps between
  // them.
  const Wide common = std::gcd(at_least_one(window.base_dilation()), at_least_one(window.window_dilation()));
  const Wide period = base_dilation / common;
  const Wide solution = inverse(window_dilation / common, period);
  step_ = static_cast<int64_t>(window_dilation / common);

  for (int64_t o = 0; o < positions && size > 0; ++o) {
    const Wide start = Wide{o} * at_least_one(window.stride()) - window.padding_low();
    if (modulo(start, common) != 0) continue;
    const Wide last_of_base = Wide{size - 1} * base_dilation - start;
    const Wide last = std::min<Wide>(window.size() - 1, divide_down(last_of_base, window_dilation));
    const Wide inside = std::max<Wide>(0, divide_up(-start, window_dilation));
    const Wide k0 = modulo(modulo(divide_down(-start, common), period) * solution, period);
    const Wide k = inside + modulo(k0 - inside, period);
    if (k > last) continue;
    first_[static_cast<size_t>(o)] = static_cast<int64_t>(divide_down(start + k * window_dilation, base_dilation));
    count_[static_cast<size_t>(o)] = static_cast<int64_t>(divide_down(last - k, period) + 1);
  }
}

bool WindowAxis::is_prefix() const {
  for (size_t o = 0; o < first_.size(); ++o) {
    if (count_[o] > 0 && first_[o] != 0) return false;
    if (o > 0 && count_[o] < count_[o - 1]) return false;
  }
  return step_ == 1;
}

bool WindowAxis::is_suffix() const {
  for (size_t o = 0; o < first_.size(); ++o) {
    if (count_[o] > 0 && first_[o] + count_[o] != size_) return false;
    if (o > 0 && count_[o] > count_[o - 1]) return false;
  }
  return step_ == 1;
}

std::vector<WindowedDimension> windowed_dimensions(const proto::Window& window, const hlo::Literal& base,
                                                   std::span<const int64_t> positions) {
  const std::vector<int64_t> base_strides = row_major_strides(base.shape().dimensions());
  const std::vector<int64_t> position_strides = row_major_strides(positions);
  std::vector<WindowedDimension> dimensions;
  for (size_t d = 0; d < positions.size(); ++d) {
    const proto::WindowDimension& axis = window.dimensions(static_cast<int>(d));
    WindowedDimension next{positions[d], base_strides[d], position_strides[d], std::nullopt};
    if (!is_identity(axis, actual_size(base, d), positions[d])) {
      next.window.emplace(axis, actual_size(base, d), positions[d]);
    } else if (!dimensions.empty() && !dimensions.back().window &&
               dimensions.back().base_stride == next.base_stride * next.positions &&
               dimensions.back().position_stride == next.position_stride * next.positions) {
      next.positions *= dimensions.back().positions;
      dimensions.pop_back();
    }
    dimensions.push_back(std::move(next));
  }
  return dimensions;
}

std::vector<PositionRun> position_runs(const WindowedDimension& dimension, int64_t longest) {
  std::vector<PositionRun> runs;
  for (int64_t o = 0; o < dimension.positions;) {
    PositionRun run{o, 1, dimension.base_stride};
    if (!dimension.window) {
      run.size = std::min(longest, dimension.positions - o);
    } else if (o + 1 < dimension.positions) {
      run.stride = dimension.start(o + 1) - dimension.start(o);
      const auto goes_on = [&](int64_t next) {
        return dimension.window->count(next) == dimension.window->count(o) &&
               dimension.start(next) - dimension.start(next - 1) == run.stride;
      };
      while (run.size < longest && o + run.size < dimension.positions && goes_on(o + run.size)) ++run.size;
    }
    runs.push_back(run);
    o += run.size;
  }
  return runs;
}

}  // namespace sapper::eval
