// What a campaign found, looked into: each mismatch as a case (check/case.h), with the report of its inspection.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspect.h"
#include "store/store.h"

namespace sapper::inspect {

struct InspectedFinding {
  std::string id;       // of the finding
  std::string folder;   // the case, with report.html, inspection.json and the kept values
  std::string outcome;  // what diverges first, or why it could not be looked into
};

// Writes a folder for each mismatch into `folder`, in the order in which findings are to be read. One that is there
// already with its report is left as it is. `options` but for the check's, which are those of the findings. Errors: the
// store's, a folder that cannot be written; what cannot be inspected is an outcome.
[[nodiscard]] Result<std::vector<InspectedFinding>> inspect_findings(store::Store& store, target::CompilerPool& pool,
                                                                     const std::string& campaign,
                                                                     const std::string& folder,
                                                                     const InspectOptions& options);

}  // namespace sapper::inspect
