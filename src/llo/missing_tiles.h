// Tiles that an optimized module of XLA:TPU does not state. Where a product's dimensions were collapsed, its result may
// have a layout without tiles, though its kernel writes tiles and the bitcast behind it says which (libtpu 0.0.52).
#pragma once

#include "hlo/module.h"

namespace sapper::llo {

// Gives arrays of two dimensions and more that state no tiles those of the bitcast that uses them, if that is of as
// many bytes then. Linear in the module.
void state_missing_tiles(hlo::Module& module);

}  // namespace sapper::llo
