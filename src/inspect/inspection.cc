#include "inspect/inspection.h"

#include "base/assert.h"

namespace sapper::inspect {

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::Observed: return "observed";
    case Standing::Folded: return "folded";
    case Standing::Explained: return "explained";
    case Standing::Diverges: return "diverges";
    case Standing::Downstream: return "downstream";
    case Standing::Unknown: return "unknown";
  }
  SAPPER_ASSERT(false);
}

std::string_view to_string(Liberty liberty) {
  switch (liberty) {
    case Liberty::None: return "none";
    case Liberty::NotRounded: return "not rounded";
    case Liberty::Elided: return "elided";
    case Liberty::Fused: return "fused";
  }
  SAPPER_ASSERT(false);
}

}  // namespace sapper::inspect
