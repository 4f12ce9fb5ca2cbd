#include "isolate/campaign.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/stopwatch.h"
#include "check/recorded_options.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "isolate/capture.h"
#include "isolate/provenance.h"
#include "isolate/records.h"

namespace sapper::isolate {
namespace {

using Json = nlohmann::ordered_json;
using Arguments = std::vector<hlo::Literal>;

// The modules of a campaign and what they were cut into.
struct Sources {
  std::vector<std::string> files;
  std::vector<hlo::Module> modules;
  Cut cut;
};

bool says(std::string_view text, const std::string& word) { return text.find(word) != std::string_view::npos; }

// Whether a word of the user's means the piece.
bool matches(const Piece& piece, const Sources& sources, const std::string& word) {
  if (piece.fingerprint.starts_with(word)) return true;
  for (const hlo::Computation& computation : piece.module.computations)
    for (const hlo::Instruction& instruction : computation.instructions)
      if (hlo::to_string(instruction.opcode) == word) return true;
  return std::ranges::any_of(piece.occurrences, [&](const Occurrence& occurrence) {
    const Provenance from = provenance(sources.modules[occurrence.module], occurrence);
    return says(sources.files[occurrence.module], word) || says(from.computation, word) ||
           says(from.instruction, word) || says(from.op_name, word);
  });
}

double impact(const Piece& piece) {
  return std::accumulate(piece.occurrences.begin(), piece.occurrences.end(), 0.0,
                         [&](double sum, const Occurrence& occurrence) {
                           return sum + piece.cost * std::max(1.0, occurrence.executions);
                         });
}

class Run {
 public:
  Run(store::Store& store, target::CompilerPool& pool, const CampaignOptions& options,
      const std::function<void(const CampaignProgress&)>& on_progress)
      : store_(store), pool_(pool), options_(options), on_progress_(on_progress) {}

  Result<CampaignResult> run(const std::vector<std::string>& files) {
    SAPPER_CHECKED(read(files));
    select();
    SAPPER_CHECKED(register_pieces());
    SAPPER_CHECKED(leave_out_what_is_known());
    if (!pieces_.empty()) SAPPER_CHECKED(try_compiler(pool_, options_.check));
    if (options_.inputs == InputsFrom::Captured) capture_values();
    judge_all();
    SAPPER_CHECKED(failure_);
    SAPPER_CHECKED(all_is_kept());
    result_.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  void progress(const std::string& doing, size_t done, size_t all) const {
    if (on_progress_) on_progress_({doing, done, all, found_, clock_.seconds()});
  }

  // A module that cannot be read is told in the result, and the rest goes on.
  Status read(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      progress("read", sources_.modules.size(), files.size());
      auto module = read_verified(file);
      if (!module) {
        result_.unread.push_back(module.error());
        continue;
      }
      const auto number = static_cast<uint32_t>(sources_.modules.size());
      sources_.files.push_back(file);
      sources_.modules.push_back(std::move(*module));
      merge(sources_.cut, cut(sources_.modules.back(), cut_options(sources_.modules.back())), number);
    }
    if (sources_.modules.empty() && !result_.unread.empty()) return tl::unexpected(result_.unread.front());
    result_.coverage = sources_.cut.coverage;
    result_.distinct = sources_.cut.pieces.size();
    for (const Piece& piece : sources_.cut.pieces) result_.occurrences += std::ssize(piece.occurrences);
    return {};
  }

  [[nodiscard]] CutOptions cut_options(const hlo::Module& module) const {
    CutOptions cut = options_.cut;
    const auto is_fused = [](const hlo::Computation& computation) { return computation.is_fusion; };
    if (options_.cut_by_form)
      cut.granularity = std::ranges::any_of(module.computations, is_fused) ? Granularity::Fusion : Granularity::Region;
    return cut;
  }

