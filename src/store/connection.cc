#include "store/connection.h"

#include <chrono>
#include <random>
#include <string_view>
#include <thread>

namespace sapper::store {
namespace {

constexpr std::chrono::seconds patience{60};

// Writers that met wait for different times, so that they do not meet again.
void wait_before_try(int tries) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int longest = std::min(1 << std::min(tries, 8), 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(1 + static_cast<int>(random() % longest)));
}

}  // namespace

Status Connection::transaction(const std::function<Status()>& body) {
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (int tries = 1;; ++tries) {
    Status done = begin();
    if (done) done = body();
    if (done) done = commit();
    if (done) return done;
    const bool again = may_pass();
    rollback();
    if (!again || std::chrono::steady_clock::now() > give_up) return done;
    wait_before_try(tries);
  }
}

Result<std::unique_ptr<Connection>> connect(const std::string& url, Access access) {
  constexpr std::string_view sqlite = "sqlite:";
  if (url.starts_with("postgresql://") || url.starts_with("postgres://")) return connect_postgresql(url, access);
  if (url.starts_with(sqlite)) return connect_sqlite(url.substr(sqlite.size()), access);
  if (url.find("://") == std::string::npos) return connect_sqlite(url, access);
  return fail(ErrorKind::BadInput, "{}: no such kind of store: give a path, or postgresql://USER@HOST/DATABASE",
              url.substr(0, url.find("://")));
}

}  // namespace sapper::store
