// Stores that are full, may not be written or are damaged, as `sapper` meets them: a message that says what to do, exit
// code 2 or 3, and nothing lost. What the store itself does is tested in tests/store/faults_test.cc.
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "store/connection.h"
#include "target/target.h"
#include "tests/store/backends.h"
#include "tests/store/processes.h"

namespace sapper::isolate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Said {
  int code = -1;
  std::string text;  // both streams
};

Said say(const std::string& arguments) {
  Said said;
  FILE* const pipe = popen((std::string(SAPPER_BINARY) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  char chunk[4096];
  for (size_t n = 0; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;) said.text.append(chunk, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) said.code = WEXITSTATUS(status);
  return said;
}

std::string isolate(const std::string& examples, const std::string& store) {
  return fmt::format("isolate {}/examples/{} --on cpu --seeds 1 --campaign c --store {}", SAPPER_SOURCE_DIR, examples,
                     store);
}

nlohmann::json report(const std::string& store) {
  return nlohmann::json::parse(say("report c --json --store " + store).text, nullptr, false);
}

class StoreFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no XLA:CPU here";
  }
  store::TemporaryFolder folder;
  std::string path = (folder.path() / "store.db").string();
  std::string here = " --store " + path;
};

TEST_F(StoreFaults, AFullDisk) {
  const auto resize = [&](const char* size, unsigned long flags) {
    return mount("tmpfs", folder.path().c_str(), "tmpfs", flags, size) == 0;
  };
  if (!resize("size=64k", 0)) GTEST_SKIP() << "may not mount";
  const Said none = say(isolate("softmax.hlo", path));
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.text, HasSubstr("no space left for the store: make some and run the same command again"));

  ASSERT_TRUE(resize("size=700k", MS_REMOUNT));
  const Said some = say(isolate("", path) + " --granularity op");
  EXPECT_EQ(some.code, 3);
  EXPECT_THAT(some.text, HasSubstr("no space left for the store: make some and run the same command again"));
  const auto before = report(path);
  ASSERT_TRUE(before.is_object()) << before;
  const auto judged = before["judged"].get<size_t>();
  EXPECT_GT(judged, 0U);

  ASSERT_TRUE(resize("size=20m", MS_REMOUNT));
  const Said rest = say(isolate("", path) + " --granularity op");
  EXPECT_EQ(rest.code, 0) << rest.text;
  EXPECT_THAT(rest.text, HasSubstr(fmt::format("{} known", judged)));
  EXPECT_EQ(report(path)["judged"], report(path)["pieces"]);
  EXPECT_EQ(umount(folder.path().c_str()), 0);
}

TEST_F(StoreFaults, AFolderThatMayNotBeWritten) {
  ASSERT_EQ(say(isolate("nested_int4.hlo", path)).code, 1);
  const std::string id = report(path)["findings"][0]["id"];
  const char* const at = folder.path().c_str();
  if (mount(at, at, nullptr, MS_BIND, nullptr) != 0) GTEST_SKIP() << "may not mount";
  ASSERT_EQ(mount(nullptr, at, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
  for (const std::string& command : {isolate("softmax.hlo", path), "findings mark c " + id + " seen" + here}) {
    const Said said = say(command);
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.text, HasSubstr("the store cannot be written"));
    EXPECT_THAT(said.text, HasSubstr("or copy it to where you may write"));
  }
  const Said exported = say(fmt::format("findings export c {} --output {}/case{}", id, at, here));
  EXPECT_EQ(exported.code, 2);
  EXPECT_THAT(exported.text, HasSubstr("/case: cannot make this folder: Read-only file system"));
  EXPECT_EQ(say("report c" + here).code, 1);
  EXPECT_EQ(say("findings show c " + id + here).code, 0);
  EXPECT_EQ(umount(at), 0);
}

// Flips a bit in the middle of the bytes under the hash that `query` gives.
void flip(const std::string& path, const std::string& query) {
  const auto connection = store::connect(path, store::Access::Write);
  ASSERT_TRUE(connection);
  const auto rows = (*connection)->run("SELECT hash, packed FROM artifacts WHERE hash = (" + query + ")");
  ASSERT_TRUE(rows && rows->size() == 1);
  store::Blob packed = std::get<store::Blob>((*rows)[0][1]);
  packed.bytes[packed.bytes.size() / 2] ^= 1;
  ASSERT_TRUE((*connection)->run("UPDATE artifacts SET packed = $1 WHERE hash = $2", {packed, (*rows)[0][0]}));
}

TEST_F(StoreFaults, ATableThatSomebodyEdited) {
  ASSERT_EQ(say(isolate("nested_int4.hlo", path)).code, 1);
  const std::string id = report(path)["findings"][0]["id"];
  const auto edit = [&](const char* update) {
    const auto connection = store::connect(path, store::Access::Write);
    ASSERT_TRUE(connection && (*connection)->run(update));
  };
  const std::string exported = (folder.path() / "case").string();
  const std::string export_it = "findings export c " + id + here + " --output " + exported;
  const auto is_refused = [&](const std::string& command) {
    const Said said = say(command);
    EXPECT_EQ(said.code, 2) << said.text;
    EXPECT_THAT(said.text, HasSubstr("the store is damaged"));
    EXPECT_FALSE(fs::exists(exported));
  };
  edit("UPDATE run_artifacts SET name = '../elsewhere'");
  is_refused(export_it);
  edit(R"(UPDATE runs SET steps = '{"steps": [1, "a"]}')");
  is_refused("findings show c " + id + here);
  edit(R"(UPDATE runs SET configuration = '{"target": 3}')");
  is_refused(export_it);
  edit("UPDATE campaigns SET settings = 'not JSON'");
  EXPECT_EQ(report(path)["settings"], "not JSON");
}

TEST_F(StoreFaults, ADamagedArtifact) {
  ASSERT_EQ(say(isolate("*int4*.hlo", path)).code, 1);
  const auto findings = report(path)["findings"];
  ASSERT_GE(findings.size(), 2U);
  const std::string damaged = findings[0]["id"];
  const std::string whole = findings[1]["id"];
  const auto export_to = [&](const std::string& id, const std::string& name) {
    return say(fmt::format("findings export c {} --output {}/{}{}", id, folder.path().string(), name, here));
  };
  flip(path,
       fmt::format("SELECT r.artifact FROM run_artifacts r JOIN findings f ON f.run = r.run WHERE f.id = '{}' AND "
                   "r.name = 'report.json'",
                   damaged));
  const Said said = export_to(damaged, "damaged");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.text, HasSubstr("report.json of the run of piece"));
  EXPECT_THAT(said.text, HasSubstr("take it from a copy of the store, or record it again in a new one"));
  EXPECT_FALSE(fs::exists(folder.path() / "damaged")) << "no half of a case";
  EXPECT_EQ(say("findings show c " + damaged + here).code, 0);
  EXPECT_EQ(export_to(whole, "whole").code, 0);
  EXPECT_EQ(report(path)["findings"], findings);

  flip(path,
       fmt::format("SELECT p.module FROM pieces p JOIN runs r ON r.piece = p.fingerprint JOIN findings f ON f.run "
                   "= r.id WHERE f.id = '{}'",
                   damaged));
  const Said shown = say("findings show c " + damaged + here);
  EXPECT_EQ(shown.code, 2);
  EXPECT_THAT(shown.text, HasSubstr("the module of piece"));
  EXPECT_EQ(report(path)["findings"], findings);
  EXPECT_EQ(say(isolate("*int4*.hlo", path)).code, 1) << "what is known is not needed";
}

}  // namespace
}  // namespace sapper::isolate
