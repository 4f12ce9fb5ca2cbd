// The store: what campaigns remember, in an SQLite file (one machine) or a PostgreSQL database (many). docs/store.md
// says what holds when processes die, disks fill and shards write at once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/records.h"

namespace sapper::store {

enum class Access {
  Write,  // makes the store where there is none, and brings an older one up to date
  Read,   // an existing store, also where nothing may be written
};

class Store {
 public:
  // `url`: a path (with "sqlite:" before it or not), or postgresql://USER@HOST/DATABASE.
  [[nodiscard]] static Result<Store> open(const std::string& url, Access access = Access::Write);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Every call is one transaction: it happens as a whole or not at all, and may be made again. Any number of processes
  // may have the store open. Calls of several threads wait for each other.

  // The campaign of this name; made when there is none. One that is there keeps its settings, which come back.
  [[nodiscard]] Result<Campaign> begin_campaign(const std::string& name, const std::string& settings);
  // Pieces of the campaign, in as many calls as one likes: what is there already is not added again, occurrence by
  // occurrence.
  [[nodiscard]] Status add_pieces(const std::string& campaign, std::span<const Piece> pieces);
  // Which of these runs are there already, whichever campaign recorded them; those become the campaign's as well.
  [[nodiscard]] Result<std::vector<bool>> adopt(const std::string& campaign, std::span<const RunKey> keys);
  // True: recorded. False: there is a result for this key already; it, its findings and artifacts stay as they are, and
  // it becomes the campaign's as well. The piece and the campaign must be there.
  [[nodiscard]] Result<bool> record(const std::string& campaign, const Record& record);
  // The same for several in one transaction; how many were recorded.
  [[nodiscard]] Result<size_t> record(const std::string& campaign, std::span<const Record> records);
  // `finding`: its whole id. Any text; "new" is what findings begin with.
  [[nodiscard]] Status set_status(const std::string& finding, const std::string& status);

  [[nodiscard]] Result<std::vector<Campaign>> campaigns();           // by name
  [[nodiscard]] Result<Campaign> campaign(const std::string& name);  // an error that names those there are
  [[nodiscard]] Result<Summary> summary(const std::string& campaign);
  [[nodiscard]] Result<Counts> verdicts(const std::string& campaign);
  [[nodiscard]] Result<Counts> reasons(const std::string& campaign, const std::string& verdict);
  // By max_excess, then max_relative, the largest first.
  [[nodiscard]] Result<std::vector<Run>> runs(const std::string& campaign);
  // By severity, impact, max_excess, max_relative, the largest first.
  [[nodiscard]] Result<std::vector<RankedFinding>> findings(const std::string& campaign);
  // The one whose id begins with `prefix`.
  [[nodiscard]] Result<RankedFinding> finding(const std::string& campaign, const std::string& prefix);

  // With its module, and with its occurrences in the campaign.
  [[nodiscard]] Result<Piece> piece(const std::string& campaign, const std::string& fingerprint);
  [[nodiscard]] Result<std::vector<std::string>> artifact_names(const RunKey& run);
  // The bytes as they were recorded, or an error that says that they are damaged.
  [[nodiscard]] Result<std::string> artifact(const RunKey& run, const std::string& name);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sapper::store
