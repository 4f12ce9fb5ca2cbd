#include "llo/missing_tiles.h"

#include "eval/bitcast.h"
#include "llo/tiling.h"

namespace sapper::llo {

void state_missing_tiles(hlo::Module& module) {
  for (hlo::Computation& computation : module.computations) {
    if (computation.is_fusion) continue;
    for (const hlo::Instruction& user : computation.instructions) {
      if (user.opcode != hlo::Opcode::Bitcast || !user.shape.is_array()) continue;
      hlo::Shape& shape = computation.instructions[user.operands[0]].shape;
      if (!shape.is_array()) continue;
      hlo::Shape tiled = eval::with_missing_tiles(shape, user.shape);
      const auto bytes = tiled_bytes(tiled), bytes_of_user = tiled_bytes(user.shape);
      if (bytes && bytes_of_user && *bytes == *bytes_of_user) shape = std::move(tiled);
    }
  }
}

}  // namespace sapper::llo
