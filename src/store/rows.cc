#include "store/rows.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "store/utf8.h"

namespace sapper::store {
namespace {

// As many rows a statement as make the way to a server cheap; the rest of a list goes row by row, so that there are two
// statements a table.
constexpr size_t rows_at_a_time = 128;

std::string insertion(const std::string& table, std::span<const char* const> columns, size_t rows) {
  std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ", table, fmt::join(columns, ", "));
  for (size_t row = 0, parameter = 1; row < rows; ++row) {
    sql += row == 0 ? "(" : ", (";
    for (size_t i = 0; i < columns.size(); ++i, ++parameter) sql += fmt::format("{}${}", i == 0 ? "" : ", ", parameter);
    sql += ")";
  }
  return sql + " ON CONFLICT DO NOTHING";
}

}  // namespace

Value text_value(std::string_view text) { return as_utf8(text); }

Value real_value(std::optional<double> number) {
  if (!number || std::isnan(*number)) return std::monostate();
  return *number;
}

std::string text_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string();
}

int64_t integer_of(const Value& value) {
  const auto* number = std::get_if<int64_t>(&value);
  return number != nullptr ? *number : 0;
}

std::optional<double> real_of(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? std::optional<double>(*number) : std::nullopt;
}

Status insert(Connection& connection, const std::string& table, std::span<const char* const> columns,
              std::span<const Value> values) {
  SAPPER_ASSERT(values.size() % columns.size() == 0);
  const auto run = [&](const std::string& sql, size_t rows) -> Status {
    for (const size_t count = rows * columns.size(); values.size() >= count && !values.empty();
         values = values.subspan(count))
      SAPPER_CHECKED(connection.run(sql, values.first(count)));
    return {};
  };
  if (values.size() >= rows_at_a_time * columns.size())
    SAPPER_CHECKED(run(insertion(table, columns, rows_at_a_time), rows_at_a_time));
  return run(insertion(table, columns, 1), 1);
}

std::string key_list(size_t first) {
  std::string list = "(";
  for (size_t i = 0; i < keys_at_a_time; ++i) list += fmt::format("{}${}", i == 0 ? "" : ", ", first + i);
  return list + ")";
}

Status for_each_key_list(std::span<const std::string> keys, const std::function<Status(std::vector<Value>)>& run) {
  while (!keys.empty()) {
    const auto now = keys.first(std::min(keys.size(), keys_at_a_time));
    std::vector<Value> list(now.begin(), now.end());
    list.resize(keys_at_a_time);
    SAPPER_CHECKED(run(std::move(list)));
    keys = keys.subspan(now.size());
  }
  return {};
}

Result<std::unordered_set<std::string>> present(Connection& connection, const std::string& table,
                                                const std::string& key, std::span<const std::string> keys) {
  const std::string sql = fmt::format("SELECT {0} FROM {1} WHERE {0} IN {2}", key, table, key_list(1));
  std::unordered_set<std::string> found;
  SAPPER_CHECKED(for_each_key_list(keys, [&](const std::vector<Value>& list) -> Status {
    SAPPER_TRY(const Rows rows, connection.run(sql, list));
    for (const Row& row : rows) found.insert(text_of(row.front()));
    return {};
  }));
  return found;
}

}  // namespace sapper::store
