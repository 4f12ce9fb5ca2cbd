#include "fuzz/campaign.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "base/stopwatch.h"
#include "check/litmus.h"
#include "fuzz/program_source.h"
#include "fuzz/side_by_side.h"
#include "hlo/proto.h"
#include "isolate/campaign.h"
#include "isolate/cost.h"
#include "isolate/records.h"

namespace sapper::fuzz {
namespace {

using check::CheckOptions;
using check::Verdict;

// A program that is to be judged, with its place in the store.
struct Work {
  Candidate candidate;
  isolate::Piece piece;
  std::string open;           // why it has no one meaning; empty: it has
  CompiledFeatures compiled;  // of its compilations for all targets so far
};

// Programs that are compiled together, if that is possible.
struct Batch {
  int64_t number = 0;
  std::vector<Work> works;
};

// What is learnt of programs whose compilations did the same.
struct Lesson {
  std::vector<Recipe> programs;
  CompiledFeatures features;
};

std::vector<Lesson> lessons_of(Batch batch) {
  std::vector<Lesson> lessons;
  for (Work& work : batch.works) {
    if (lessons.empty() || lessons.back().features != work.compiled)
      lessons.push_back({.programs = {}, .features = std::move(work.compiled)});
    lessons.back().programs.push_back(std::move(work.candidate.recipe));
  }
  return lessons;
}

// A batch is made knowing what became of all but so many before it: the same programs whatever the number of jobs.
constexpr int64_t batches_ahead = 16;
// The artifact of a run that keeps what its compilation did.
constexpr const char* features_artifact = "features.txt";

Work work_of(Candidate candidate) {
  isolate::Piece piece;
  piece.module = candidate.module;
  piece.fingerprint = candidate.fingerprint;
  const isolate::Weight weight = isolate::weigh(candidate.module);
  piece.kind = weight.kind;
  piece.cost = weight.cycles;
  return {std::move(candidate), std::move(piece), "", {}};
}

store::Piece stored(const Work& work) {
  return {.fingerprint = work.piece.fingerprint,
          .module = hlo::to_proto(work.piece.module),
          .kind = std::string(to_string(work.piece.kind)),
          .cost = work.piece.cost,
          .instructions = work.piece.module.instruction_count(),
          .occurrences = {{.module = work.candidate.origin,
                           .computation = "main",
                           .instruction = fmt::format("program {}", work.candidate.number)}}};
}

std::string configuration_of(const CheckOptions& check) {
  isolate::CampaignOptions options;
  options.check = check;
  return isolate::configuration_text(options);
}

class Run {
 public:
  Run(store::Store& store, target::CompilerPool& pool, const CampaignOptions& options,
      const std::function<void(const CampaignProgress&)>& on_progress)
      : store_(store),
        pool_(pool),
        options_(options),
        on_progress_(on_progress),
        source_(options.grammar, options.templates, options.seed, options.shard) {}

  Result<CampaignResult> run() {
    for (const CheckOptions& check : options_.checks) {
      SAPPER_CHECKED(isolate::try_compiler(pool_, check));
      configurations_.push_back(configuration_of(check));
    }
    SAPPER_TRY(const store::Campaign campaign, store_.begin_campaign(options_.name, configurations_.front()));
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(options_.jobs));
    for (int i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { judge_batches(); });
    for (std::thread& thread : threads) thread.join();
    SAPPER_CHECKED(failure_);
    result_.features = source_.features();
    result_.kept = source_.kept();
    result_.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  void judge_batches() {
    while (true) {
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        learnt_.wait(lock,
                     [&] { return !failure_ || batches_ < learnt_batches_ + batches_ahead || next_lessons_there(); });
        const Status made = failure_ ? next_batch(batch) : failure_;
        if (!made || batch.works.empty()) return end_with(made);
        result_.programs += std::ssize(batch.works);
      }
      const Status judged = judge_on_all(batch.works);
      const std::lock_guard lock(mutex_);
      if (!judged) return end_with(judged);
      lessons_.emplace(batch.number, lessons_of(std::move(batch)));
      learnt_.notify_all();
    }
  }

  void end_with(const Status& status) {
    if (failure_) failure_ = status;
    learnt_.notify_all();
  }

  [[nodiscard]] bool next_lessons_there() const { return lessons_.contains(learnt_batches_); }

  // This shard's next programs: each distinct one once. Empty: there are no more, or no time.
  Status next_batch(Batch& batch) {
    if (batches_ >= learnt_batches_ + batches_ahead) {
      const auto lessons = lessons_.extract(learnt_batches_++);
      for (const Lesson& lesson : lessons.mapped()) source_.learn(lesson.programs, lesson.features);
    }
    batch.number = batches_++;
    while (std::ssize(batch.works) < options_.together) {
      if (options_.programs > 0 && source_.next_number() >= options_.programs) return {};
      if (options_.budget_seconds > 0 && clock_.seconds() > options_.budget_seconds) return {};
      SAPPER_TRY(Candidate candidate, source_.next());
      const auto open = check::open_meaning(candidate.module);
      if (open) source_.leave_out(open->opcode);
      if (!fingerprints_.insert(candidate.fingerprint).second) continue;
      batch.works.push_back(work_of(std::move(candidate)));
      if (!open) continue;
      batch.works.back().open = open->why;
      ++result_.generator_defects[open->why];
    }
    return {};
  }

