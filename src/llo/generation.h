// What differs from one TPU generation to the next, as far as running its programs needs it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper::llo {

struct Generation {
  std::string name = "v5e";  // as in tpu:v5e
  int matrix_size = 128;     // rows and columns of a matrix unit
};

// v2, v3, v4, v5e, v5p, v6e, tpu7x; BadInput for another name.
[[nodiscard]] Result<Generation> generation_of(std::string_view name);

}  // namespace sapper::llo
