#include "eval/contraction.h"

#include <tbb/enumerable_thread_specific.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/parallel.h"
#include "eval/gemm_kernel.h"

namespace sapper::eval {
namespace {

// A tile of the result is one task; its sums stay in scratch memory while k goes by in steps of tile_depth.
constexpr int64_t tile_rows = 96;  // a multiple of 2 * kernel_rows
constexpr int64_t tile_columns = 256;
constexpr int64_t tile_depth = 256;
// Below this many products a batch entry is computed without packing, and below this many in all, on one thread.
constexpr int64_t unpacked_products = 4096;
constexpr int64_t serial_products = 1 << 15;

using Offsets = std::span<const int64_t>;

// The two sides of the kernel: one operand's free dimensions become its rows, the other's its columns.
struct Problem {
  const std::byte* row_data;
  const std::byte* column_data;
  Offsets row_batch, rows, row_sum;
  Offsets column_batch, columns, column_sum;
  Offsets result_batch, result_rows, result_columns;
  hlo::ElementType type;
  std::byte* result;

  [[nodiscard]] int64_t products() const {
    int64_t count = 1;
    for (const Offsets& factor : {rows, columns, row_sum})
      if (__builtin_mul_overflow(count, std::ssize(factor), &count)) return INT64_MAX;
    return count;
  }
};

struct Tile {
  int64_t batch, first_row, rows, first_column, columns;
};

Offsets part(Offsets offsets, int64_t first, int64_t count) {
  return offsets.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
}

bool consecutive(Offsets offsets) {
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] != offsets[i - 1] + 1) return false;
  return true;
}

int64_t first_step(Offsets offsets) { return offsets.size() < 2 ? INT64_MAX : std::abs(offsets[1] - offsets[0]); }

// How a real or complex operand looks to the kernel, which knows only real sums. A complex operand of the rows becomes
// two rows, of real and imaginary sums, and both operands' k become two:
//   [ re -im ]   [ re ]
//   [ im  re ] * [ im ]
template <class Operand>
struct Components {
  static constexpr int64_t count = 1;
  template <class Sum>
  static void write_row(Sum* to, int64_t /*width*/, Operand value) {
    *to = static_cast<Sum>(value);
  }
  template <class Sum>
  static void write_column(Sum* to, int64_t /*width*/, Operand value) {
    *to = static_cast<Sum>(value);
  }
};
template <class Real>
struct Components<std::complex<Real>> {
  static constexpr int64_t count = 2;
  template <class Sum>
  static void write_row(Sum* to, int64_t width, std::complex<Real> value) {
    to[0] = value.real();
    to[1] = value.imag();
    to[width] = -value.imag();
    to[width + 1] = value.real();
  }
  template <class Sum>
  static void write_column(Sum* to, int64_t width, std::complex<Real> value) {
    to[0] = value.real();
    to[width] = value.imag();
  }
};

// Packs elements (i, k) into panels `width` wide: in each, the values of all its i for the first k, then for the
// second, and so on. `write(to, width, element)` fills the `across` by `down` places of one element.
template <int64_t across, int64_t down, class Operand, class Sum, class Write>
void pack(const Operand* data, Offsets free, Offsets sum, int64_t width, Sum* out, const Write& write) {
  const int64_t panel_size = width * down * std::ssize(sum);
  const bool along_sum = first_step(sum) < first_step(free);  // the direction that lies closer together in memory
  for (int64_t first = 0; first < std::ssize(free); first += width / across, out += panel_size) {
    const Offsets panel = part(free, first, std::min(width / across, std::ssize(free) - first));
    if (std::ssize(panel) * across < width) std::fill_n(out, panel_size, Sum{0});
    if (along_sum) {
      for (size_t i = 0; i < panel.size(); ++i) {
        const Operand* from = data + panel[i];
        Sum* to = out + static_cast<int64_t>(i) * across;
        for (size_t k = 0; k < sum.size(); ++k, to += width * down) write(to, width, from[sum[k]]);
      }
      continue;
    }
    const bool dense = consecutive(panel);
    Sum* row = out;
    for (size_t k = 0; k < sum.size(); ++k, row += width * down) {
      const Operand* from = data + sum[k];
      Sum* to = row;
      if (dense) {
        from += panel.front();
        for (size_t i = 0; i < panel.size(); ++i, to += across) write(to, width, from[i]);
      } else {
        for (size_t i = 0; i < panel.size(); ++i, to += across) write(to, width, from[panel[i]]);
      }
    }
  }
}

// Writes one row of rounded elements to its places.
void scatter(const std::byte* elements, int64_t bytes, Offsets places, std::byte* to) {
  const auto copy = [&]<size_t size>(std::integral_constant<size_t, size>) {
    for (size_t i = 0; i < places.size(); ++i) std::memcpy(to + places[i] * bytes, elements + i * size, size);
  };
  switch (bytes) {
    case 1: return copy(std::integral_constant<size_t, 1>());
    case 2: return copy(std::integral_constant<size_t, 2>());
    case 4: return copy(std::integral_constant<size_t, 4>());
    case 8: return copy(std::integral_constant<size_t, 8>());
    default: return copy(std::integral_constant<size_t, 16>());
  }
}

