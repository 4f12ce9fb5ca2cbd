// Bytes in the store, under the hash of what they are: the same bytes are kept once, and damage is seen.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "store/connection.h"

namespace sapper::store {

// Artifacts that are to be written together.
class ArtifactBatch {
 public:
  // Their hash, under which they are read; Resource when they are too large for a database.
  [[nodiscard]] Result<std::string> add(std::string_view bytes);
  [[nodiscard]] Status write(Connection& connection);

 private:
  std::unordered_set<std::string> hashes_;
  std::vector<Value> values_;
};

// The bytes; BadInput when they are not what was written, saying that of `what`.
[[nodiscard]] Result<std::string> read_artifact(Connection& connection, const std::string& hash,
                                                const std::string& what);

}  // namespace sapper::store
