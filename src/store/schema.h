// The tables of a store, and how an older store becomes one of this release.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/connection.h"

namespace sapper::store {

// What makes version i + 1 of version i: its place in the list is its number. A migration that was released is never
// changed: another follows it.
using Migration = std::vector<std::string>;  // SQL statements
[[nodiscard]] const std::vector<Migration>& migrations();

// Brings the store to the version that `migrations` end with, in one transaction, if it may be written; else, and when
// it is newer than that or some other program's database, an error.
[[nodiscard]] Status migrate(Connection& connection, std::span<const Migration> migrations, Access access);

}  // namespace sapper::store