  static Result<hlo::Module> read_verified(const std::string& file) {
    SAPPER_TRY(hlo::Module module, hlo::read_module(file));
    SAPPER_CHECKED(in_file(hlo::verify(module), file));
    return module;
  }

  // The pieces of this shard, those that matter most first.
  void select() {
    for (const Piece& piece : sources_.cut.pieces) {
      if (!holds(options_.shard, piece.fingerprint)) continue;
      const auto meant = [&](const std::string& word) { return matches(piece, sources_, word); };
      if (!options_.only.empty() && std::ranges::none_of(options_.only, meant)) continue;
      if (std::ranges::any_of(options_.skip, meant)) continue;
      pieces_.push_back(&piece);
    }
    std::ranges::stable_sort(pieces_, std::ranges::greater(), [](const Piece* piece) { return impact(*piece); });
    result_.selected = pieces_.size();
  }

  Status register_pieces() {
    configuration_ = configuration_text(options_);
    SAPPER_TRY(const store::Campaign campaign, store_.begin_campaign(options_.name, configuration_));
    constexpr size_t batch = 1000;
    for (size_t first = 0; first < pieces_.size(); first += batch) {
      std::vector<store::Piece> rows;
      for (size_t i = first; i < std::min(first + batch, pieces_.size()); ++i)
        rows.push_back(stored(*pieces_[i], sources_.modules, sources_.files));
      SAPPER_CHECKED(store_.add_pieces(options_.name, rows));
    }
    return {};
  }

  [[nodiscard]] store::RunKey key_of(const Piece& piece) const {
    return {piece.fingerprint, configuration_, options_.check.sampling.seed, options_.tool};
  }

  Status leave_out_what_is_known() {
    std::vector<store::RunKey> keys;
    for (const Piece* piece : pieces_) keys.push_back(key_of(*piece));
    SAPPER_TRY(const std::vector<bool> known, store_.adopt(options_.name, keys));
    std::vector<const Piece*> open;
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (!known[i]) open.push_back(pieces_[i]);
    result_.known = pieces_.size() - open.size();
    pieces_ = std::move(open);
    return {};
  }

  // Of each module once, for the pieces that occur in it first.
  void capture_values() {
    captured_.resize(pieces_.size());
    int64_t room = options_.captured_bytes;
    for (uint32_t m = 0; m < sources_.modules.size(); ++m) {
      progress("capture", m, sources_.modules.size());
      std::vector<size_t> here;
      std::vector<const Occurrence*> occurrences;
      for (size_t i = 0; i < pieces_.size(); ++i) {
        if (pieces_[i]->occurrences.front().module != m) continue;
        here.push_back(i);
        occurrences.push_back(&pieces_[i]->occurrences.front());
      }
      if (here.empty()) continue;
      auto values = values_in(sources_.modules[m], occurrences, room);
      if (!values) continue;
      for (size_t k = 0; k < here.size(); ++k) {
        if (!(*values)[k]) continue;
        for (const hlo::Literal& argument : *(*values)[k]) room -= argument.shape().host_byte_size();
        captured_[here[k]] = std::move((*values)[k]);
      }
    }
  }

  Result<std::vector<std::optional<Arguments>>> values_in(const hlo::Module& module,
                                                          const std::vector<const Occurrence*>& occurrences,
                                                          int64_t room) const {
    check::Sampling one = options_.check.sampling;
    one.seeds = 1;
    SAPPER_TRY(const std::vector<check::InputSet> sets, check::inputs_for(module, "", std::nullopt, one));
    return capture(module, sets.front().arguments, occurrences,
                   {.evaluation = options_.check.evaluation, .memory_bytes = std::max<int64_t>(0, room)});
  }

  void judge_all() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(options_.jobs));
    for (int i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { judge_some(); });
    for (std::thread& thread : threads) thread.join();
    result_.left = pieces_.size() - tried_;
  }

