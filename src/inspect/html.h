// An inspection as one HTML file that needs nothing else: the graph of the kernel with its nested fusions, each
// instruction in the colour of its standing, the values of those in the window, the machine code beside it.
#pragma once

#include <string>

#include "inspect/inspection.h"

namespace sapper::inspect {

// Of tensors with more elements, blocks are shown, each by the element that differs most.
constexpr int64_t kShownElements = 1 << 16;

[[nodiscard]] std::string to_html(const Inspection& inspection);

}  // namespace sapper::inspect