  Status judge_on_all(std::vector<Work>& batch) {
    std::vector<store::Piece> pieces;
    for (const Work& work : batch) pieces.push_back(stored(work));
    SAPPER_CHECKED(store_.add_pieces(options_.name, pieces));
    for (size_t target = 0; target < options_.checks.size(); ++target) {
      std::vector<store::RunKey> keys;
      for (const Work& work : batch) keys.push_back(key_of(work, target));
      SAPPER_TRY(const std::vector<bool> known, store_.adopt(options_.name, keys));
      std::vector<Work*> unknown;
      for (size_t i = 0; i < batch.size(); ++i) {
        if (known[i])
          SAPPER_CHECKED(recall(batch[i], keys[i]));
        else if (batch[i].open.empty())
          unknown.push_back(&batch[i]);
        else
          SAPPER_CHECKED(record(batch[i], target, defect_of_the_generator(batch[i]), {}));
      }
      {
        const std::lock_guard lock(mutex_);
        result_.known += std::ranges::count(known, true);
      }
      if (!unknown.empty()) SAPPER_CHECKED(judge_together(unknown, target));
    }
    return {};
  }

  // What the compilation of a known run did.
  Status recall(Work& work, const store::RunKey& run) {
    SAPPER_TRY(const std::vector<std::string> names, store_.artifact_names(run));
    if (std::ranges::find(names, features_artifact) == names.end()) return {};
    SAPPER_TRY(const std::string text, store_.artifact(run, features_artifact));
    work.compiled.merge(compiled_features_from_text(text));
    return {};
  }

  // The check of a target that tells what its first compilation did.
  [[nodiscard]] CheckOptions observed(size_t target, CompiledFeatures& features) const {
    CheckOptions options = options_.checks[target];
    options.on_compiled = [&features](const target::CompileResult& compiled) {
      if (features.empty()) features = compiled_features(compiled);
    };
    return options;
  }

  static isolate::Judged defect_of_the_generator(const Work& work) {
    isolate::Judged judged;
    judged.report.verdict = Verdict::Undetermined;
    judged.report.reason = fmt::format("defect of the generator: {}", work.open);
    return judged;
  }

  [[nodiscard]] store::RunKey key_of(const Work& work, size_t target) const {
    return {work.piece.fingerprint, configurations_[target], options_.checks[target].sampling.seed, options_.tool};
  }

  // Several programs in one module. What is not settled that way is looked at in smaller parts, at last alone.
  Status judge_together(std::span<Work* const> batch, size_t target) {
    if (batch.size() == 1) return judge_alone(*batch[0], target);
    CompiledFeatures features;
    const CheckOptions options = observed(target, features);
    std::vector<hlo::Module> modules;
    check::InputSet inputs{.seed = options.sampling.seed, .kind = "dense"};
    for (const Work* const work : batch) {
      modules.push_back(work->piece.module);
      auto sets = check::inputs_for(work->piece.module, "", std::nullopt, options.sampling);
      if (!sets || sets->size() != 1) return judge_halves(batch, target);
      for (hlo::Literal& argument : sets->front().arguments) inputs.arguments.push_back(std::move(argument));
    }
    const check::Report report =
        check::check_module(pool_, side_by_side(modules), "module.hlo", options, {std::move(inputs)});
    {
      const std::lock_guard lock(mutex_);
      ++result_.modules;
      result_.compiler_seconds += report.compiler_seconds;
    }
    const bool all_agree = report.verdict == Verdict::Agree;
    int64_t leaves = 0;
    for (const Work* const work : batch) leaves += leaf_count(*work);
    const bool settled_by_outputs = options.level == check::Level::Hlo && std::ssize(report.outputs) == leaves &&
                                    (report.verdict == Verdict::Undetermined || report.verdict == Verdict::Policy ||
                                     report.verdict == Verdict::Mismatch);
    if (!all_agree && !settled_by_outputs) return judge_halves(batch, target);
    auto next = report.outputs.begin();
    bool failed_together = false, failed_alone = false;
    for (Work* const work : batch) {
      const auto end = all_agree ? next : next + leaf_count(*work);
      isolate::Judged judged = part_of(report, {next, end}, std::ssize(batch));
      next = end;
      if (judged.report.verdict == Verdict::Mismatch) {
        failed_together = true;
        SAPPER_TRY(const bool failed, judge_alone_failed(*work, target));
        failed_alone = failed_alone || failed;
      } else {
        SAPPER_CHECKED(record(*work, target, judged, features));
      }
    }
    if (failed_together && !failed_alone) return judge_as_one(modules, target);
    return {};
  }

