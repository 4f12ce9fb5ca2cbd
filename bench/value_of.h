// What a benchmark cannot go on without.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace sapper {

// The value, or the end of the program with the error's text.
template <class T>
T value_of(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().describe());
  std::exit(1);
}

}  // namespace sapper
