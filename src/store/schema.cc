#include "store/schema.h"

#include <algorithm>

namespace sapper::store {
namespace {

// The version of the store; 0: the database is empty.
Result<size_t> version(Connection& connection) {
  SAPPER_TRY(const std::vector<std::string> tables, connection.tables());
  if (tables.empty()) return 0;
  if (std::find(tables.begin(), tables.end(), "schema") == tables.end())
    return fail(ErrorKind::BadInput,
                "{}: is no store: it has tables of another program ({}{}): give another path or URL", connection.name(),
                tables.front(), tables.size() > 1 ? ", ..." : "");
  SAPPER_TRY(const Rows rows, connection.run("SELECT MAX(version) FROM schema"));
  const auto* number = std::get_if<int64_t>(&rows.at(0).at(0));
  if (number == nullptr || *number < 1)
    return fail(ErrorKind::BadInput, "{}: is no store: its table schema holds no version", connection.name());
  return static_cast<size_t>(*number);
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> all = {
      {
          R"(CREATE TABLE campaigns (
               name TEXT NOT NULL PRIMARY KEY, settings TEXT NOT NULL, created TEXT NOT NULL))",
          // The hash is that of the bytes before they were packed.
          R"(CREATE TABLE artifacts (
               hash TEXT NOT NULL PRIMARY KEY, size BIGINT NOT NULL, packed BYTEA NOT NULL))",
          R"(CREATE TABLE pieces (
               fingerprint TEXT NOT NULL PRIMARY KEY, module TEXT REFERENCES artifacts (hash), kind TEXT NOT NULL,
               cost DOUBLE PRECISION, instructions BIGINT NOT NULL))",
          R"(CREATE TABLE campaign_pieces (
               campaign TEXT NOT NULL REFERENCES campaigns (name), piece TEXT NOT NULL REFERENCES pieces (fingerprint),
               PRIMARY KEY (campaign, piece)))",
          // The id is that of module, computation and instruction together.
          R"(CREATE TABLE occurrences (
               campaign TEXT NOT NULL, piece TEXT NOT NULL, id TEXT NOT NULL, module TEXT NOT NULL,
               computation TEXT NOT NULL, instruction TEXT NOT NULL, source TEXT NOT NULL, times BIGINT NOT NULL,
               PRIMARY KEY (campaign, piece, id),
               FOREIGN KEY (campaign, piece) REFERENCES campaign_pieces (campaign, piece)))",
          R"(CREATE TABLE runs (
               id TEXT NOT NULL PRIMARY KEY, piece TEXT NOT NULL REFERENCES pieces (fingerprint),
               configuration TEXT NOT NULL, seed BIGINT NOT NULL, tool TEXT NOT NULL, verdict TEXT NOT NULL,
               reason TEXT NOT NULL, max_excess DOUBLE PRECISION, max_relative DOUBLE PRECISION,
               suspicion DOUBLE PRECISION, decided DOUBLE PRECISION, seconds DOUBLE PRECISION NOT NULL,
               compiler_seconds DOUBLE PRECISION NOT NULL, steps TEXT NOT NULL))",
          R"(CREATE TABLE campaign_runs (
               campaign TEXT NOT NULL REFERENCES campaigns (name), run TEXT NOT NULL REFERENCES runs (id),
               PRIMARY KEY (campaign, run)))",
          R"(CREATE TABLE run_artifacts (
               run TEXT NOT NULL REFERENCES runs (id), name TEXT NOT NULL,
               artifact TEXT NOT NULL REFERENCES artifacts (hash), PRIMARY KEY (run, name)))",
          R"(CREATE TABLE findings (
               id TEXT NOT NULL PRIMARY KEY, run TEXT NOT NULL REFERENCES runs (id), stage TEXT NOT NULL,
               signature TEXT NOT NULL, message TEXT NOT NULL, severity BIGINT NOT NULL, max_excess DOUBLE PRECISION,
               max_relative DOUBLE PRECISION, status TEXT NOT NULL))",
          "CREATE INDEX findings_by_run ON findings (run)",
      },
  };
  return all;
}

Status migrate(Connection& connection, std::span<const Migration> migrations, Access access) {
  SAPPER_TRY(const size_t found, version(connection));
  if (found == migrations.size()) return {};
  if (found > migrations.size())
    return fail(ErrorKind::BadInput,
                "{}: was written by a newer sapper (version {} of the store; this one knows {}): use "
                "that sapper, or another store",
                connection.name(), found, migrations.size());
  if (access == Access::Read && found == 0)
    return fail(ErrorKind::BadInput, "{}: there is no store here: check the path or URL; a campaign makes one",
                connection.name());
  if (access == Access::Read)
    return fail(ErrorKind::BadInput,
                "{}: was written by an older sapper: a command that writes to it, such as sapper "
                "isolate, brings it up to date",
                connection.name());
  return connection.transaction([&]() -> Status {
    SAPPER_TRY(const size_t from, version(connection));  // another process may have been faster
    if (from == 0) SAPPER_CHECKED(connection.run("CREATE TABLE schema (version BIGINT NOT NULL PRIMARY KEY)"));
    for (size_t i = from; i < migrations.size(); ++i) {
      // The number first: who loses a race for it starts again, and finds the work done.
      SAPPER_CHECKED(connection.run("INSERT INTO schema (version) VALUES ($1)", {static_cast<int64_t>(i + 1)}));
      for (const std::string& statement : migrations[i]) SAPPER_CHECKED(connection.run(statement));
    }
    return {};
  });
}

}  // namespace sapper::store
