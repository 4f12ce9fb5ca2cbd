// Stores to test with, of each kind of database: typed tests take one as their parameter. PostgreSQL's server is a
// private one in a temporary folder, reached through a socket there; without PostgreSQL installed its tests are
// skipped.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "store/store.h"

namespace sapper::store {

// An empty database of its own for each test; removed with it.
class Database {
 public:
  virtual ~Database() = default;
  [[nodiscard]] virtual std::string url() const = 0;
};

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

enum class Backend { Sqlite, Postgresql };

// nullptr: this kind of database is not installed.
[[nodiscard]] std::unique_ptr<Database> make_database(Backend backend);

class OnEachDatabase : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    database = make_database(GetParam());
    if (database == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  [[nodiscard]] Store open(Access access = Access::Write) const {
    auto store = Store::open(database->url(), access);
    if (!store) throw std::runtime_error(store.error().describe());
    return std::move(*store);
  }
  std::unique_ptr<Database> database;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::Sqlite ? "Sqlite" : "Postgresql";
}

#define SAPPER_ON_EACH_DATABASE(suite)                                                                              \
  INSTANTIATE_TEST_SUITE_P(, suite,                                                                                 \
                           testing::Values(::sapper::store::Backend::Sqlite, ::sapper::store::Backend::Postgresql), \
                           ::sapper::store::backend_name)

}  // namespace sapper::store
