// Stores in a file: SQLite in write-ahead mode, so that readers and one writer at a time do not wait for each other.
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "store/connection.h"

namespace sapper::store {
namespace {

namespace fs = std::filesystem;

constexpr int busy_milliseconds = 10'000;

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

bool out_of_space(int code, int system_error) {
  return (code & 0xff) == SQLITE_FULL ||
         ((code & 0xff) == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG));
}

// What SQLite's extended result code means to people.
Error explain(sqlite3* handle, int code, const std::string& path) {
  const auto error = [](ErrorKind kind, std::string message) { return Error{kind, std::move(message), {}}; };
  const int system_error = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  const char* detail = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  if (out_of_space(code, system_error))
    return error(ErrorKind::Resource, fmt::format("{}: no space left for the store: make some and run the same command "
                                                  "again; what is recorded is kept",
                                                  path));
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return error(ErrorKind::BadInput,
                   fmt::format("{}: is no store (no SQLite database): give the path of a store, or "
                               "of a file that does not exist yet",
                               path));
    case SQLITE_CORRUPT:
      return error(ErrorKind::BadInput,
                   fmt::format("{0}: the store is damaged ({1}): put back a copy, or save what can still be read with: "
                               "sqlite3 {0} .recover | sqlite3 {0}.recovered",
                               path, detail));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return error(
          ErrorKind::BadInput,
          fmt::format("{}: the store cannot be written ({}): check the owner and the permissions of the file and "
                      "of its folder, or copy it to where you may write",
                      path, detail));
    case SQLITE_CANTOPEN:
      return error(
          ErrorKind::BadInput,
          fmt::format("{}: cannot open the store: {}: check the permissions of the file and of its folder, where "
                      "files {}-wal and {}-shm are made beside it",
                      path, system_error != 0 ? std::strerror(system_error) : detail,
                      fs::path(path).filename().string(), fs::path(path).filename().string()));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorKind::Resource,
                   fmt::format("{}: another process has kept the store locked for a minute: run the "
                               "same command again; for many writers use a PostgreSQL store",
                               path));
    case SQLITE_IOERR:
      return error(ErrorKind::BadInput, fmt::format("{}: cannot read or write the store: {}: check the disk", path,
                                                    system_error != 0 ? std::strerror(system_error) : detail));
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG: return error(ErrorKind::Resource, fmt::format("{}: {}", path, detail));
    default: return error(ErrorKind::Internal, fmt::format("{}: {} (SQLite error {})", path, detail, code));
  }
}

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  struct Binder {
    sqlite3_stmt* statement;
    int index;
    int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
    int operator()(int64_t number) const { return sqlite3_bind_int64(statement, index, number); }
    int operator()(double number) const { return sqlite3_bind_double(statement, index, number); }
    int operator()(const std::string& text) const {
      return sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int operator()(const Blob& blob) const {
      return sqlite3_bind_blob64(statement, index, blob.bytes.data(), blob.bytes.size(), SQLITE_STATIC);
    }
  };
  return std::visit(Binder{statement, index}, value);
}

Value column(sqlite3_stmt* statement, int index) {
  const auto bytes = [&](const void* data) {
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, index));
    return size == 0 ? std::string() : std::string(static_cast<const char*>(data), size);
  };
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER: return Value(std::in_place_type<int64_t>, sqlite3_column_int64(statement, index));
    case SQLITE_FLOAT: return sqlite3_column_double(statement, index);
    case SQLITE_TEXT: return bytes(sqlite3_column_text(statement, index));
    case SQLITE_BLOB: return Blob{bytes(sqlite3_column_blob(statement, index))};
    default: return std::monostate();
  }
}

class Sqlite final : public Connection {
 public:
  Sqlite(std::string path, Handle handle) : path_(std::move(path)), handle_(std::move(handle)) {}

  using Connection::run;
  Result<Rows> run(const std::string& sql, std::span<const Value> parameters) override {
    may_pass_ = false;
    SAPPER_TRY(sqlite3_stmt * statement, prepared(sql));
    for (size_t i = 0; i < parameters.size(); ++i)
      if (const int code = bind(statement, static_cast<int>(i) + 1, parameters[i]); code != SQLITE_OK)
        return failed(code);
    Rows rows;
    const int columns = sqlite3_column_count(statement);
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      Row& row = rows.emplace_back();
      row.reserve(static_cast<size_t>(columns));
      for (int i = 0; i < columns; ++i) row.push_back(column(statement, i));
    }
    // The error is told before the reset, which forgets it.
    Result<Rows> result = code == SQLITE_DONE ? Result<Rows>(std::move(rows)) : failed(code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return result;
  }

  Result<std::vector<std::string>> tables() override {
    SAPPER_TRY(const Rows rows, run("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"));
    std::vector<std::string> names;
    for (const Row& row : rows)
      if (const auto* text = std::get_if<std::string>(&row.front())) names.push_back(*text);
    return names;
  }

