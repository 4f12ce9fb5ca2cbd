// The parts of the wire form that are derived from the rest of a module: program shapes. Inside of the proto reader and
// writer.
#pragma once

#include "hlo/module.h"

namespace sapper::hlo {

// Shapes and names of the parameters, and the shape of the result.
[[nodiscard]] proto::ProgramShapeProto program_shape(const Computation& computation);
// The entry's shapes at the boundary, with parameters called p0, p1, ... as XLA does.
[[nodiscard]] proto::ProgramShapeProto host_program_shape(const Module& module);

// Takes the layouts of the entry's parameters and result from `stated`, which must fit the entry computation.
[[nodiscard]] Status set_entry_layout(const proto::ProgramShapeProto& stated, Module& module);

}  // namespace sapper::hlo
