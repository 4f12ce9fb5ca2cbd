// What is written comes back, once, from each kind of database.
#include "store/store.h"

#include <limits>

#include "tests/store/backends.h"
#include "tests/store/samples.h"

namespace sapper::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Stores : public OnEachDatabase {};
SAPPER_ON_EACH_DATABASE(Stores);

// A store with the campaign "c" over `count` sample pieces.
Store with_pieces(Store store, int count) {
  EXPECT_TRUE(store.begin_campaign("c", "{}"));
  EXPECT_TRUE(store.add_pieces("c", sample_pieces(count)));
  return store;
}

TEST_P(Stores, CampaignsKeepTheSettingsTheyBeganWith) {
  Store store = open();
  const auto first = store.begin_campaign("night", R"({"seed":1})");
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_EQ(first->name, "night");
  EXPECT_EQ(first->settings, R"({"seed":1})");
  EXPECT_EQ(first->created.size(), 20U);
  EXPECT_EQ(store.begin_campaign("night", "other")->settings, R"({"seed":1})");
  ASSERT_TRUE(store.begin_campaign("day", ""));
  EXPECT_THAT(*store.campaigns(),
              ElementsAre(testing::Field(&Campaign::name, "day"), testing::Field(&Campaign::name, "night")));
  EXPECT_THAT(store.campaign("noon").error().message, HasSubstr("there is no campaign noon; there are: day, night"));
  EXPECT_THAT(store.begin_campaign("two\nlines", "").error().message, HasSubstr("1 to 200 bytes"));
}

TEST_P(Stores, PiecesComeBackWithTheirModuleAndPlaces) {
  Store store = with_pieces(open(), 300);
  const Piece wanted = sample_piece(41);
  const auto piece = store.piece("c", wanted.fingerprint);
  ASSERT_TRUE(piece) << piece.error().describe();
  EXPECT_EQ(piece->module, wanted.module);
  EXPECT_EQ(piece->kind, "dot");
  EXPECT_EQ(piece->cost, 4100);
  EXPECT_EQ(piece->instructions, 41);
  ASSERT_EQ(piece->occurrences.size(), 2U);
  const Occurrence& main = piece->occurrences[piece->occurrences[0].computation == "main" ? 0 : 1];
  EXPECT_EQ(main.module, "model.hlo");
  EXPECT_EQ(main.instruction, "fusion.41");
  EXPECT_EQ(main.source, "layer.py:12");
  EXPECT_EQ(main.times, 1);
  EXPECT_THAT(store.piece("c", "00").error().message, HasSubstr("campaign c has no piece 00"));
}

TEST_P(Stores, PiecesAreAddedOnceAndPlacesOneByOne) {
  Store store = with_pieces(open(), 10);
  ASSERT_TRUE(store.add_pieces("c", sample_pieces(10)));
  EXPECT_EQ(store.summary("c")->pieces, 10);
  EXPECT_EQ(store.summary("c")->occurrences, 20);
  Piece elsewhere = sample_piece(3);
  elsewhere.occurrences = {{"other.hlo", "main", "f", "", 1}, sample_piece(3).occurrences[0]};
  ASSERT_TRUE(store.add_pieces("c", std::vector{elsewhere, sample_piece(10)}));
  EXPECT_EQ(store.summary("c")->pieces, 11);
  EXPECT_EQ(store.summary("c")->occurrences, 23);
  EXPECT_THAT(store.add_pieces("d", sample_pieces(1)).error().message, HasSubstr("there is no campaign d"));
}

TEST_P(Stores, ARunIsRecordedOnce) {
  Store store = with_pieces(open(), 3);
  const auto first = store.record("c", sample_record(1));
  ASSERT_TRUE(first) << first.error().describe();
  EXPECT_TRUE(*first);
  Record other = sample_record(1);
  other.run.verdict = "agree";
  other.findings = {{"x", "y", "z"}};
  other.artifacts.push_back({"new", "bytes"});
  EXPECT_FALSE(*store.record("c", other));
  const auto runs = store.runs("c");
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ(runs->front().verdict, "mismatch");
  EXPECT_EQ(store.findings("c")->size(), 2U);
  EXPECT_THAT(*store.artifact_names(sample_key(1)), ElementsAre("common", "inputs.npz"));
  EXPECT_EQ(*store.artifact(sample_key(1), "inputs.npz"), "inputs of 1");
  EXPECT_THAT(store.artifact(sample_key(1), "new").error().message, HasSubstr("left no new"));
}

