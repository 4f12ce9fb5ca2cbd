// The ZIP container, as far as .npz uses it: members stored or deflated, with ZIP64 sizes. (PKWARE APPNOTE 6.3.)
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sapper::inputs {

struct ZipMember {
  std::string name;
  std::string bytes;
};

// `archive` names the file in errors. Damaged archives are BadInput; members above `limit_bytes` in all are Resource.
[[nodiscard]] Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& archive,
                                                      size_t limit_bytes = size_t{8} << 30);

// Members stored without compression or times, so that equal members give equal bytes.
[[nodiscard]] std::string write_zip(const std::vector<ZipMember>& members);

}  // namespace sapper::inputs
