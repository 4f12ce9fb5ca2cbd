// The grammar of the header of a module: HloModule NAME, attributes; and of the tables of stack frames that may follow.
// Each reader stands beside its writer.
#pragma once

#include <string>

#include "hlo/module.h"
#include "hlo/text.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// From the name on.
void read_header(Scanner& scan, Module& module);
void append_header(std::string& out, const Module& module, const PrintOptions& options);

// FileNames, FunctionNames, FileLocations, StackFrames; or nothing.
void read_stack_frames(Scanner& scan, Module& module);
void append_stack_frames(std::string& out, const Module& module);

}  // namespace sapper::hlo
