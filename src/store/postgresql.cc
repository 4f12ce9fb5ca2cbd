// Stores in a PostgreSQL database, for shards on many machines.
#include <cstdlib>
#include <optional>
#include <pqxx/pqxx>
#include <unordered_map>

#include "store/connection.h"

namespace sapper::store {
namespace {

// Type numbers of PostgreSQL's catalog (pg_type.dat), fixed for ever.
enum Type : pqxx::oid { Bytea = 17, Int8 = 20, Int2 = 21, Int4 = 23, Float4 = 700, Float8 = 701, Numeric = 1700 };

Value field_value(const pqxx::field& field, pqxx::oid type) {
  if (field.is_null()) return std::monostate();
  switch (type) {
    case Int2:
    case Int4:
    case Int8: return Value(std::in_place_type<int64_t>, field.as<int64_t>());
    case Float4:
    case Float8:
    case Numeric: return std::strtod(field.c_str(), nullptr);
    case Bytea: return Blob{pqxx::binarystring(field).str()};
    default: return std::string(field.c_str(), field.size());
  }
}

// A parameter as the server reads it; nullopt: NULL.
std::optional<std::string> spelled(const Value& value) {
  struct Speller {
    std::optional<std::string> operator()(std::monostate) const { return std::nullopt; }
    std::optional<std::string> operator()(int64_t number) const { return fmt::to_string(number); }
    std::optional<std::string> operator()(double number) const {
      if (number != number) return std::nullopt;  // as SQLite does
      return fmt::to_string(number);
    }
    std::optional<std::string> operator()(const std::string& text) const { return text; }
    std::optional<std::string> operator()(const Blob& blob) const {
      constexpr char digits[] = "0123456789abcdef";
      std::string hex = "\\x";
      hex.reserve(2 + 2 * blob.bytes.size());
      for (const char c : blob.bytes) {
        const auto byte = static_cast<unsigned char>(c);
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
      }
      return hex;
    }
  };
  return std::visit(Speller{}, value);
}

// A URL without user, password and options.
std::string shown(const std::string& url) {
  std::string rest = url.substr(url.find("://") + 3);
  rest = rest.substr(0, rest.find('?'));
  if (const size_t at = rest.rfind('@'); at != std::string::npos) rest = rest.substr(at + 1);
  return "postgresql://" + rest;
}

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find_last_not_of('\n', message.find('\n')) + 1));
}

class Postgresql final : public Connection {
 public:
  Postgresql(std::string url, Access access) : url_(std::move(url)), name_(shown(url_)), access_(access) {}

  Status connect() {
    return caught([&] {
      lost_ = false;
      statements_.clear();
      quiet_.reset();
      connection_ = std::make_unique<pqxx::connection>(url_);
      quiet_ = std::make_unique<pqxx::quiet_errorhandler>(*connection_);
      // A commit does not wait for the server's disk, as it does not in SQLite: a server that loses power may lose the
      // last ones, as a whole.
      pqxx::nontransaction(*connection_)
          .exec(access_ == Access::Read ? "SET default_transaction_read_only = on" : "SET synchronous_commit = off");
      return Status();
    });
  }

  using Connection::run;
  Result<Rows> run(const std::string& sql, std::span<const Value> parameters) override {
    may_pass_ = false;
    if (connection_ == nullptr) SAPPER_CHECKED(connect());
    if (transaction_ != nullptr)
      return caught([&]() -> Result<Rows> { return run_in(*transaction_, sql, parameters); });
    const auto alone = [&]() -> Result<Rows> {
      pqxx::nontransaction transaction(*connection_);
      return run_in(transaction, sql, parameters);
    };
    Result<Rows> rows = caught(alone);
    if (rows || !lost_) return rows;
    SAPPER_CHECKED(connect());
    return caught(alone);
  }

  Result<std::vector<std::string>> tables() override {
    SAPPER_TRY(const Rows rows, run("SELECT CAST(tablename AS TEXT) FROM pg_tables "
                                    "WHERE schemaname = current_schema() ORDER BY tablename"));
    std::vector<std::string> names;
    for (const Row& row : rows)
      if (const auto* text = std::get_if<std::string>(&row.front())) names.push_back(*text);
    return names;
  }

  const std::string& name() const override { return name_; }

