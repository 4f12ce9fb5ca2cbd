// The report's page, as cmake/page.cmake puts it together; /*DATA*/ stands where html.cc puts what is reported.
#pragma once

#include <string_view>

namespace sapper::inspect {

[[nodiscard]] std::string_view page();

}  // namespace sapper::inspect
