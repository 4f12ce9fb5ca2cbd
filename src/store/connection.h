// A connection to a database: all that the store needs of one. SQL is written once, in the dialect that SQLite and
// PostgreSQL share: parameters $1, $2, ...; types TEXT, BIGINT, DOUBLE PRECISION, BYTEA; ON CONFLICT; RETURNING.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace sapper::store {

struct Blob {
  std::string bytes;
};
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;  // monostate: NULL
using Row = std::vector<Value>;
using Rows = std::vector<Row>;

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // One statement, prepared at its first use and kept: its text must not hold values.
  [[nodiscard]] virtual Result<Rows> run(const std::string& sql, std::span<const Value> parameters) = 0;
  [[nodiscard]] Result<Rows> run(const std::string& sql, std::initializer_list<Value> parameters = {}) {
    return run(sql, std::span<const Value>(parameters.begin(), parameters.size()));
  }
  [[nodiscard]] virtual Result<std::vector<std::string>> tables() = 0;
  // For people, without a password.
  [[nodiscard]] virtual const std::string& name() const = 0;

  // `body` in one transaction, which is undone when it fails. What fails because of another writer is tried again, body
  // and all, for a minute.
  [[nodiscard]] Status transaction(const std::function<Status()>& body);

 protected:
  [[nodiscard]] virtual Status begin() = 0;
  [[nodiscard]] virtual Status commit() = 0;
  virtual void rollback() = 0;
  // Whether the last failure was another writer's doing (or that of a lost connection), and may pass.
  [[nodiscard]] virtual bool may_pass() const = 0;
};

[[nodiscard]] Result<std::unique_ptr<Connection>> connect(const std::string& url, Access access);
// What `connect` chooses from.
[[nodiscard]] Result<std::unique_ptr<Connection>> connect_sqlite(const std::string& path, Access access);
[[nodiscard]] Result<std::unique_ptr<Connection>> connect_postgresql(const std::string& url, Access access);

}  // namespace sapper::store