 protected:
  Status begin() override {
    may_pass_ = false;
    if (connection_ == nullptr) SAPPER_CHECKED(connect());
    return caught([&] {
      transaction_ = std::make_unique<pqxx::work>(*connection_);
      return Status();
    });
  }
  Status commit() override {
    return caught([&] {
      transaction_->commit();
      transaction_.reset();
      return Status();
    });
  }
  void rollback() override {
    transaction_.reset();
    if (!lost_) return;
    quiet_.reset();
    connection_.reset();
    lost_ = false;
  }
  bool may_pass() const override { return may_pass_; }

 private:
  Rows run_in(pqxx::transaction_base& transaction, const std::string& sql, std::span<const Value> parameters) {
    auto [statement, added] = statements_.try_emplace(sql);
    if (added) {
      statement->second = fmt::format("s{}", statements_.size());
      connection_->prepare(statement->second, sql);
    }
    std::vector<std::optional<std::string>> texts;
    texts.reserve(parameters.size());
    for (const Value& value : parameters) texts.push_back(spelled(value));
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);
    const pqxx::result result =
        transaction.exec_prepared(statement->second, pqxx::prepare::make_dynamic_params(pointers));
    Rows rows;
    rows.reserve(result.size());
    std::vector<pqxx::oid> types;
    for (pqxx::row_size_type i = 0; i < result.columns(); ++i) types.push_back(result.column_type(i));
    for (const pqxx::row& tuple : result) {
      Row& row = rows.emplace_back();
      row.reserve(types.size());
      for (pqxx::row_size_type i = 0; i < tuple.size(); ++i) row.push_back(field_value(tuple[i], types[i]));
    }
    return rows;
  }

  // `work`'s result; what libpqxx throws meanwhile as an error for people.
  template <class Work>
  auto caught(const Work& work) -> decltype(work()) {
    try {
      return work();
    } catch (const pqxx::broken_connection& error) {
      return lost(error.what());
    } catch (const pqxx::in_doubt_error& error) {
      return lost(error.what());
    } catch (const pqxx::sql_error& error) {
      return failed(error);
    } catch (const std::exception& error) {
      return fail(ErrorKind::Internal, "{}: {}", name_, error.what());
    }
  }

  tl::unexpected<Error> lost(std::string_view why) {
    may_pass_ = lost_ = true;
    return fail(ErrorKind::BadInput,
                "{}: cannot reach the store: {}: check that the server runs, that the database is "
                "there (createdb makes one), and host, user and password of the URL",
                name_, first_line(why));
  }

  tl::unexpected<Error> failed(const pqxx::sql_error& error) {
    const std::string& state = error.sqlstate();
    const std::string why = first_line(error.what());
    // Of the server: it is being shut down. Of another writer: serialization, deadlock, the same key at the same time,
    // the same table at the same time.
    if (state.starts_with("57P") || state.starts_with("08")) return lost(why);
    may_pass_ = state == "40001" || state == "40P01" || state == "23505" || state == "42P07";
    if (state == "53100")
      return fail(ErrorKind::Resource,
                  "{}: no space left for the store: make some on the server and run the same command "
                  "again; what is recorded is kept",
                  name_);
    if (state.starts_with("53")) return fail(ErrorKind::Resource, "{}: the server is out of resources: {}", name_, why);
    if (state == "42501" || state == "25006")
      return fail(ErrorKind::BadInput,
                  "{}: the store cannot be written: {}: give a URL of a user who owns the database", name_, why);
    if (state.starts_with("XX"))
      return fail(ErrorKind::BadInput, "{}: the store is damaged: {}: put back a copy", name_, why);
    return fail(ErrorKind::Internal, "{}: {} (SQLSTATE {})", name_, why, state);
  }

  std::string url_;
  std::string name_;
  Access access_;
  // In this order: each ends before what it uses.
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet_;
  std::unique_ptr<pqxx::work> transaction_;
  std::unordered_map<std::string, std::string> statements_;  // SQL -> the name it is prepared as
  bool may_pass_ = false;
  bool lost_ = false;
};

}  // namespace

Result<std::unique_ptr<Connection>> connect_postgresql(const std::string& url, Access access) {
  auto connection = std::make_unique<Postgresql>(url, access);
  SAPPER_CHECKED(connection->connect());
  return connection;
}

}  // namespace sapper::store
