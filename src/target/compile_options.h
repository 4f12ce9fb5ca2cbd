// Configurations as the compilers read them.
#pragma once

#include "target/compile_options.pb.h"
#include "target/compiler.h"

namespace sapper::target {

// One replica, one partition, and the configuration's options as overrides. (parse_option is in compiler.h.)
[[nodiscard]] proto::CompileOptionsProto to_compile_options(const Configuration& configuration);

}  // namespace sapper::target
