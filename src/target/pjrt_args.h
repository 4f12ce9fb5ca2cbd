// The argument structs of the PJRT C API, for the files that call it.
#pragma once

#include <pjrt_c_api.h>

namespace sapper::target {

// An argument struct, all zero but its size, by which a plugin tells which fields its caller knows.
template <class Args>
[[nodiscard]] Args pjrt_args() {
  Args args{};
  args.struct_size = sizeof(Args);
  return args;
}

}  // namespace sapper::target
