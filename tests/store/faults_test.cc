// Stores that cannot be opened, written or read: an error that says what to do, and nothing else lost.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/file.h"
#include "store/store.h"
#include "tests/store/backends.h"
#include "tests/store/dump.h"
#include "tests/store/processes.h"
#include "tests/store/samples.h"

namespace sapper::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string open_error(const std::string& url, Access access = Access::Write) {
  const auto store = Store::open(url, access);
  return store ? "opened" : store.error().message;
}

Store filled(const std::string& url, int runs) {
  auto store = Store::open(url);
  EXPECT_TRUE(store && store->begin_campaign("c", "{}") && store->add_pieces("c", sample_pieces(runs)));
  for (int i = 0; i < runs; ++i) EXPECT_TRUE(*store->record("c", sample_record(i)));
  return std::move(*store);
}

class Files : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = (folder.path() / "store.db").string();
};

TEST_F(Files, WhatIsNoStore) {
  EXPECT_THAT(open_error(""), HasSubstr("a store needs a path"));
  EXPECT_THAT(open_error("mysql://host/db"), HasSubstr("mysql: no such kind of store: give a path, or postgresql://"));
  EXPECT_THAT(open_error(folder.path().string()), HasSubstr("is a folder: give the path of a file in it"));
  EXPECT_THAT(open_error((folder.path() / "none/store.db").string()), HasSubstr("make it, or give another path"));
  EXPECT_THAT(open_error("/dev/null"), HasSubstr("is no regular file"));
  EXPECT_THAT(open_error(path, Access::Read), HasSubstr("there is no store here"));
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(write_file(path, "HloModule m\n" + std::string(5000, 'x')));
  EXPECT_THAT(open_error(path), HasSubstr("is no store (no SQLite database)"));
  EXPECT_THAT(open_error(path, Access::Read), HasSubstr("is no store (no SQLite database)"));
  EXPECT_EQ(*read_file(path), "HloModule m\n" + std::string(5000, 'x'));
}

TEST_F(Files, AnEmptyFileBecomesAStore) {
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_EQ(filled("sqlite:" + path, 2).summary("c")->runs, 2);
}

