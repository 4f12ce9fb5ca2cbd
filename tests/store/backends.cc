#include "tests/store/backends.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

// libpqxx 6.4 forgets to free what a connection that is lost had answered.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpqxx"; }

namespace sapper::store {
namespace {

namespace fs = std::filesystem;

class SqliteFile final : public Database {
 public:
  std::string url() const override { return (folder_.path() / "store.db").string(); }

 private:
  TemporaryFolder folder_;
};

// The newest of Debian's; empty: not installed.
std::string postgresql_programs() {
  std::string newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error))
    if (fs::exists(entry.path() / "bin/initdb")) newest = std::max(newest, (entry.path() / "bin").string());
  return newest;
}

// The server refuses to run as root: as root, another user owns it.
std::string as_server_user(const std::string& command) {
  return geteuid() == 0 ? "runuser -u nobody -- " + command : command;
}

void must(const std::string& command) {
  if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) throw std::runtime_error("failed: " + command);
}

class PostgresqlServer {
 public:
  explicit PostgresqlServer(const std::string& programs) : control_(programs + "/pg_ctl -w -D " + data().string()) {
    if (geteuid() == 0) must("chown nobody " + folder_.path().string());
    must(as_server_user(
        fmt::format("{}/initdb -D {} -U tester -A trust --no-sync -E UTF8 --locale=C", programs, data().string())));
    must(as_server_user(fmt::format("{} -l {}/log -o \"-k {} -c listen_addresses= -c fsync=off\" start", control_,
                                    folder_.path().string(), folder_.path().string())));
  }
  ~PostgresqlServer() {
    // Processes that a test forked have a copy of this.
    if (getpid() == owner_) (void)std::system(as_server_user(control_ + " -m immediate stop >/dev/null 2>&1").c_str());
  }
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  std::string url(const std::string& database) const {
    return fmt::format("postgresql://tester@/{}?host={}", database, folder_.path().string());
  }

 private:
  fs::path data() const { return folder_.path() / "data"; }

  TemporaryFolder folder_;
  std::string control_;
  pid_t owner_ = getpid();
};

class PostgresqlDatabase final : public Database {
 public:
  PostgresqlDatabase(const PostgresqlServer& server, const std::string& programs) {
    static int count = 0;
    const std::string name = fmt::format("test{}", ++count);
    must(fmt::format("{}/psql -X '{}' -c 'CREATE DATABASE {}'", programs, server.url("postgres"), name));
    url_ = server.url(name);
  }
  std::string url() const override { return url_; }

 private:
  std::string url_;
};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "sapper-store-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

std::unique_ptr<Database> make_database(Backend backend) {
  if (backend == Backend::Sqlite) return std::make_unique<SqliteFile>();
  static const std::string programs = postgresql_programs();
  if (programs.empty()) return nullptr;
  static const PostgresqlServer server(programs);
  return std::make_unique<PostgresqlDatabase>(server, programs);
}

}  // namespace sapper::store
