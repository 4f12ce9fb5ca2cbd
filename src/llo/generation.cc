#include "llo/generation.h"

#include <array>

namespace sapper::llo {

namespace {

struct Row {
  std::string_view name;
  int matrix_size;
  uint32_t granule_bytes;
  uint32_t hbm_unit_bytes;
  PushOrder push_order;
  uint32_t delay_slots;
  uint32_t pattern_bits;
};
constexpr std::array<Row, 7> kGenerations = {{
    {"v2", 128, 1024, 1024, PushOrder::UpwardsReversed, 1, 3},
    {"v3", 128, 1024, 1024, PushOrder::UpwardsReversed, 1, 3},
    {"v4", 128, 512, 512, PushOrder::Upwards, 1, 4},
    {"v5e", 128, 32, 512, PushOrder::Upwards, 4, 4},
    {"v5p", 128, 32, 32, PushOrder::Upwards, 4, 4},
    {"v6e", 256, 32, 32, PushOrder::Upwards, 4, 4},
    {"tpu7x", 256, 32, 32, PushOrder::Downwards, 6, 4},
}};

}  // namespace

Result<Generation> generation_of(std::string_view name) {
  for (const Row& row : kGenerations)
    if (row.name == name)
      return Generation{std::string(row.name), row.matrix_size, row.granule_bytes, row.hbm_unit_bytes,
                        row.push_order,        row.delay_slots, row.pattern_bits};
  return fail(ErrorKind::BadInput, "no TPU generation is called '{}': v2, v3, v4, v5e, v5p, v6e or tpu7x", name);
}

}  // namespace sapper::llo
