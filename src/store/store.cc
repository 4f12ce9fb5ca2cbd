// Opening a store, and all that writes to it.
#include "store/store.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <bit>

#include "store/artifacts.h"
#include "store/content.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/state.h"
#include "store/utf8.h"

namespace sapper::store {
namespace {

constexpr size_t longest_campaign_name = 200;

Status check_campaign_name(const std::string& name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (name.empty() || name.size() > longest_campaign_name || as_utf8(name) != name ||
      std::any_of(name.begin(), name.end(), control))
    return fail(ErrorKind::BadInput, "the name of a campaign has 1 to {} bytes of UTF-8 and no control characters",
                longest_campaign_name);
  return {};
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// Part of a list of pieces: what is not there yet of them.
Status add_slice(Connection& connection, const std::string& campaign, std::span<const Piece* const> pieces) {
  std::vector<std::string> fingerprints;
  fingerprints.reserve(pieces.size());
  for (const Piece* piece : pieces) fingerprints.push_back(piece->fingerprint);
  SAPPER_TRY(const auto known, present(connection, "pieces", "fingerprint", fingerprints));

  ArtifactBatch artifacts;
  std::vector<Value> piece_rows;
  std::vector<Value> campaign_rows;
  std::vector<Value> occurrence_rows;
  for (const Piece* each : pieces) {
    const Piece& piece = *each;
    const Value fingerprint = text_value(piece.fingerprint);
    if (!known.contains(piece.fingerprint)) {
      Value module;
      if (!piece.module.empty()) {
        SAPPER_TRY(module, artifacts.add(piece.module));
      }
      add_row(piece_rows, fingerprint, std::move(module), text_value(piece.kind), real_value(piece.cost),
              piece.instructions);
    }
    add_row(campaign_rows, campaign, fingerprint);
    for (const Occurrence& at : piece.occurrences)
      add_row(occurrence_rows, campaign, fingerprint, identity({at.module, at.computation, at.instruction}),
              text_value(at.module), text_value(at.computation), text_value(at.instruction), text_value(at.source),
              at.times);
  }
  constexpr std::array piece_columns = {"fingerprint", "module", "kind", "cost", "instructions"};
  constexpr std::array campaign_columns = {"campaign", "piece"};
  constexpr std::array occurrence_columns = {"campaign",    "piece",       "id",     "module",
                                             "computation", "instruction", "source", "times"};
  SAPPER_CHECKED(artifacts.write(connection));
  SAPPER_CHECKED(insert(connection, "pieces", piece_columns, piece_rows));
  SAPPER_CHECKED(insert(connection, "campaign_pieces", campaign_columns, campaign_rows));
  return insert(connection, "occurrences", occurrence_columns, occurrence_rows);
}

// What belongs to a run that has just been recorded.
Status add_leavings(Connection& connection, const std::string& run, const Record& record) {
  ArtifactBatch artifacts;
  std::vector<Value> artifact_rows;
  for (const Artifact& artifact : record.artifacts) {
    SAPPER_TRY(std::string hash, artifacts.add(artifact.bytes));
    add_row(artifact_rows, run, text_value(artifact.name), std::move(hash));
  }
  std::vector<Value> finding_rows;
  for (const Finding& finding : record.findings)
    add_row(finding_rows, identity({run, finding.stage, finding.signature}), run, text_value(finding.stage),
            text_value(finding.signature), text_value(finding.message), finding.severity,
            real_value(finding.max_excess), real_value(finding.max_relative), text_value(finding.status));
  constexpr std::array artifact_columns = {"run", "name", "artifact"};
  constexpr std::array finding_columns = {"id",       "run",        "stage",        "signature", "message",
                                          "severity", "max_excess", "max_relative", "status"};
  SAPPER_CHECKED(artifacts.write(connection));
  SAPPER_CHECKED(insert(connection, "run_artifacts", artifact_columns, artifact_rows));
  return insert(connection, "findings", finding_columns, finding_rows);
}

// Whether it was new.
Result<bool> add_run(Connection& connection, const std::string& campaign, const Record& record) {
  const Run& run = record.run;
  const std::string id = run.key.id();
  SAPPER_TRY(const Rows added,
             connection.run("INSERT INTO runs (id, piece, configuration, seed, tool, verdict, reason, max_excess, "
                            "max_relative, suspicion, decided, seconds, compiler_seconds, steps) VALUES "
                            "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
                            "ON CONFLICT DO NOTHING RETURNING id",
                            {id, text_value(run.key.piece), text_value(run.key.configuration),
                             std::bit_cast<int64_t>(run.key.seed), text_value(run.key.tool), text_value(run.verdict),
                             text_value(run.reason), real_value(run.max_excess), real_value(run.max_relative),
                             real_value(run.suspicion), real_value(run.decided), run.seconds, run.compiler_seconds,
                             text_value(run.steps)}));
  if (!added.empty()) SAPPER_CHECKED(add_leavings(connection, id, record));
  constexpr std::array columns = {"campaign", "run"};
  SAPPER_CHECKED(insert(connection, "campaign_runs", columns, std::array<Value, 2>{campaign, id}));
  return !added.empty();
}

}  // namespace

std::string RunKey::id() const { return identity({piece, configuration, fmt::to_string(seed), tool}); }

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& url, Access access) {
  auto state = std::make_unique<State>();
  SAPPER_TRY(state->connection, connect(url, access));
  SAPPER_CHECKED(migrate(*state->connection, migrations(), access));
  return Store(std::move(state));
}

Result<Campaign> Store::begin_campaign(const std::string& name, const std::string& settings) {
  SAPPER_CHECKED(check_campaign_name(name));
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  const std::array<Value, 3> values = {name, text_value(settings), utc_now()};
  constexpr std::array columns = {"name", "settings", "created"};
  SAPPER_CHECKED(connection.transaction([&] { return insert(connection, "campaigns", columns, values); }));
  return find_campaign(connection, name);
}

Status Store::add_pieces(const std::string& campaign, std::span<const Piece> pieces) {
  // In the order of the key: indexes grow at one place at a time, and two writers never wait for each other crosswise.
  std::vector<const Piece*> ordered;
  ordered.reserve(pieces.size());
  for (const Piece& piece : pieces) ordered.push_back(&piece);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Piece* a, const Piece* b) { return a->fingerprint < b->fingerprint; });

  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  return connection.transaction([&]() -> Status {
    SAPPER_CHECKED(find_campaign(connection, campaign));
    constexpr size_t slice = 4096;  // bounds the memory that rows take beside the pieces
    for (std::span<const Piece* const> rest = ordered; !rest.empty();) {
      const auto now = rest.first(std::min(slice, rest.size()));
      SAPPER_CHECKED(add_slice(connection, campaign, now));
      rest = rest.subspan(now.size());
    }
    return {};
  });
}