  void judge_some() {
    const auto over = [&] { return options_.budget_seconds > 0 && clock_.seconds() > options_.budget_seconds; };
    while (!stopped_ && !over()) {
      const size_t i = next_++;
      if (i >= pieces_.size()) return;
      judge_one(i);
    }
  }

  void judge_one(size_t i) {
    const Piece& piece = *pieces_[i];
    const Arguments* const captured = i < captured_.size() && captured_[i] ? &*captured_[i] : nullptr;
    std::vector<check::InputSet> sets;
    if (captured != nullptr) sets.push_back({"captured", 0, "", *captured});
    const Judged judged = judge(pool_, piece.module, "module.hlo", options_.check, sets);  // as export_case calls it
    const Stopwatch storing;
    Result<bool> recorded = false;
    if (!judged.no_result) recorded = store_.record(options_.name, record_of(piece, key_of(piece), judged, captured));

    const std::lock_guard lock(mutex_);
    result_.store_seconds += storing.seconds();
    result_.compiler_seconds += judged.compiler_seconds;
    if (!recorded) {
      if (failure_) failure_ = tl::unexpected(recorded.error());
      stopped_ = true;
      return;
    }
    ++tried_;
    if (judged.no_result) {
      ++result_.without_result[judged.no_result->message];
      progress("judge", tried_, pieces_.size());
      return;
    }
    ++result_.judged;
    recorded_.push_back(&piece);
    if (captured == nullptr && options_.inputs == InputsFrom::Captured) ++result_.not_captured;
    if (check::exit_code(judged.report.verdict) == 1) ++found_;
    progress("judge", tried_, pieces_.size());
  }

  // A server that crashes and comes back may have forgotten the last results that it took.
  Status all_is_kept() {
    std::vector<store::RunKey> keys;
    for (const Piece* piece : recorded_) keys.push_back(key_of(*piece));
    SAPPER_TRY(const std::vector<bool> kept, store_.adopt(options_.name, keys));
    if (const auto lost = std::ranges::count(kept, false); lost > 0)
      return fail(ErrorKind::Resource,
                  "{} of the {} results of this run are not in the store any more, as when its server has crashed: run "
                  "the same command again",
                  lost, kept.size());
    return {};
  }

  store::Store& store_;
  target::CompilerPool& pool_;
  const CampaignOptions& options_;
  const std::function<void(const CampaignProgress&)>& on_progress_;
  const Stopwatch clock_;
  Sources sources_;
  std::string configuration_;
  std::vector<const Piece*> pieces_;                // still to be judged
  std::vector<std::optional<Arguments>> captured_;  // of them, where values were captured
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // of what follows
  CampaignResult result_;
  Status failure_;
  size_t found_ = 0;
  size_t tried_ = 0;
  std::vector<const Piece*> recorded_;  // now
};

}  // namespace

Status try_compiler(target::CompilerPool& pool, const check::CheckOptions& options) {
  SAPPER_TRY(const hlo::Module nothing,
             hlo::parse_text("HloModule nothing\nENTRY e {\n  ROOT c = f32[] constant(0)\n}\n"));
  const auto compiled = pool.compile(
      options.target, {.module = hlo::to_compilable_proto(nothing), .configuration = options.configuration});
  if (!compiled && compiled.error().kind == ErrorKind::BadInput) return tl::unexpected(compiled.error());
  return {};
}

std::string configuration_text(const CampaignOptions& options) {
  Json json = check::to_json(options.check);
  json.erase("seed");  // has a place of its own in what a run is known by
  json["inputs"] = options.inputs == InputsFrom::Captured ? "captured" : "ranges";
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CampaignResult> run_campaign(store::Store& store, target::CompilerPool& pool,
                                    const std::vector<std::string>& files, const CampaignOptions& options,
                                    const std::function<void(const CampaignProgress&)>& on_progress) {
  return Run(store, pool, options, on_progress).run(files);
}

}  // namespace sapper::isolate
