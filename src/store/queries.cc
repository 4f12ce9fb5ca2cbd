// All that only reads a store.
#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "store/artifacts.h"
#include "store/rows.h"
#include "store/state.h"

namespace sapper::store {
namespace {

Campaign campaign_of(const Row& row) { return {text_of(row[0]), text_of(row[1]), text_of(row[2])}; }

RunKey key_of(const Row& row, size_t first) {
  return {text_of(row[first]), text_of(row[first + 1]), std::bit_cast<uint64_t>(integer_of(row[first + 2])),
          text_of(row[first + 3])};
}

// In an order of the largest first, what is not known comes last.
double order_of(const std::optional<double>& number) {
  return number.value_or(-std::numeric_limits<double>::infinity());
}

Result<Counts> counted(Connection& connection, const std::string& sql, std::initializer_list<Value> parameters) {
  SAPPER_TRY(const Rows rows, connection.run(sql, parameters));
  Counts counts;
  for (const Row& row : rows) counts.emplace_back(text_of(row[0]), integer_of(row[1]));
  std::sort(counts.begin(), counts.end(),
            [](const auto& a, const auto& b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
  return counts;
}

Result<std::vector<RankedFinding>> ranked_findings(Connection& connection, const std::string& campaign) {
  SAPPER_TRY(const Rows rows,
             connection.run("SELECT f.id, f.stage, f.signature, f.message, f.severity, f.max_excess, f.max_relative, "
                            "f.status, r.piece, r.configuration, r.seed, r.tool, r.verdict, r.reason, p.kind, "
                            "p.instructions, p.cost, (SELECT CAST(SUM(o.times) AS BIGINT) FROM occurrences o "
                            "WHERE o.campaign = $1 AND o.piece = r.piece) "
                            "FROM campaign_runs c JOIN findings f ON f.run = c.run JOIN runs r ON r.id = c.run "
                            "JOIN pieces p ON p.fingerprint = r.piece WHERE c.campaign = $1",
                            {campaign}));
  std::vector<RankedFinding> findings;
  findings.reserve(rows.size());
  for (const Row& row : rows) {
    RankedFinding ranked{.id = text_of(row[0]),
                         .finding = {text_of(row[1]), text_of(row[2]), text_of(row[3]), integer_of(row[4]),
                                     real_of(row[5]), real_of(row[6]), text_of(row[7])},
                         .run = key_of(row, 8),
                         .verdict = text_of(row[12]),
                         .reason = text_of(row[13]),
                         .kind = text_of(row[14]),
                         .instructions = integer_of(row[15]),
                         .times = integer_of(row[17])};
    if (const auto cost = real_of(row[16])) ranked.impact = *cost * static_cast<double>(ranked.times);
    findings.push_back(std::move(ranked));
  }
  const auto rank = [](const RankedFinding& of) {
    return std::tuple(of.finding.severity, order_of(of.impact), order_of(of.finding.max_excess),
                      order_of(of.finding.max_relative));
  };
  std::sort(findings.begin(), findings.end(), [&](const RankedFinding& a, const RankedFinding& b) {
    const auto rank_a = rank(a), rank_b = rank(b);
    return rank_a != rank_b ? rank_a > rank_b : a.id < b.id;
  });
  return findings;
}

}  // namespace

Result<Campaign> find_campaign(Connection& connection, const std::string& name) {
  SAPPER_TRY(const Rows rows,
             connection.run("SELECT name, settings, created FROM campaigns WHERE name = $1", {text_value(name)}));
  if (!rows.empty() && text_of(rows[0][0]) == name) return campaign_of(rows.front());
  SAPPER_TRY(const Rows all, connection.run("SELECT name FROM campaigns ORDER BY name"));
  constexpr size_t most_named = 10;
  std::string names;
  for (size_t i = 0; i < std::min(all.size(), most_named); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", text_of(all[i].front()));
  return fail(ErrorKind::BadInput, "{}: there is no campaign {}; {}{}{}", connection.name(), name,
              all.empty() ? "there is none yet" : "there are: ", names, all.size() > most_named ? ", ..." : "");
}

Result<std::vector<Campaign>> Store::campaigns() {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_TRY(const Rows rows, state_->connection->run("SELECT name, settings, created FROM campaigns"));
  std::vector<Campaign> campaigns;
  for (const Row& row : rows) campaigns.push_back(campaign_of(row));
  std::sort(campaigns.begin(), campaigns.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return campaigns;
}

Result<Campaign> Store::campaign(const std::string& name) {
  const std::scoped_lock lock(state_->mutex);
  return find_campaign(*state_->connection, name);
}

Result<Summary> Store::summary(const std::string& campaign) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_CHECKED(find_campaign(*state_->connection, campaign));
  SAPPER_TRY(const Rows rows,
             state_->connection->run(
                 "SELECT (SELECT COUNT(*) FROM campaign_pieces WHERE campaign = $1), COUNT(DISTINCT r.piece), "
                 "(SELECT COUNT(*) FROM occurrences WHERE campaign = $1), COUNT(*), "
                 "(SELECT COUNT(*) FROM campaign_runs c JOIN findings f ON f.run = c.run WHERE c.campaign = $1), "
                 "SUM(r.seconds), SUM(r.compiler_seconds) "
                 "FROM campaign_runs c JOIN runs r ON r.id = c.run WHERE c.campaign = $1",
                 {campaign}));
  const Row& row = rows.front();
  return Summary{integer_of(row[0]), integer_of(row[1]),          integer_of(row[2]),         integer_of(row[3]),
                 integer_of(row[4]), real_of(row[5]).value_or(0), real_of(row[6]).value_or(0)};
}

Result<Counts> Store::verdicts(const std::string& campaign) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_CHECKED(find_campaign(*state_->connection, campaign));
  return counted(*state_->connection,
                 "SELECT r.verdict, COUNT(*) FROM campaign_runs c JOIN runs r ON r.id = c.run "
                 "WHERE c.campaign = $1 GROUP BY r.verdict",
                 {campaign});
}

Result<Counts> Store::reasons(const std::string& campaign, const std::string& verdict) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_CHECKED(find_campaign(*state_->connection, campaign));
  return counted(*state_->connection,
                 "SELECT r.reason, COUNT(*) FROM campaign_runs c JOIN runs r ON r.id = c.run "
                 "WHERE c.campaign = $1 AND r.verdict = $2 GROUP BY r.reason",
                 {campaign, text_value(verdict)});
}

Result<std::vector<Run>> Store::runs(const std::string& campaign) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_CHECKED(find_campaign(*state_->connection, campaign));
  SAPPER_TRY(Rows rows, state_->connection->run(
                            "SELECT r.piece, r.configuration, r.seed, r.tool, r.verdict, r.reason, r.max_excess, "
                            "r.max_relative, r.suspicion, r.decided, r.seconds, r.compiler_seconds, r.steps, r.id "
                            "FROM campaign_runs c JOIN runs r ON r.id = c.run WHERE c.campaign = $1",
                            {campaign}));
  const auto rank = [](const Row& row) { return std::tuple(order_of(real_of(row[6])), order_of(real_of(row[7]))); };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto rank_a = rank(a), rank_b = rank(b);
    return rank_a != rank_b ? rank_a > rank_b : std::get<std::string>(a[13]) < std::get<std::string>(b[13]);
  });
  std::vector<Run> runs;
  runs.reserve(rows.size());
  for (const Row& row : rows)
    runs.push_back({key_of(row, 0), text_of(row[4]), text_of(row[5]), real_of(row[6]), real_of(row[7]), real_of(row[8]),
                    real_of(row[9]), real_of(row[10]).value_or(0), real_of(row[11]).value_or(0), text_of(row[12])});
  return runs;
}

