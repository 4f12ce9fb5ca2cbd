// How a store of one version becomes one of a later.
#include "store/schema.h"

#include "tests/store/backends.h"
#include "tests/store/processes.h"

namespace sapper::store {
namespace {

using testing::HasSubstr;

class Schema : public OnEachDatabase {
 protected:
  [[nodiscard]] std::unique_ptr<Connection> connection(Access access = Access::Write) const {
    auto connected = connect(database->url(), access);
    if (!connected) throw std::runtime_error(connected.error().describe());
    return std::move(*connected);
  }
  static std::vector<int64_t> numbers(Connection& connection, const std::string& sql) {
    const auto rows = connection.run(sql);
    std::vector<int64_t> all;
    for (const Row& row : *rows) all.push_back(std::get<int64_t>(row.front()));
    return all;
  }
};
SAPPER_ON_EACH_DATABASE(Schema);

const std::vector<Migration> first = {{"CREATE TABLE t (a BIGINT)", "INSERT INTO t (a) VALUES (20)"}};
const std::vector<Migration> third = {
    first[0], {"ALTER TABLE t ADD COLUMN b BIGINT", "UPDATE t SET b = a + 1"}, {"UPDATE t SET b = b * 2"}};

TEST_P(Schema, MigrationsAreMadeOnceAndInOrder) {
  const auto store = connection();
  ASSERT_TRUE(migrate(*store, first, Access::Write));
  EXPECT_EQ(numbers(*store, "SELECT a FROM t"), std::vector<int64_t>{20});
  for (int i = 0; i < 2; ++i) {
    const Status migrated = migrate(*store, third, Access::Write);
    ASSERT_TRUE(migrated) << migrated.error().describe();
    EXPECT_EQ(numbers(*store, "SELECT b FROM t"), std::vector<int64_t>{42});
    EXPECT_EQ(numbers(*store, "SELECT version FROM schema ORDER BY version"), (std::vector<int64_t>{1, 2, 3}));
  }
  EXPECT_THAT(migrate(*store, first, Access::Write).error().message, HasSubstr("newer sapper (version 3 of the store"));
}

TEST_P(Schema, AMigrationThatFailsChangesNothing) {
  const auto store = connection();
  ASSERT_TRUE(migrate(*store, first, Access::Write));
  std::vector<Migration> wrong = third;
  wrong[2].push_back("UPDATE nowhere SET b = 1");
  EXPECT_FALSE(migrate(*store, wrong, Access::Write));
  EXPECT_EQ(numbers(*store, "SELECT version FROM schema"), std::vector<int64_t>{1});
  EXPECT_FALSE(store->run("SELECT b FROM t"));
  ASSERT_TRUE(migrate(*store, third, Access::Write));
  EXPECT_EQ(numbers(*store, "SELECT b FROM t"), std::vector<int64_t>{42});
}

TEST_P(Schema, ReadersDoNotMigrate) {
  ASSERT_TRUE(migrate(*connection(), first, Access::Write));
  EXPECT_THAT(migrate(*connection(Access::Read), third, Access::Read).error().message,
              HasSubstr("was written by an older sapper: a command that writes to it"));
}

TEST_P(Schema, ProcessesThatMeetMigrateOnce) {
  ASSERT_TRUE(migrate(*connection(), first, Access::Write));
  const auto processes = start_processes(5, [&](int) { return migrate(*connection(), third, Access::Write) ? 0 : 1; });
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(numbers(*connection(), "SELECT b FROM t"), std::vector<int64_t>{42});
}

}  // namespace
}  // namespace sapper::store