TEST_P(Stores, EachPartOfTheKeyMakesAnotherRun) {
  Store store = with_pieces(open(), 2);
  Record record = sample_record(0);
  const auto is_new = [&] { return *store.record("c", record); };
  EXPECT_TRUE(is_new());
  EXPECT_FALSE(is_new());
  record.run.key.seed = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(is_new());
  EXPECT_FALSE(is_new());
  record.run.key.configuration += " --flag";
  EXPECT_TRUE(is_new());
  record.run.key.tool = "0.1.1";
  EXPECT_TRUE(is_new());
  record.run.key.piece = sample_piece(1).fingerprint;
  EXPECT_TRUE(is_new());
  EXPECT_EQ(store.summary("c")->runs, 5);
  EXPECT_EQ(store.summary("c")->pieces_run, 2);
}

TEST_P(Stores, AllOfARunComesBack) {
  Store store = with_pieces(open(), 1);
  Record record = sample_record(0);
  record.run.key.seed = 0xFEDCBA9876543210;
  record.run.max_excess = std::numeric_limits<double>::infinity();
  record.run.max_relative = std::numeric_limits<double>::quiet_NaN();
  record.run.suspicion = 0.1;
  record.run.reason = std::string("bad byte \xFF, NUL \0, caf\xC3\xA9", 24);
  ASSERT_TRUE(*store.record("c", record));
  const auto run = store.runs("c")->front();
  EXPECT_EQ(run.key, record.run.key);
  EXPECT_EQ(run.max_excess, std::numeric_limits<double>::infinity());
  EXPECT_EQ(run.max_relative, std::nullopt);
  EXPECT_EQ(run.suspicion, 0.1);
  EXPECT_EQ(run.decided, 1.0);
  EXPECT_EQ(run.seconds, 0.25);
  EXPECT_EQ(run.compiler_seconds, 0.125);
  EXPECT_EQ(run.steps, R"([{"step":0}])");
  EXPECT_EQ(run.reason, "bad byte \xEF\xBF\xBD, NUL \xEF\xBF\xBD, caf\xC3\xA9");
}

TEST_P(Stores, ARecordIsAllOrNothing) {
  Store store = with_pieces(open(), 2);
  std::vector<Record> records = {sample_record(0), sample_record(1), sample_record(99)};  // no piece 99
  EXPECT_FALSE(store.record("c", records));
  EXPECT_EQ(store.summary("c")->runs, 0);
  EXPECT_EQ(store.artifact_names(sample_key(0))->size(), 0U);
  records.pop_back();
  EXPECT_EQ(*store.record("c", records), 2U);
}

TEST_P(Stores, RunsThatAreThereAreKnownAndAdopted) {
  Store store = with_pieces(open(), 2500);
  std::vector<Record> records;
  std::vector<RunKey> keys;
  keys.reserve(2500);
  for (int i = 0; i < 2500; ++i) {
    keys.push_back(sample_key(i));
    if (i % 2 == 0) records.push_back(sample_record(i));
  }
  ASSERT_EQ(*store.record("c", records), 1250U);
  ASSERT_TRUE(store.begin_campaign("d", ""));
  const auto known = store.adopt("d", keys);
  ASSERT_TRUE(known) << known.error().describe();
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ((*known)[i], i % 2 == 0) << i;
  EXPECT_EQ(store.summary("d")->runs, 1250);
  EXPECT_EQ(*store.adopt("d", keys), *known);
  EXPECT_EQ(store.summary("d")->runs, 1250);
  EXPECT_TRUE(store.adopt("d", {})->empty());
}

TEST_P(Stores, ACampaignSeesItsOwnRunsOnly) {
  Store store = with_pieces(open(), 4);
  ASSERT_TRUE(store.begin_campaign("d", ""));
  ASSERT_TRUE(store.add_pieces("d", sample_pieces(4)));
  ASSERT_TRUE(*store.record("c", sample_record(1)));
  EXPECT_EQ(store.summary("d")->runs, 0);
  EXPECT_TRUE(store.findings("d")->empty());
  EXPECT_FALSE(*store.record("d", sample_record(1)));
  EXPECT_EQ(store.summary("d")->runs, 1);
  EXPECT_EQ(store.findings("d")->size(), 2U);
}

TEST_P(Stores, SumsOfACampaign) {
  Store store = with_pieces(open(), 20);
  std::vector<Record> records;
  records.reserve(12);
  for (int i = 0; i < 12; ++i) records.push_back(sample_record(i));
  ASSERT_EQ(*store.record("c", records), 12U);
  const auto summary = store.summary("c");
  ASSERT_TRUE(summary) << summary.error().describe();
  EXPECT_EQ(summary->pieces, 20);
  EXPECT_EQ(summary->pieces_run, 12);
  EXPECT_EQ(summary->occurrences, 40);
  EXPECT_EQ(summary->runs, 12);
  EXPECT_EQ(summary->findings, 8);
  EXPECT_EQ(summary->seconds, 3.0);
  EXPECT_EQ(summary->compiler_seconds, 1.5);
  EXPECT_THAT(*store.verdicts("c"), ElementsAre(Pair("agree", 4), Pair("mismatch", 4), Pair("undetermined", 4)));
  EXPECT_THAT(*store.reasons("c", "undetermined"), ElementsAre(Pair("no bound", 2), Pair("too large", 2)));
  EXPECT_EQ(store.runs("c")->front().max_excess, 12.0);
}

