#include "check/batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "check/case.h"

namespace sapper::check {
namespace {

bool looks_like_module(const std::filesystem::path& path) {
  std::string name = path.filename();
  if (name.ends_with(".zst")) name.resize(name.size() - 4);
  return name.ends_with(".hlo") || name.ends_with(".pb") || name.ends_with(".hlo.txt");
}

// Hands reports on in the order of their files.
class InOrder {
 public:
  explicit InOrder(const std::function<void(const Report&)>& sink) : sink_(sink) {}
  void add(size_t position, Report report) {
    waiting_.emplace(position, std::move(report));
    for (auto next = waiting_.find(next_); next != waiting_.end(); next = waiting_.find(next_)) {
      sink_(next->second);
      waiting_.erase(next);
      ++next_;
    }
  }

 private:
  const std::function<void(const Report&)>& sink_;
  std::map<size_t, Report> waiting_;
  size_t next_ = 0;
};

// The modules and cases in a folder that is no case.
Status find_in(const std::string& folder, std::vector<std::string>& found) {
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    if (is_case(entry->path())) {
      entry.disable_recursion_pending();
      found.push_back(entry->path());
    } else if (entry->is_regular_file(error) && looks_like_module(entry->path())) {
      found.push_back(entry->path());
    }
  }
  if (error) return fail(ErrorKind::BadInput, "{}: cannot list: {}", folder, error.message());
  if (found.empty())
    return fail(ErrorKind::BadInput, "{}: holds no module (.hlo, .hlo.txt or .pb, each also with .zst)", folder);
  std::sort(found.begin(), found.end());
  return {};
}

// Files of modules, folders of cases.
Result<std::vector<std::string>> modules_and_cases(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code error;
    if (is_case(path) || !std::filesystem::is_directory(path, error)) {
      if (!std::filesystem::exists(path, error)) return fail(ErrorKind::BadInput, "{}: no such file or folder", path);
      all.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    SAPPER_CHECKED(find_in(path, found));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace

Result<std::vector<std::string>> module_files(const std::vector<std::string>& paths) {
  SAPPER_TRY(std::vector<std::string> files, modules_and_cases(paths));
  for (std::string& file : files)
    if (is_case(file)) file = case_module_path(file);
  return files;
}

Result<std::vector<Task>> tasks_for(const std::vector<std::string>& paths, const std::optional<CheckOptions>& options,
                                    const std::optional<target::Target>& on) {
  SAPPER_TRY(const std::vector<std::string> found, modules_and_cases(paths));
  std::vector<Task> tasks;
  for (const std::string& path : found) {
    if (!is_case(path)) {
      if (!options) return fail(ErrorKind::BadInput, "{}: on which target? Say it with --on", path);
      tasks.push_back({path, *options, std::nullopt});
      continue;
    }
    SAPPER_TRY(const Case one, read_case(path));
    Task& task = tasks.emplace_back(Task{case_module_path(path), one.options, one.expected});
    if (on && *on != one.options.target) {
      task.options.target = *on;
      task.expected.reset();
    }
  }
  return tasks;
}

void check_all(target::CompilerPool& pool, const std::vector<Task>& tasks, int jobs,
               const std::function<void(const Report&)>& on_report,
               const std::function<void(const BatchProgress&)>& on_progress) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  InOrder in_order(on_report);
  BatchProgress progress{0, tasks.size()};
  std::exception_ptr thrown;  // by a callback
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      Report report = check_file(pool, tasks[i].path, tasks[i].options);
      report.expected = tasks[i].expected;
      const std::lock_guard lock(mutex);
      if (thrown) return;
      try {
        in_order.add(i, std::move(report));
        ++progress.done;
        on_progress(progress);
      } catch (...) {
        thrown = std::current_exception();
        return;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < std::min<int>(jobs, static_cast<int>(tasks.size())); ++i) threads.emplace_back(work);
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sapper::check
