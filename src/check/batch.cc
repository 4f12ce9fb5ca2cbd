#include "check/batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

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

}  // namespace

Result<std::vector<std::string>> module_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      if (!std::filesystem::exists(path, error)) return fail(ErrorKind::BadInput, "{}: no such file or folder", path);
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto entry = std::filesystem::recursive_directory_iterator(path, error);
         entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
      if (error) return fail(ErrorKind::BadInput, "{}: cannot list: {}", path, error.message());
      if (entry->is_regular_file(error) && looks_like_module(entry->path())) found.push_back(entry->path());
    }
    if (error) return fail(ErrorKind::BadInput, "{}: cannot list: {}", path, error.message());
    if (found.empty())
      return fail(ErrorKind::BadInput, "{}: holds no module (.hlo, .hlo.txt or .pb, each also with .zst)", path);
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void check_all(target::CompilerPool& pool, const std::vector<std::string>& files, const CheckOptions& options, int jobs,
               const std::function<void(const Report&)>& on_report,
               const std::function<void(const BatchProgress&)>& on_progress) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  InOrder in_order(on_report);
  BatchProgress progress{0, files.size()};
  std::exception_ptr thrown;  // by a callback
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) {
      Report report = check_file(pool, files[i], options);
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
    for (int i = 1; i < std::min<int>(jobs, static_cast<int>(files.size())); ++i) threads.emplace_back(work);
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sapper::check
