// Many checks side by side: files and folders in, reports out in the order of the files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"

namespace sapper::check {

// The module files that `paths` name: files as they are; folders recursively, every file that looks like a module by
// its extension (.hlo, .txt, .pb, .hlo.pb, each also .zst), sorted; of a case its module alone. BadInput when a path
// does not exist or a folder holds none.
[[nodiscard]] Result<std::vector<std::string>> module_files(const std::vector<std::string>& paths);

// One module to check, and how.
struct Task {
  std::string path;
  CheckOptions options;
  std::optional<Signature> expected;  // of a case on the target that it is about
};

// What `paths` name as in module_files, each module with `options`, but cases (folders with a case.json) as they record
// it. `on`: the target of cases, when it is not to be theirs. BadInput where a module has no options.
[[nodiscard]] Result<std::vector<Task>> tasks_for(const std::vector<std::string>& paths,
                                                  const std::optional<CheckOptions>& options,
                                                  const std::optional<target::Target>& on);

struct BatchProgress {
  size_t done = 0, all = 0;
};

// Does `tasks` on as many threads as `jobs` says. `on_report` gets each report in the order of `tasks`, `on_progress`
// after each module; neither is called from two threads at once. What one of them throws ends the batch and comes out.
void check_all(target::CompilerPool& pool, const std::vector<Task>& tasks, int jobs,
               const std::function<void(const Report&)>& on_report,
               const std::function<void(const BatchProgress&)>& on_progress);

}  // namespace sapper::check
