// An inspection for people and for programs.
#pragma once

#include <string>

#include "base/error.h"
#include "inspect/inspection.h"

namespace sapper::inspect {

// A line an instruction, then the first divergence in detail.
[[nodiscard]] std::string to_text(const Inspection& inspection);
// What diverges first, else the liberties that were taken, in one line.
[[nodiscard]] std::string headline(const Inspection& inspection);
// One object, without whole values (docs/json.md).
[[nodiscard]] std::string to_json(const Inspection& inspection);
// 0 nothing diverges, 1 something does, 3 the results are wrong and nothing that was seen tells why.
[[nodiscard]] int exit_code(const Inspection& inspection);
// report.html, inspection.json, and in values.npz NAME.expected and NAME.got of the values that are kept.
[[nodiscard]] Status write_folder(const Inspection& inspection, const std::string& folder);

}  // namespace sapper::inspect