Result<std::vector<RankedFinding>> Store::findings(const std::string& campaign) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_CHECKED(find_campaign(*state_->connection, campaign));
  return ranked_findings(*state_->connection, campaign);
}

Result<RankedFinding> Store::finding(const std::string& campaign, const std::string& prefix) {
  SAPPER_TRY(std::vector<RankedFinding> all, findings(campaign));
  std::erase_if(all, [&](const RankedFinding& one) { return !one.id.starts_with(prefix); });
  if (all.size() == 1) return std::move(all.front());
  return fail(ErrorKind::BadInput, "campaign {} has {} finding whose id begins with {}{}", campaign,
              all.empty() ? "no" : "more than one", prefix, all.empty() ? "" : ": give more of it");
}

Result<Piece> Store::piece(const std::string& campaign, const std::string& fingerprint) {
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  SAPPER_TRY(const Rows rows,
             connection.run("SELECT p.module, p.kind, p.cost, p.instructions FROM campaign_pieces c "
                            "JOIN pieces p ON p.fingerprint = c.piece WHERE c.campaign = $1 AND c.piece = $2",
                            {text_value(campaign), text_value(fingerprint)}));
  if (rows.empty())
    return fail(ErrorKind::BadInput, "{}: campaign {} has no piece {}", connection.name(), campaign, fingerprint);
  Piece piece{fingerprint, "", text_of(rows[0][1]), real_of(rows[0][2]), integer_of(rows[0][3]), {}};
  if (const std::string hash = text_of(rows[0][0]); !hash.empty()) {
    SAPPER_TRY(piece.module, read_artifact(connection, hash, fmt::format("the module of piece {}", fingerprint)));
  }
  SAPPER_TRY(const Rows places,
             connection.run("SELECT module, computation, instruction, source, times FROM occurrences "
                            "WHERE campaign = $1 AND piece = $2 ORDER BY id",
                            {text_value(campaign), text_value(fingerprint)}));
  for (const Row& row : places)
    piece.occurrences.push_back(
        {text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3]), integer_of(row[4])});
  return piece;
}

Result<std::vector<std::string>> Store::artifact_names(const RunKey& run) {
  const std::scoped_lock lock(state_->mutex);
  SAPPER_TRY(const Rows rows, state_->connection->run("SELECT name FROM run_artifacts WHERE run = $1", {run.id()}));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(text_of(row.front()));
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> Store::artifact(const RunKey& run, const std::string& name) {
  const std::scoped_lock lock(state_->mutex);
  Connection& connection = *state_->connection;
  SAPPER_TRY(const Rows rows, connection.run("SELECT artifact FROM run_artifacts WHERE run = $1 AND name = $2",
                                             {run.id(), text_value(name)}));
  if (rows.empty())
    return fail(ErrorKind::BadInput, "{}: the run of piece {} with seed {} left no {}", connection.name(), run.piece,
                run.seed, name);
  return read_artifact(connection, text_of(rows[0][0]), fmt::format("{} of the run of piece {}", name, run.piece));
}

}  // namespace sapper::store