template <Accumulator accumulator>
class Contractor {
  using Sum = typename AccumulatorTypes<accumulator>::Sum;
  using Operand = typename AccumulatorTypes<accumulator>::Operand;
  using Parts = Components<Operand>;
  static constexpr int64_t components = Parts::count;

  struct Scratch {
    hlo::AlignedBytes rows{sizeof(Sum) * tile_rows * components * tile_depth * components};
    hlo::AlignedBytes columns{sizeof(Sum) * tile_columns * tile_depth * components};
    hlo::AlignedBytes sums{sizeof(Sum) * tile_rows * components * tile_columns};
    hlo::AlignedBytes rounded{16 * tile_columns};
  };

 public:
  explicit Contractor(const Problem& problem)
      : problem_(problem),
        rows_(reinterpret_cast<const Operand*>(problem.row_data)),
        columns_(reinterpret_cast<const Operand*>(problem.column_data)) {}

  void run() {
    if (problem_.products() <= unpacked_products) return run_unpacked();
    choose_tile_size();
    const int64_t down = (std::ssize(problem_.rows) + tile_.rows - 1) / tile_.rows;
    const int64_t across = (std::ssize(problem_.columns) + tile_.columns - 1) / tile_.columns;
    const int64_t tiles = std::ssize(problem_.row_batch) * down * across;
    tbb::enumerable_thread_specific<Scratch> scratch;
    const auto run_tiles = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i != end; ++i) {
        const int64_t first_row = i / across % down * tile_.rows;
        const int64_t first_column = i % across * tile_.columns;
        run_tile({.batch = i / across / down,
                  .first_row = first_row,
                  .rows = std::min(tile_.rows, std::ssize(problem_.rows) - first_row),
                  .first_column = first_column,
                  .columns = std::min(tile_.columns, std::ssize(problem_.columns) - first_column)},
                 scratch.local());
      }
    };
    if (problem_.products() <= serial_products / std::max<int64_t>(1, std::ssize(problem_.row_batch)))
      return run_tiles(0, tiles);
    parallel_for(tiles, 1, run_tiles);
  }

 private:
  // Smaller tiles when there would be fewer than a few for each thread.
  void choose_tile_size() {
    tile_ = {.batch = 0, .first_row = 0, .rows = tile_rows, .first_column = 0, .columns = tile_columns};
    const int64_t wanted = int64_t{4} * tbb::this_task_arena::max_concurrency();
    const auto tiles = [&] {
      return std::ssize(problem_.row_batch) * ((std::ssize(problem_.rows) + tile_.rows - 1) / tile_.rows) *
             ((std::ssize(problem_.columns) + tile_.columns - 1) / tile_.columns);
    };
    while (tiles() < wanted && tile_.columns > 64) tile_.columns /= 2;
    while (tiles() < wanted && tile_.rows > 4 * kernel_rows) tile_.rows /= 2;
  }

  void run_tile(const Tile& tile, Scratch& scratch) const {
    constexpr int64_t width = kernel_columns<Sum>;
    auto* row_panels = reinterpret_cast<Sum*>(scratch.rows.data());
    auto* column_panels = reinterpret_cast<Sum*>(scratch.columns.data());
    auto* sums = reinterpret_cast<Sum*>(scratch.sums.data());
    const int64_t sum_rows = tile.rows * components;
    std::fill_n(sums, sum_rows * tile_columns, Sum{0});
    const Offsets rows = part(problem_.rows, tile.first_row, tile.rows);
    const Offsets columns = part(problem_.columns, tile.first_column, tile.columns);
    for (int64_t k = 0; k < std::ssize(problem_.row_sum); k += tile_depth) {
      const int64_t depth = std::min(tile_depth, std::ssize(problem_.row_sum) - k);
      pack<components, components>(rows_ + at(problem_.row_batch, tile.batch), rows, part(problem_.row_sum, k, depth),
                                   kernel_rows, row_panels,
                                   [](Sum* to, int64_t step, Operand value) { Parts::write_row(to, step, value); });
      pack<1, components>(columns_ + at(problem_.column_batch, tile.batch), columns,
                          part(problem_.column_sum, k, depth), width, column_panels,
                          [](Sum* to, int64_t step, Operand value) { Parts::write_column(to, step, value); });
      const int64_t steps = depth * components;
      for (int64_t column = 0; column < tile.columns; column += width)
        for (int64_t row = 0; row < sum_rows; row += kernel_rows)
          multiply_panels(row_panels + row * steps, column_panels + column * steps, steps,
                          std::min(kernel_rows, sum_rows - row), sums + row * tile_columns + column, tile_columns);
    }
    const Offsets places = part(problem_.result_columns, tile.first_column, tile.columns);
    for (int64_t row = 0; row < tile.rows; ++row)
      store_row(tile.batch, tile.first_row + row, places, sums + row * components * tile_columns, tile_columns,
                scratch.rounded.data());
  }

  // Rounds one row of sums (for complex results: a row of real parts, and `stride` further a row of imaginary parts).
  // `rounded` has room for a row of the result.
  void store_row(int64_t batch, int64_t row, Offsets places, const Sum* sums, int64_t stride,
                 std::byte* rounded) const {
    const auto count = places.size();
    const int64_t bytes = hlo::host_bytes(problem_.type);
    std::byte* to = problem_.result + (at(problem_.result_batch, batch) + at(problem_.result_rows, row)) * bytes;
    const bool dense = consecutive(places);
    std::byte* out = dense ? to + places.front() * bytes : rounded;
    if constexpr (components == 1) {
      round_sums(std::span<const Sum>(sums, count), problem_.type, out);
    } else {
      std::vector<Sum> pairs(2 * count);
      for (size_t i = 0; i < count; ++i) {
        pairs[2 * i] = sums[i];
        pairs[2 * i + 1] = sums[static_cast<int64_t>(i) + stride];
      }
      round_sums(std::span<const Sum>(pairs), hlo::component_type(problem_.type), out);
    }
    if (!dense) scatter(rounded, bytes, places, to);
  }

  // The same sums term by term, for products too small to be worth packing.
  void run_unpacked() const {
    const auto run_batches = [&](int64_t begin, int64_t end) {
      const auto columns = std::ssize(problem_.columns);
      std::vector<Sum> sums(static_cast<size_t>(columns * components));
      std::vector<std::byte> rounded(static_cast<size_t>(columns * hlo::host_bytes(problem_.type)));
      for (int64_t batch = begin; batch != end; ++batch) {
        for (int64_t row = 0; row < std::ssize(problem_.rows); ++row) {
          for (int64_t column = 0; column < columns; ++column)
            sum_products(batch, row, column, &sums[static_cast<size_t>(column)], columns);
          store_row(batch, row, problem_.result_columns, sums.data(), columns, rounded.data());
        }
      }
    };
    const auto batches = std::ssize(problem_.row_batch);
    const int64_t grain = serial_products / std::max<int64_t>(1, problem_.products());
    if (batches <= grain) return run_batches(0, batches);
    parallel_for(batches, grain, run_batches);
  }

  void sum_products(int64_t batch, int64_t row, int64_t column, Sum* out, int64_t stride) const {
    const Operand* a = rows_ + at(problem_.row_batch, batch) + at(problem_.rows, row);
    const Operand* b = columns_ + at(problem_.column_batch, batch) + at(problem_.columns, column);
    if constexpr (components == 1) {
      Sum sum = 0;
      for (size_t k = 0; k < problem_.row_sum.size(); ++k)
        sum += static_cast<Sum>(a[problem_.row_sum[k]]) * static_cast<Sum>(b[problem_.column_sum[k]]);
      *out = sum;
    } else {
      Sum real = 0;
      Sum imag = 0;
      for (size_t k = 0; k < problem_.row_sum.size(); ++k) {
        const Operand left = a[problem_.row_sum[k]];
        const Operand right = b[problem_.column_sum[k]];
        real += static_cast<Sum>(left.real()) * static_cast<Sum>(right.real());
        real += -static_cast<Sum>(left.imag()) * static_cast<Sum>(right.imag());
        imag += static_cast<Sum>(left.imag()) * static_cast<Sum>(right.real());
        imag += static_cast<Sum>(left.real()) * static_cast<Sum>(right.imag());
      }
      out[0] = real;
      out[stride] = imag;
    }
  }

  static int64_t at(Offsets offsets, int64_t i) { return offsets[static_cast<size_t>(i)]; }

  const Problem& problem_;
  const Operand* rows_;
  const Operand* columns_;
  Tile tile_{};
};

}  // namespace

