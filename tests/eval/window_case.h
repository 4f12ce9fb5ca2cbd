// Random sliding windows, and what each position covers, element by element as the semantics say.
#pragma once

#include "tests/eval/index_case.h"

namespace sapper::eval {

struct WindowCase {
  Dims base;
  Dims positions;
  proto::Window window;

  // Calls visit(index of base) for the elements under the window, in the row-major order of the window.
  template <class Visit>
  void for_each_covered(const Dims& position, Visit&& visit) const {
    Dims sizes;
    for (const proto::WindowDimension& dimension : window.dimensions()) sizes.push_back(dimension.size());
    for_each_index(sizes, [&](const Dims& element) {
      Dims at(base.size());
      for (size_t d = 0; d < base.size(); ++d) {
        const proto::WindowDimension& dimension = window.dimensions(static_cast<int>(d));
        at[d] = position[d] * dimension.stride() + element[d] * dimension.window_dilation() - dimension.padding_low();
        if (at[d] < 0 || at[d] % dimension.base_dilation() != 0) return;
        at[d] /= dimension.base_dilation();
        if (at[d] >= base[d]) return;
      }
      visit(at);
    });
  }
};

inline WindowCase draw_window_case() {
  WindowCase c;
  const int64_t rank = draw(1, 3);
  for (int64_t d = 0; d < rank; ++d) {
    proto::WindowDimension& dimension = *c.window.add_dimensions();
    const bool plain = draw(0, 2) == 0;  // the window does nothing here
    c.base.push_back(draw(0, 12) == 0 ? 0 : draw(1, plain ? 12 : 6));
    dimension.set_size(plain ? 1 : draw(1, 4));
    dimension.set_stride(plain ? 1 : draw(1, 3));
    dimension.set_window_dilation(plain ? 1 : draw(1, 3));
    dimension.set_base_dilation(plain ? 1 : draw(1, 3));
    dimension.set_padding_low(plain ? 0 : draw(-2, 5));
    dimension.set_padding_high(plain ? 0 : draw(-2, 5));
    const int64_t dilated = c.base.back() == 0 ? 0 : (c.base.back() - 1) * dimension.base_dilation() + 1;
    const int64_t padded = dilated + dimension.padding_low() + dimension.padding_high();
    const int64_t reach = (dimension.size() - 1) * dimension.window_dilation() + 1;
    c.positions.push_back(padded < reach ? 0 : (padded - reach) / dimension.stride() + 1);
  }
  return c;
}

}  // namespace sapper::eval
