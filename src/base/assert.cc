#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace sapper {

void assertion_failed(std::string_view condition, std::string_view file, int line) {
  std::fprintf(stderr,
               "sapper: internal error: %.*s is false at %.*s:%d. This is a defect of sapper; please report it.\n",
               static_cast<int>(condition.size()), condition.data(), static_cast<int>(file.size()), file.data(), line);
  std::abort();
}

}  // namespace sapper