void contract(const Contraction& contraction, Accumulator accumulator, const std::byte* lhs, const std::byte* rhs,
              hlo::Literal& result) {
  const Contraction& c = contraction;
  if (c.lhs_batch.empty() || c.lhs_free.empty() || c.rhs_free.empty()) return;
  const hlo::ElementType type = result.shape().element_type();
  std::byte* out = result.mutable_bytes().data();
  Problem problem{.row_data = lhs,
                  .column_data = rhs,
                  .row_batch = c.lhs_batch,
                  .rows = c.lhs_free,
                  .row_sum = c.lhs_sum,
                  .column_batch = c.rhs_batch,
                  .columns = c.rhs_free,
                  .column_sum = c.rhs_sum,
                  .result_batch = c.result_batch,
                  .result_rows = c.result_lhs,
                  .result_columns = c.result_rhs,
                  .type = type,
                  .result = out};
  // Vector lanes run over columns: few of them would leave most lanes idle.
  if (c.rhs_free.size() < 16 && c.lhs_free.size() > c.rhs_free.size()) {
    std::swap(problem.row_data, problem.column_data);
    std::swap(problem.row_batch, problem.column_batch);
    std::swap(problem.rows, problem.columns);
    std::swap(problem.row_sum, problem.column_sum);
    std::swap(problem.result_rows, problem.result_columns);
  }
  with_accumulator(accumulator, [&]<Accumulator chosen>() { Contractor<chosen>(problem).run(); });
}

}  // namespace sapper::eval
