#include "reduce/search.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/stopwatch.h"
#include "hlo/verifier.h"
#include "reduce/edits.h"

namespace sapper::reduce {
namespace {

// An edit that kept the program interesting, and what it made.
struct Taken {
  size_t edit = 0;
  Program program;
};

class Search {
 public:
  Search(Program program, const Interesting& interesting, const SearchOptions& options)
      : interesting_(interesting), options_(options), size_(size_of(program)) {
    result_.program = std::move(program);
  }

  Searched run() {
    bool coarse = true;
    for (bool changed = true; changed; coarse = false) {
      changed = make_smaller(coarse);
      for (const Pass& pass : passes_for_plainness()) changed |= run_to_the_end(pass);
    }
    result_.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  // All passes with large chunks, then all with smaller ones, ..., then one thing at a time until nothing changes.
  bool make_smaller(bool coarse) {
    bool ever_changed = false;
    constexpr size_t finest = size_t{1} << 40;
    for (size_t part = coarse ? 2 : finest;; part = std::min(finest, part * 2)) {
      bool changed = false;
      bool is_finest = true;
      for (const Pass& pass : passes_for_size()) {
        const size_t things = pass.things(result_.program);
        if (things == 0) continue;
        const size_t chunk = std::max<size_t>(1, things / part);
        is_finest &= chunk == 1;
        changed |= run_pass(pass, chunk);
      }
      ever_changed |= changed;
      if (is_finest && !changed) return ever_changed;
    }
  }

  bool run_to_the_end(const Pass& pass) {
    bool ever_changed = false;
    for (size_t chunk = std::max<size_t>(1, pass.things(result_.program) / 2);;
         chunk = std::max<size_t>(1, chunk / 2)) {
      const bool changed = run_pass(pass, chunk);
      ever_changed |= changed;
      if (chunk == 1 && !changed) return ever_changed;
    }
  }

  // Tries the pass's edits in order. After one that is taken the others are made anew, from where it was.
  bool run_pass(const Pass& pass, size_t chunk) {
    bool changed = false;
    pass_ = pass.name;
    size_t from = 0;
    for (;;) {
      const std::vector<Edit> edits = pass.edits(result_.program, chunk);
      std::optional<Taken> taken = first_interesting(edits, from);
      if (!taken) return changed;
      changed = true;
      from = chunk == 1 && pass.things == &one ? 0 : taken->edit;
      take(pass, edits[taken->edit], std::move(taken->program));
    }
  }

  void take(const Pass& pass, const Edit& edit, Program program) {
    result_.program = std::move(program);
    size_ = size_of(result_.program);
    result_.steps.push_back({pass.name, edit.what, size_, clock_.seconds()});
    if (options_.on_step) options_.on_step(result_.steps.back(), result_.program);
  }

  // The first of `edits`, from `from` on, that keeps the program interesting. Threads take the edits in order, so that
  // all before the first interesting one have been tried when they are done.
  std::optional<Taken> first_interesting(const std::vector<Edit>& edits, size_t from) {
    std::atomic<size_t> next = from;
    std::atomic<size_t> best = edits.size();
    std::optional<Taken> taken;
    const auto work = [&] {
      for (size_t i = next++; i < best; i = next++) {
        std::optional<Program> made = edited(edits[i]);
        if (!made || !is_interesting(*made)) continue;
        const std::lock_guard lock(mutex_);
        if (i >= best) continue;
        best = i;
        taken = Taken{i, std::move(*made)};
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int k = 1; k < options_.jobs; ++k) threads.emplace_back(work);
      work();
    }
    return taken;
  }

  // What the edit makes of the program; nullopt: nothing that is worth trying.
  std::optional<Program> edited(const Edit& edit) {
    Program program = result_.program;
    if (!edit.apply(program)) return std::nullopt;
    clean(program);
    if (size_of(program) >= size_ || !hlo::verify(program.module)) return std::nullopt;
    return program;
  }

  bool is_interesting(const Program& program) {
    const std::string name = identity(program);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(name); known != known_.end()) return known->second;
    }
    bool is = false;
    for (int k = 0; k < options_.tries && !is; ++k) is = interesting_(program);
    const std::lock_guard lock(mutex_);
    known_[name] = is;
    ++result_.tried;
    if (options_.on_progress) options_.on_progress({pass_, result_.tried, result_.steps.size(), size_});
    return is;
  }

  const Interesting& interesting_;
  const SearchOptions& options_;
  Searched result_;
  Size size_;  // of the program
  const char* pass_ = "";
  const Stopwatch clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, bool> known_;  // programs that were tried, and whether they were interesting
};

}  // namespace

Searched search(Program program, const Interesting& interesting, const SearchOptions& options) {
  return Search(std::move(program), interesting, options).run();
}

}  // namespace sapper::reduce
