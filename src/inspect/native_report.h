// What was found about a kernel's instructions, put into an Inspection.
#pragma once

#include <string>

#include "inspect/inspection.h"
#include "inspect/native_code.h"
#include "inspect/native_guilty.h"

namespace sapper::inspect {

struct NativeFindings {
  const MatchInput& input;
  const std::vector<Match>& matches;
  const std::optional<Guilty>& guilty;
  const std::string& policy;  // by which results that are not as written are legal; empty: they need none
  int window = 0;
  int64_t memory_bytes = 0;
};

// Fills instructions, code, first_divergence and the counts of result elements.
void report(const NativeFindings& findings, NativeCode code, Inspection& inspection);

}  // namespace sapper::inspect
