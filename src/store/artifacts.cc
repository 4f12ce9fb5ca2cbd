#include "store/artifacts.h"

#include <array>

#include "store/content.h"
#include "store/rows.h"

namespace sapper::store {
namespace {

// A gigabyte is the most that either database takes as one value; PostgreSQL is sent two digits a byte.
constexpr size_t largest = size_t{1} << 30;
constexpr size_t largest_packed = size_t{400} << 20;

tl::unexpected<Error> too_large(size_t bytes) {
  return fail(ErrorKind::Resource, "{} bytes are too many for one artifact of a store: keep them in a file", bytes);
}

}  // namespace

Result<std::string> ArtifactBatch::add(std::string_view bytes) {
  if (bytes.size() > largest) return too_large(bytes.size());
  std::string hash = content_hash(bytes);
  if (!hashes_.insert(hash).second) return hash;
  std::string packed = pack(bytes);
  if (packed.size() > largest_packed) return too_large(bytes.size());
  add_row(values_, hash, static_cast<int64_t>(bytes.size()), Blob{std::move(packed)});
  return hash;
}

Status ArtifactBatch::write(Connection& connection) {
  constexpr std::array columns = {"hash", "size", "packed"};
  SAPPER_CHECKED(insert(connection, "artifacts", columns, values_));
  values_.clear();
  hashes_.clear();
  return {};
}

Result<std::string> read_artifact(Connection& connection, const std::string& hash, const std::string& what) {
  const auto damaged = [&](std::string_view why) {
    return fail(ErrorKind::BadInput,
                "{}: {} is damaged: {}; the rest of the store can be used: take it from a copy of the "
                "store, or record it again in a new one",
                connection.name(), what, why);
  };
  SAPPER_TRY(const Rows rows, connection.run("SELECT size, packed FROM artifacts WHERE hash = $1", {hash}));
  if (rows.empty()) return damaged("it is not there");
  const int64_t size = integer_of(rows[0][0]);
  const auto* packed = std::get_if<Blob>(&rows[0][1]);
  if (packed == nullptr || size < 0 || static_cast<size_t>(size) > largest)
    return damaged("its row holds something else");
  auto bytes = unpack(packed->bytes, static_cast<size_t>(size), hash);
  if (!bytes) return damaged(bytes.error().message);
  return bytes;
}

}  // namespace sapper::store
