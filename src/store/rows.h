// Rows on their way into a table and out of a query.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "store/connection.h"

namespace sapper::store {

// Values on their way in.
[[nodiscard]] Value text_value(std::string_view text);  // as UTF-8
[[nodiscard]] Value real_value(std::optional<double> number);

// A row at the end of rows that lie one behind the other.
template <class... Values>
void add_row(std::vector<Value>& rows, Values&&... values) {
  (rows.emplace_back(std::forward<Values>(values)), ...);
}

// Values on their way out. A type that is not the one asked for is a damaged store's: empty, 0, nothing.
[[nodiscard]] std::string text_of(const Value& value);
[[nodiscard]] int64_t integer_of(const Value& value);
[[nodiscard]] std::optional<double> real_of(const Value& value);

// INSERT INTO `table` (`columns`) of rows that lie one behind the other in `values`; those whose key is there already
// are left out.
[[nodiscard]] Status insert(Connection& connection, const std::string& table, std::span<const char* const> columns,
                            std::span<const Value> values);

// Which of `keys` are in the column `key` of `table`.
[[nodiscard]] Result<std::unordered_set<std::string>> present(Connection& connection, const std::string& table,
                                                              const std::string& key,
                                                              std::span<const std::string> keys);

// Calls `run` with lists of at most `keys_at_a_time` of `keys`, each filled up with NULL to that length, for a
// statement with `key_list(first)` in it.
constexpr size_t keys_at_a_time = 1000;
[[nodiscard]] std::string key_list(size_t first);  // "($2, $3, ...)" for first = 2
[[nodiscard]] Status for_each_key_list(std::span<const std::string> keys,
                                       const std::function<Status(std::vector<Value>)>& run);

}  // namespace sapper::store