TEST_F(Files, ThatCannotBeWrittenCanBeRead) {
  { const Store store = filled(path, 3); }
  // Permissions say nothing to root.
  const auto as_nobody = [&](const auto& body) {
    return run_process([&] { return geteuid() == 0 && seteuid(65534) != 0 ? 97 : body(); });
  };
  const auto reads = [&] {
    auto store = Store::open(path, Access::Read);
    if (!store) return fmt::print(stderr, "{}\n", store.error().message), 1;
    return store->summary("c")->runs == 3 ? 0 : 2;
  };
  const auto says = [&](const std::string& what) {
    const std::string error = open_error(path);
    if (error.find(what) == std::string::npos) return fmt::print(stderr, "{}\n", error), 1;
    return 0;
  };
  fs::permissions(path, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  EXPECT_EQ(as_nobody(reads), 0);
  EXPECT_EQ(as_nobody([&] { return says("the store cannot be written"); }), 0);
  fs::permissions(path, fs::perms(0000));
  EXPECT_EQ(as_nobody([&] { return says("check the permissions of the file"); }), 0);
  fs::permissions(path, fs::perms(0644));
  fs::permissions(folder.path(), fs::perms(0755));
  EXPECT_EQ(open_error(path), "opened");
}

constexpr int few_pieces = 50;

Record nth_record(int i) {
  Record record = sample_record(i);
  record.run.key.piece = sample_piece(i % few_pieces).fingerprint;
  record.run.key.seed = static_cast<uint64_t>(i);
  return record;
}

// Records until it is told that there is no space; how many were recorded, -1 for any other end.
int record_until_full(const std::string& path) {
  auto store = Store::open(path);
  if (!store || !store->begin_campaign("c", "{}") || !store->add_pieces("c", sample_pieces(few_pieces))) return -1;
  for (int i = 0; i < 50'000; ++i) {
    const auto recorded = store->record("c", nth_record(i));
    if (recorded) continue;
    const Error& error = recorded.error();
    if (error.kind == ErrorKind::Resource && error.message.find("no space left for the store") != std::string::npos)
      return i;
    fmt::print(stderr, "{}\n", error.message);
    return -1;
  }
  return -1;
}

TEST_F(Files, FullDiskKeepsWhatIsRecorded) {
  const std::string count = (folder.path() / "count").string();
  const int code = run_process([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{6 << 20, 6 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    return write_file(count, fmt::to_string(record_until_full(path))) ? 0 : 2;
  });
  ASSERT_EQ(code, 0);
  const int recorded = std::stoi(*read_file(count));
  ASSERT_GT(recorded, 100);
  auto store = Store::open(path);
  ASSERT_TRUE(store) << store.error().describe();
  EXPECT_EQ(store->summary("c")->runs, recorded);
  EXPECT_TRUE(*store->record("c", nth_record(recorded)));
}

TEST_F(Files, AReallyFullDisk) {
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "may not mount";
  const int recorded = record_until_full(path);
  EXPECT_GT(recorded, 100);
  EXPECT_EQ(Store::open(path, Access::Read)->summary("c")->runs, recorded);
  EXPECT_EQ(umount(folder.path().c_str()), 0);
}

TEST_F(Files, DamageIsAnErrorAndNeverACrash) {
  { const Store store = filled(path, 200); }
  const std::string whole = *read_file(path);
  int damaged = 0;
  for (size_t at = 0; at < whole.size(); at += 4096 * 5 + 512) {
    std::string bytes = whole;
    bytes.replace(at, std::min<size_t>(3000, bytes.size() - at), std::string(3000, '\xA5'));
    ASSERT_TRUE(write_file(path, bytes));
    auto store = Store::open(path, Access::Read);
    const auto note = [&](const auto& result) {
      if (result) return;
      ++damaged;
      EXPECT_NE(result.error().kind, ErrorKind::Internal) << result.error().message;
    };
    note(store);
    if (!store) continue;
    note(store->summary("c"));
    note(store->runs("c"));
    note(store->findings("c"));
    for (int i = 0; i < 200; ++i) note(store->artifact(sample_key(i), "inputs.npz"));
  }
  EXPECT_GT(damaged, 10);
  ASSERT_TRUE(write_file(path, whole.substr(0, whole.size() / 2)));
  const auto half = Store::open(path, Access::Read);
  if (half) {
    EXPECT_FALSE(Store::open(path)->runs("c"));
  } else {
    EXPECT_THAT(half.error().message, HasSubstr("the store is damaged"));
  }
}

class Faults : public OnEachDatabase {
 protected:
  // Changes the database behind the store's back.
  void change(const std::string& sql, std::initializer_list<Value> parameters = {}) const {
    const auto connection = connect(database->url(), Access::Write);
    ASSERT_TRUE(connection) << connection.error().describe();
    const auto done = (*connection)->run(sql, parameters);
    ASSERT_TRUE(done) << done.error().describe();
  }
};
SAPPER_ON_EACH_DATABASE(Faults);

TEST_P(Faults, ADamagedArtifactIsNotReturned) {
  Store store = filled(database->url(), 6);
  const auto error = [&] {
    const auto bytes = store.artifact(sample_key(1), "common");
    return bytes ? "returned" : bytes.error().message;
  };
  ASSERT_EQ(error(), "returned");
  const std::string one = "WHERE hash = (SELECT artifact FROM run_artifacts WHERE name = 'common' LIMIT 1)";
  // The right bytes of another artifact; no zstd; a frame that claims to be enormous; a row that lies about the size.
  change("UPDATE artifacts SET packed = (SELECT packed FROM artifacts WHERE size = 11 LIMIT 1), size = 11 " + one);
  EXPECT_THAT(error(), HasSubstr("common of the run of piece"));
  EXPECT_THAT(error(), HasSubstr("is damaged: its hash is not the one it was kept under"));
  change("UPDATE artifacts SET packed = $1 " + one, {Blob{"garbage"}});
  EXPECT_THAT(error(), HasSubstr("is damaged: it is no zstd frame of 11 bytes"));
  change("UPDATE artifacts SET packed = $1, size = 1099511627776 " + one,
         {Blob{std::string("\x28\xB5\x2F\xFD\xE0\0\0\0\0\0\x01\0\0\x01\0\0", 16)}});
  EXPECT_THAT(error(), HasSubstr("is damaged"));
  change("UPDATE artifacts SET size = -1 " + one);
  EXPECT_THAT(error(), HasSubstr("is damaged"));
  EXPECT_EQ(*store.artifact(sample_key(1), "inputs.npz"), "inputs of 1");
  EXPECT_EQ(store.runs("c")->size(), 6U);
}

TEST_P(Faults, ANewerStoreIsRefused) {
  { const Store store = open(); }
  change("INSERT INTO schema (version) VALUES (1000)");
  const std::string before = dump(database->url());
  for (const Access access : {Access::Write, Access::Read})
    EXPECT_THAT(open_error(database->url(), access), HasSubstr("was written by a newer sapper (version 1000"));
  EXPECT_EQ(dump(database->url()), before);
}

TEST_P(Faults, AnotherProgramsDatabaseIsRefused) {
  change("CREATE TABLE songs (title TEXT)");
  EXPECT_THAT(open_error(database->url()), HasSubstr("is no store: it has tables of another program (songs)"));
  change("CREATE TABLE schema (version BIGINT)");
  EXPECT_THAT(open_error(database->url()), HasSubstr("its table schema holds no version"));
}

TEST(PostgresqlUrls, ThatLeadNowhereSayWhatToCheck) {
  const std::string error = open_error("postgresql://me:secret@/none?host=/nowhere");
  EXPECT_THAT(error, HasSubstr("postgresql:///none: cannot reach the store"));
  EXPECT_THAT(error, HasSubstr("check that the server runs"));
  EXPECT_THAT(error, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(open_error("postgresql://me@host/db?no=option"), HasSubstr("cannot reach the store"));
}

}  // namespace
}  // namespace sapper::store
