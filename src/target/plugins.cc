// Where plugins lie, and fetching those that are not there yet.
#include "target/plugins.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/assert.h"
#include "target/plugin_files.h"
#include "target/process.h"

namespace sapper::target {
namespace {

// Columns as plugins.txt describes them. The file is part of the build, so that a bad line is our own defect.
std::vector<PluginRelease> parse_table(const char* text) {
  std::vector<PluginRelease> table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    std::string target;
    PluginRelease plugin;
    columns >> target >> plugin.wheel >> plugin.version >> plugin.library;
    const size_t at = target.find('@');
    SAPPER_ASSERT(columns && at != std::string::npos);
    const std::string platform = target.substr(0, at);
    plugin.platform = platform == "cpu" ? Platform::Cpu : platform == "tpu" ? Platform::Tpu : Platform::Gpu;
    plugin.release = target.substr(at + 1);
    table.push_back(std::move(plugin));
  }
  return table;
}

// A libtpu release outside the table is the default one with another version.
PluginRelease release_of(const Target& target) {
  const auto& table = plugin_table();
  const auto found = std::ranges::find_if(
      table, [&](const PluginRelease& p) { return p.platform == target.platform && p.release == target.release; });
  if (found != table.end()) return *found;
  PluginRelease plugin = default_release(target.platform);
  plugin.release = plugin.version = target.release;
  return plugin;
}

std::string cached_path(const PluginRelease& plugin) {
  return fmt::format("{}/plugins/{}-{}/{}", cache_folder(), plugin.wheel, plugin.version, plugin.library);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// What SAPPER_PLUGIN_<PLATFORM> says, for the default release only: other releases are asked for by name.
std::string override_path(const Target& target) {
  if (target.release != default_release(target.platform).release) return {};
  const char* names[] = {"SAPPER_PLUGIN_CPU", "SAPPER_PLUGIN_TPU", "SAPPER_PLUGIN_GPU"};
  const char* path = std::getenv(names[static_cast<int>(target.platform)]);
  return path == nullptr ? std::string() : path;
}

Status fetch(const PluginRelease& plugin) {
  fmt::print(stderr, "sapper: fetching {} {} into {}\n", plugin.wheel, plugin.version, cache_folder());
  SAPPER_TRY(const ProcessOutput output, run_process({"/bin/sh", "-c", fetch_plugin_sh, "fetch_plugin.sh",
                                                      cache_folder(), plugin.wheel, plugin.version}));
  if (output.status == 0) return {};
  return fail(
      ErrorKind::BadInput,
      "{} {} is not in the cache ({}) and could not be fetched. What pip said:\n{}\nOn a machine with network, run\n"
      "  src/target/fetch_plugin.sh {} {} {}\nand copy {}/plugins/{}-{} to the same folder here.",
      plugin.wheel, plugin.version, cache_folder(), output.text, cache_folder(), plugin.wheel, plugin.version,
      cache_folder(), plugin.wheel, plugin.version);
}

}  // namespace

const std::vector<PluginRelease>& plugin_table() {
  static const std::vector<PluginRelease> table = parse_table(plugins_txt);
  return table;
}

const PluginRelease& default_release(Platform platform) {
  const auto found = std::ranges::find(plugin_table(), platform, &PluginRelease::platform);
  SAPPER_ASSERT(found != plugin_table().end());
  return *found;
}

std::string cache_folder() {
  if (const char* cache = std::getenv("SAPPER_CACHE"); cache != nullptr && *cache != '\0') return cache;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/sapper";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "/tmp" : home) + "/.cache/sapper";
}

bool plugin_present(const Target& target) {
  const std::string path = override_path(target);
  return exists(path.empty() ? cached_path(release_of(target)) : path);
}

Result<std::string> plugin_path(const Target& target) {
  if (std::string path = override_path(target); !path.empty()) return path;
  const PluginRelease plugin = release_of(target);
  std::string path = cached_path(plugin);
  if (!exists(path)) SAPPER_CHECKED(fetch(plugin));
  if (!exists(path))
    return fail(ErrorKind::BadInput, "{}: the wheel {} {} does not hold it; remove the folder to fetch it again", path,
                plugin.wheel, plugin.version);
  return path;
}

}  // namespace sapper::target
