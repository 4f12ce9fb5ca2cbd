#include "target/dump.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace sapper::target {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_prefix = "sapper-dump-";  // then the process, a dash and six letters
constexpr std::string_view suffix = ".hlo.pb";
constexpr std::string_view input_name = ".before_optimizations.hlo.pb";

std::string parent_folder() {
  constexpr const char* memory = "/dev/shm";
  if (access(memory, W_OK | X_OK) == 0) return memory;
  const char* temporary = std::getenv("TMPDIR");
  return temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary;
}

// No descriptor: another process has it.
Descriptor lock_folder(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() >= 0 && flock(folder.get(), LOCK_EX | LOCK_NB) != 0) folder = Descriptor();
  return folder;
}

Result<std::vector<std::string>> file_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    names.push_back(entry.path().filename());
  if (error) return fail(ErrorKind::Resource, "{}: cannot read the dump folder: {}", folder, error.message());
  std::ranges::sort(names);
  return names;
}

void add_override(const char* name, const char* value, proto::CompileOptionsProto* options) {
  (*options->mutable_env_option_overrides())[name].set_string_field(value);
}

}  // namespace

Result<DumpFolder> DumpFolder::create() {
  std::string path = fmt::format("{}/{}{}-XXXXXX", parent_folder(), folder_prefix, getpid());
  if (mkdtemp(path.data()) == nullptr)
    return fail(ErrorKind::Interrupted, "{}: cannot make a folder for dumps: {}", path, std::strerror(errno));
  Descriptor lock = lock_folder(path);
  return DumpFolder(std::move(path), std::move(lock));
}

DumpFolder::~DumpFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void remove_abandoned_dumps() {
  const std::string parent = parent_folder();
  const auto names = file_names(parent);
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    pid_t owner = 0;
    if (!name.starts_with(folder_prefix)) continue;
    std::from_chars(name.data() + folder_prefix.size(), name.data() + name.size(), owner);
    if (owner <= 0 || kill(owner, 0) == 0 || errno != ESRCH) continue;
    const std::string path = fmt::format("{}/{}", parent, name);
    const Descriptor lock = lock_folder(path);
    std::error_code ignored;
    if (lock.get() >= 0) fs::remove_all(path, ignored);
  }
}

void request_dumps(const std::string& folder, proto::CompileOptionsProto* options) {
  add_override("xla_dump_to", folder.c_str(), options);
  add_override("xla_dump_hlo_pass_re", ".*", options);
  (*options->mutable_env_option_overrides())["xla_dump_hlo_as_proto"].set_bool_field(true);
}

void request_objects(const std::string& folder, proto::CompileOptionsProto* options) {
  add_override("xla_dump_to", folder.c_str(), options);
}

std::optional<DumpName> parse_dump_name(std::string_view file, std::string_view prefix) {
  if (!file.starts_with(prefix) || !file.ends_with(suffix)) return std::nullopt;
  file.remove_prefix(prefix.size());
  file.remove_suffix(suffix.size());
  DumpName name;
  if (!file.starts_with('.')) return std::nullopt;
  const auto [end, error] = std::from_chars(file.data() + 1, file.data() + file.size(), name.number);
  if (error != std::errc()) return std::nullopt;
  file.remove_prefix(static_cast<size_t>(end - file.data()));

  constexpr std::string_view after = ".after_";
  const size_t pass = file.find(after);
  if (!file.starts_with('.') || pass == std::string_view::npos) return std::nullopt;
  name.pipeline = file.substr(std::min<size_t>(1, pass), pass - std::min<size_t>(1, pass));
  file.remove_prefix(pass + after.size());
  name.pass = file.substr(0, file.rfind(".before_"));
  return name;
}

Result<std::vector<HloStage>> read_stages(const std::string& folder) {
  SAPPER_TRY(const std::vector<std::string> names, file_names(folder));
  // The module given is the first that the compiler numbers: module_0000, then module_0001, ... in a fresh process.
  const auto input = std::ranges::find_if(names, [](const std::string& name) { return name.ends_with(input_name); });
  if (input == names.end()) return std::vector<HloStage>{};
  const std::string prefix = input->substr(0, input->size() - input_name.size());

  std::vector<HloStage> stages{{.index = 0, .pipeline = {}, .pass = "input", .module = *input}};
  for (const std::string& file : names)
    if (auto name = parse_dump_name(file, prefix))
      stages.push_back({.index = name->number, .pipeline = name->pipeline, .pass = name->pass, .module = file});
  std::ranges::stable_sort(stages.begin() + 1, stages.end(), {}, &HloStage::index);
  for (size_t i = 0; i < stages.size(); ++i) {
    stages[i].index = static_cast<int>(i);
    SAPPER_TRY(stages[i].module, read_file(folder + "/" + stages[i].module));
  }
  return stages;
}

std::string llo_dump_flags(const std::string& folder, const std::string& passes) {
  return fmt::format("--xla_jf_dump_to={} --xla_jf_dump_llo_text=true --xla_jf_dump_llo_pass_label_regex={}", folder,
                     passes);
}

Result<std::vector<std::pair<std::string, std::string>>> take_llo_dumps(const std::string& folder) {
  SAPPER_TRY(const std::vector<std::string> names, file_names(folder));
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& name : names) {
    const fs::path path = fs::path(folder) / name;
    if (name.ends_with(".txt")) {
      SAPPER_TRY(std::string text, read_file(path));
      files.emplace_back(name, std::move(text));
    }
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  return files;
}

}  // namespace sapper::target