  const std::string& name() const override { return path_; }

  // How the connection works from now on. Two processes that make one store at a time meet here, where SQLite does not
  // wait by itself.
  Status configure(Access access) {
    sqlite3_extended_result_codes(handle_.get(), 1);
    sqlite3_busy_timeout(handle_.get(), busy_milliseconds);
    SAPPER_CHECKED(pragma("foreign_keys = ON"));
    SAPPER_CHECKED(pragma("cache_size = -65536"));  // 64 MiB
    if (access == Access::Read) return {};
    SAPPER_CHECKED(pragma("journal_mode = WAL"));
    // A commit is in the file system's hands, not yet on the disk: it outlives the process at any rate; a machine that
    // loses power may lose the last ones, as a whole.
    return pragma("synchronous = NORMAL");
  }

 protected:
  // IMMEDIATE: the one writer is chosen here, and a transaction that has begun never meets another.
  Status begin() override { return execute("BEGIN IMMEDIATE"); }
  Status commit() override { return execute("COMMIT"); }
  void rollback() override {
    if (sqlite3_get_autocommit(handle_.get()) == 0) (void)execute("ROLLBACK");
  }
  bool may_pass() const override { return may_pass_; }

 private:
  Result<sqlite3_stmt*> prepared(const std::string& sql) {
    Statement& statement = statements_[sql];
    if (statement == nullptr) {
      std::string spelled = sql;  // SQLite's $1 is a name, its ?1 a number
      for (char& c : spelled)
        if (c == '$') c = '?';
      sqlite3_stmt* raw = nullptr;
      const int code = sqlite3_prepare_v3(handle_.get(), spelled.c_str(), static_cast<int>(spelled.size()),
                                          SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
      if (code != SQLITE_OK) return failed(code);
      statement.reset(raw);
    }
    return statement.get();
  }

  Status execute(const std::string& sql) {
    SAPPER_CHECKED(run(sql));
    return {};
  }

  Status pragma(const std::string& setting) {
    for (int tries = 0;; ++tries) {
      Status done = execute("PRAGMA " + setting);
      if (done || !may_pass_ || tries == busy_milliseconds / 10) return done;
      sqlite3_sleep(10);
    }
  }

  tl::unexpected<Error> failed(int code) {
    const int primary = code & 0xff;
    may_pass_ = primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
    return fail(explain(handle_.get(), code, path_));
  }

  std::string path_;
  Handle handle_;
  std::unordered_map<std::string, Statement> statements_;  // after the handle: finalized before it is closed
  bool may_pass_ = false;
};

// A URI, for what only a URI can ask for.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", static_cast<int>(c)) : std::string(1, c);
  return uri + "?immutable=1";
}

Status check_path(const std::string& path, Access access) {
  std::error_code error;
  if (path.empty()) return fail(ErrorKind::BadInput, "a store needs a path: give one such as campaign.db");
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return fail(ErrorKind::BadInput, "{}: is a folder: give the path of a file in it, such as {}", path,
                (fs::path(path) / "campaign.db").string());
  if (fs::exists(status) && !fs::is_regular_file(status))
    return fail(ErrorKind::BadInput, "{}: is no regular file: a store needs one of its own", path);
  if (status.type() == fs::file_type::none)
    return fail(ErrorKind::BadInput, "{}: cannot open the store: {}", path, error.message());
  if (fs::exists(status)) return {};
  if (access == Access::Read)
    return fail(ErrorKind::BadInput, "{}: there is no store here: check the path; a campaign makes one", path);
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, error))
    return fail(ErrorKind::BadInput, "{}: there is no folder {}: make it, or give another path", path, folder.string());
  return {};
}

// A connection to `file` that is ready, and has had its first look into it: whether it is a database, and whether it
// can be read where it is.
Result<std::unique_ptr<Connection>> open_file(const std::string& file, int flags, const std::string& path,
                                              Access access) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) return fail(explain(raw, code, path));
  if (access == Access::Write && sqlite3_db_readonly(raw, "main") == 1)
    return fail(explain(nullptr, SQLITE_READONLY, path));
  auto connection = std::make_unique<Sqlite>(path, std::move(handle));
  SAPPER_CHECKED(connection->configure(access));
  SAPPER_CHECKED(connection->tables());
  return connection;
}

}  // namespace

Result<std::unique_ptr<Connection>> connect_sqlite(const std::string& path, Access access) {
  SAPPER_CHECKED(check_path(path, access));
  if (access == Access::Write) return open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path, access);
  auto connection = open_file(path, SQLITE_OPEN_READONLY, path, access);
  if (connection || fs::exists(path + "-wal")) return connection;
  // Where nothing may be written beside it, a store at rest is read as a file that nobody changes.
  auto immutable = open_file(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path, access);
  return immutable ? std::move(immutable) : std::move(connection);
}

}  // namespace sapper::store