TEST_P(Stores, FindingsAreRanked) {
  Store store = open();
  ASSERT_TRUE(store.begin_campaign("c", ""));
  // Of each piece: cost, times it is executed; severity, excess and relative error of its finding.
  struct Case {
    std::optional<double> cost;
    int64_t times;
    int64_t severity;
    std::optional<double> excess, relative;
  };
  const std::vector<Case> in_order = {{1, 1, 9, {}, {}},  {10, 40, 2, 3, 1},  {300, 1, 2, 99, 99},
                                      {100, 3, 2, 8, 2},  {100, 3, 2, 8, 1},  {300, 1, 2, 7, 1},
                                      {300, 1, 2, {}, 5}, {{}, 9, 2, 1e9, 1}, {1e9, 1000, 1, 1e9, 1}};
  for (size_t i = in_order.size(); i-- > 0;) {
    const Case& c = in_order[i];
    const std::string name = fmt::format("{:02}", i);
    const Piece piece{name, "", "fusion", c.cost, 1, {{"m", "main", name, "", c.times}}};
    ASSERT_TRUE(store.add_pieces("c", std::span(&piece, 1)));
    Record record{.run = {.key = {name, "cpu", 0, "1"}, .verdict = "mismatch"}, .findings = {{"pass", name, ""}}};
    record.findings[0].severity = c.severity;
    record.findings[0].max_excess = c.excess;
    record.findings[0].max_relative = c.relative;
    ASSERT_TRUE(*store.record("c", record));
  }
  const auto findings = store.findings("c");
  ASSERT_TRUE(findings) << findings.error().describe();
  ASSERT_EQ(findings->size(), in_order.size());
  for (size_t i = 0; i < in_order.size(); ++i) EXPECT_EQ((*findings)[i].run.piece, fmt::format("{:02}", i));
  EXPECT_EQ((*findings)[1].impact, 400);
  EXPECT_EQ((*findings)[1].times, 40);
  EXPECT_EQ((*findings)[7].impact, std::nullopt);
}

TEST_P(Stores, AFindingIsShownByTheBeginOfItsIdAndItsStatusSet) {
  Store store = with_pieces(open(), 5);
  ASSERT_TRUE(*store.record("c", sample_record(1)));
  ASSERT_TRUE(*store.record("c", sample_record(4)));
  const std::string id = store.findings("c")->front().id;
  ASSERT_EQ(id.size(), 32U);
  ASSERT_TRUE(store.set_status(id, "confirmed"));
  const auto finding = store.finding("c", id.substr(0, 10));
  ASSERT_TRUE(finding) << finding.error().describe();
  EXPECT_EQ(finding->id, id);
  EXPECT_EQ(finding->finding.status, "confirmed");
  EXPECT_EQ(finding->finding.stage, "algsimp");
  EXPECT_EQ(finding->finding.signature, "algsimp/4");
  EXPECT_EQ(finding->finding.message, "values differ");
  EXPECT_EQ(finding->run, sample_key(4));
  EXPECT_EQ(finding->verdict, "mismatch");
  EXPECT_EQ(finding->times, 4);
  EXPECT_EQ(finding->instructions, 4);
  EXPECT_THAT(store.finding("c", "x").error().message, HasSubstr("has no finding whose id begins with x"));
  EXPECT_THAT(store.finding("c", "").error().message, HasSubstr("more than one"));
  EXPECT_THAT(store.set_status("x", "confirmed").error().message, HasSubstr("there is no finding x"));
}

TEST_P(Stores, WhatWasWrittenIsThereWhenTheStoreIsOpenedAgain) {
  { ASSERT_TRUE(*with_pieces(open(), 3).record("c", sample_record(2))); }
  Store store = open(Access::Read);
  EXPECT_EQ(store.summary("c")->runs, 1);
  const auto written = store.record("c", sample_record(1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(written.error().message, HasSubstr("the store cannot be written"));
}

TEST_P(Stores, ReadingMakesNoStore) {
  const auto store = Store::open(database->url(), Access::Read);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("there is no store here"));
}

TEST_P(Stores, LargeAndEmptyArtifacts) {
  Store store = with_pieces(open(), 1);
  Record record = sample_record(0);
  std::string large(5 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>((i * 2654435761U) >> 13);
  record.artifacts = {{"large", large}, {"empty", ""}};
  ASSERT_TRUE(*store.record("c", record));
  EXPECT_EQ(*store.artifact(record.run.key, "large"), large);
  EXPECT_EQ(*store.artifact(record.run.key, "empty"), "");
}

}  // namespace
}  // namespace sapper::store
