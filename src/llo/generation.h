// What differs from one TPU generation to the next, as far as running its programs needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper::llo {

// How the weights that are pushed into a matrix unit one after the other stand there.
enum class PushOrder : uint8_t {
  UpwardsReversed,  // each push above those before; of a register's rows the last on top
  Upwards,          // each push above those before
  Downwards,        // each push below those before
};

struct Generation {
  std::string_view name = "v5e";  // as in tpu:v5e
  int matrix_size = 128;          // rows and columns of a matrix unit
  uint32_t granule_bytes = 32;    // what DMA sizes and strides and sync flags count in
  uint32_t hbm_unit_bytes = 512;  // one step of an HBM address
  PushOrder push_order = PushOrder::Upwards;
  uint32_t delay_slots = 4;  // bundles after a branch that still run
  // One empty bundle stands for all at the end of a branch's delay slots, but for those of the program's last branch.
  bool merges_empty_slots = false;
  uint32_t pattern_bits = 4;  // that a row pattern of loads and stores has for each sublane
  uint32_t cores = 1;         // of a chip, which run a program together
};

// v2, v3, v4, v5e, v5p, v6e, tpu7x; BadInput for another name.
[[nodiscard]] Result<Generation> generation_of(std::string_view name);

}  // namespace sapper::llo
