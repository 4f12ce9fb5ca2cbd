// Many checks side by side: files and folders in, reports out in the order of the files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/check.h"

namespace sapper::check {

// The module files that `paths` name: files as they are; folders recursively, every file that looks like a module by
// its extension (.hlo, .txt, .pb, .hlo.pb, each also .zst), sorted. BadInput when a path does not exist or a folder
// holds none.
[[nodiscard]] Result<std::vector<std::string>> module_files(const std::vector<std::string>& paths);

struct BatchProgress {
  size_t done = 0, all = 0;
};

// Checks `files` on as many threads as `jobs` says. `on_report` gets each report in the order of `files`, `on_progress`
// after each module; neither is called from two threads at once. What one of them throws ends the batch and comes out.
void check_all(target::CompilerPool& pool, const std::vector<std::string>& files, const CheckOptions& options, int jobs,
               const std::function<void(const Report&)>& on_report,
               const std::function<void(const BatchProgress&)>& on_progress);

}  // namespace sapper::check