  static int64_t leaf_count(const Work& work) {
    return hlo::leaf_count(work.piece.module.entry_computation().root_instruction().shape);
  }

  Status judge_halves(std::span<Work* const> batch, size_t target) {
    SAPPER_CHECKED(judge_together(batch.first(batch.size() / 2), target));
    return judge_together(batch.subspan(batch.size() / 2), target);
  }

  // What a check of several programs says of one of them, whose outputs these are; none: all agree.
  static isolate::Judged part_of(const check::Report& whole, std::vector<check::OutputReport> outputs,
                                 int64_t programs) {
    isolate::Judged judged;
    check::Report& report = judged.report;
    report.verdict = Verdict::Agree;
    for (const check::OutputReport& output : outputs) {
      if (check::severity(output.verdict) <= check::severity(report.verdict)) continue;
      report.verdict = output.verdict;
      report.reason = output.reason;
    }
    report.outputs = std::move(outputs);
    report.seconds = whole.seconds / static_cast<double>(programs);
    judged.compiler_seconds = whole.compiler_seconds / static_cast<double>(programs);
    judged.steps.push_back({.reference = fmt::format("evaluator, side by side with {} others", programs - 1),
                            .verdict = report.verdict,
                            .reason = report.reason,
                            .seconds = report.seconds});
    return judged;
  }

  Status judge_alone(Work& work, size_t target) {
    SAPPER_TRY([[maybe_unused]] const bool failed, judge_alone_failed(work, target));
    return {};
  }

  // By the cascade; whether it failed.
  Result<bool> judge_alone_failed(Work& work, size_t target) {
    CompiledFeatures features;
    const isolate::Judged judged =
        isolate::judge(pool_, work.piece.module, "module.hlo", observed(target, features), {});
    {
      const std::lock_guard lock(mutex_);
      ++result_.alone;
      result_.compiler_seconds += judged.compiler_seconds;
    }
    SAPPER_CHECKED(record(work, target, judged, features));
    return check::exit_code(judged.report.verdict) == 1;
  }

  // Programs that fail only side by side: together they are the program that fails.
  Status judge_as_one(std::span<const hlo::Module> modules, size_t target) {
    hlo::Module module = side_by_side(modules);
    std::string fingerprint = isolate::piece_fingerprint(module);
    Work work = work_of({std::move(module), std::move(fingerprint), "side by side", 0, {}});
    const std::vector<store::Piece> pieces = {stored(work)};
    SAPPER_CHECKED(store_.add_pieces(options_.name, pieces));
    return judge_alone(work, target);
  }

  Status record(Work& work, size_t target, const isolate::Judged& judged, const CompiledFeatures& features) {
    if (!judged.no_result) {
      store::Record row = isolate::record_of(work.piece, key_of(work, target), judged, nullptr);
      for (store::Finding& finding : row.findings) finding.signature = to_text(check::signature_of(judged.report));
      if (!features.empty()) row.artifacts.push_back({features_artifact, to_text(features)});
      SAPPER_CHECKED(store_.record(options_.name, row));
    }
    work.compiled.insert(features.begin(), features.end());
    const std::lock_guard lock(mutex_);
    if (judged.no_result) {
      ++result_.without_result[judged.no_result->message];
      return {};
    }
    ++result_.judged;
    ++result_.verdicts[std::string(to_string(judged.report.verdict))];
    if (check::exit_code(judged.report.verdict) == 1) ++found_;
    if (on_progress_) on_progress_({result_.programs, found_, clock_.seconds()});
    return {};
  }

  store::Store& store_;
  target::CompilerPool& pool_;
  const CampaignOptions& options_;
  const std::function<void(const CampaignProgress&)>& on_progress_;
  const Stopwatch clock_;
  std::vector<std::string> configurations_;  // of the targets
  std::mutex mutex_;                         // of what follows
  ProgramSource source_;
  int64_t batches_ = 0;                             // begun
  std::map<int64_t, std::vector<Lesson>> lessons_;  // of batches that are done, by number
  int64_t learnt_batches_ = 0;                      // whose lessons the source knows
  std::condition_variable learnt_;                  // a batch is done, or the campaign ends
  std::unordered_set<std::string> fingerprints_;
  CampaignResult result_;
  int64_t found_ = 0;
  Status failure_;
};

}  // namespace

Result<CampaignResult> run_campaign(store::Store& store, target::CompilerPool& pool, const CampaignOptions& options,
                                    const std::function<void(const CampaignProgress&)>& on_progress) {
  return Run(store, pool, options, on_progress).run();
}

}  // namespace sapper::fuzz
