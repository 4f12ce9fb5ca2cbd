#include "llo/generation.h"

#include <array>

namespace sapper::llo {

namespace {

constexpr std::array<Generation, 7> kGenerations = {{
    {"v2", 128, 1024, 1024, PushOrder::UpwardsReversed, 1, false, 3, 1},
    {"v3", 128, 1024, 1024, PushOrder::UpwardsReversed, 1, false, 3, 1},
    {"v4", 128, 512, 512, PushOrder::Upwards, 1, false, 4, 1},
    {"v5e", 128, 32, 512, PushOrder::Upwards, 4, false, 4, 1},
    {"v5p", 128, 32, 32, PushOrder::Upwards, 4, false, 4, 2},
    {"v6e", 256, 32, 32, PushOrder::Upwards, 4, false, 4, 1},
    {"tpu7x", 256, 32, 32, PushOrder::Downwards, 6, true, 4, 1},
}};

}  // namespace

Result<Generation> generation_of(std::string_view name) {
  for (const Generation& generation : kGenerations)
    if (generation.name == name) return generation;
  return fail(ErrorKind::BadInput, "no TPU generation is called '{}': v2, v3, v4, v5e, v5p, v6e or tpu7x", name);
}

}  // namespace sapper::llo