Result<std::vector<bool>> Store::adopt(const std::string& campaign, std::span<const RunKey> keys) {
  std::vector<std::string> ids;
  ids.reserve(keys.size());
  for (const RunKey& key : keys) ids.push_back(key.id());
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  SAPPER_CHECKED(find_campaign(connection, campaign));
  std::unordered_set<std::string> recorded;
  std::vector<Value> adopted;
  // Not a join: PostgreSQL would read the whole of campaign_runs for each list.
  const std::string sql =
      "SELECT r.id, (SELECT c.run FROM campaign_runs c WHERE c.campaign = $1 AND c.run = r.id) FROM runs r WHERE r.id "
      "IN " +
      key_list(2);
  const auto look_up = [&](std::vector<Value> list) -> Status {
    list.insert(list.begin(), campaign);
    SAPPER_TRY(const Rows rows, connection.run(sql, list));
    for (const Row& row : rows) {
      recorded.insert(text_of(row[0]));
      if (text_of(row[1]).empty()) add_row(adopted, campaign, row[0]);
    }
    return {};
  };
  SAPPER_CHECKED(for_each_key_list(ids, look_up));
  if (!adopted.empty()) {
    constexpr std::array columns = {"campaign", "run"};
    SAPPER_CHECKED(connection.transaction([&] { return insert(connection, "campaign_runs", columns, adopted); }));
  }
  std::vector<bool> there(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) there[i] = recorded.contains(ids[i]);
  return there;
}

Result<bool> Store::record(const std::string& campaign, const Record& record) {
  SAPPER_TRY(const size_t recorded, this->record(campaign, std::span<const Record>(&record, 1)));
  return recorded == 1;
}

Result<size_t> Store::record(const std::string& campaign, std::span<const Record> records) {
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  size_t recorded = 0;
  const auto body = [&]() -> Status {
    recorded = 0;
    SAPPER_CHECKED(find_campaign(connection, campaign));
    for (const Record& one : records) {
      SAPPER_TRY(const bool added, add_run(connection, campaign, one));
      recorded += added ? 1 : 0;
    }
    return {};
  };
  SAPPER_CHECKED(connection.transaction(body));
  return recorded;
}

Status Store::set_status(const std::string& finding, const std::string& status) {
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  return connection.transaction([&]() -> Status {
    SAPPER_TRY(const Rows rows, connection.run("UPDATE findings SET status = $2 WHERE id = $1 RETURNING id",
                                               {text_value(finding), text_value(status)}));
    if (rows.empty()) return fail(ErrorKind::BadInput, "{}: there is no finding {}", connection.name(), finding);
    return {};
  });
}

}  // namespace sapper::store
