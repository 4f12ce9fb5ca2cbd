// The grammar of the bundle forms: the instructions that are issued together, one bundle a line.
#pragma once

#include "llo/program.h"
#include "llo/text_scanner.h"

namespace sapper::llo {

// Does `text` start as a bundle form does?
[[nodiscard]] bool has_bundles(std::string_view text);
// Reads the whole text into `program`; its form becomes PhysicalBundles if there are physical registers, otherwise
// ValueBundles.
void read_bundles(Scanner& scanner, Program& program);

}  // namespace sapper::llo
