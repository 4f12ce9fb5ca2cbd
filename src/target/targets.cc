// The names of targets: which exist, how they are written, what they compile for.
#include <algorithm>
#include <array>
#include <filesystem>

#include "target/plugins.h"
#include "target/target.h"

namespace sapper::target {
namespace {

struct Generation {
  std::string_view name;
  std::string_view topology;  // the smallest that PJRT_TopologyDescription_Create accepts
};

constexpr std::array generations = {
    Generation{"v2", "v2:2x2"},         Generation{"v3", "v3:2x2"},     Generation{"v4", "v4:2x2x1"},
    Generation{"v5e", "v5e:2x2"},       Generation{"v5p", "v5p:2x2x1"}, Generation{"v6e", "v6e:2x2"},
    Generation{"tpu7x", "tpu7x:2x2x1"},
};

constexpr std::array platforms = {Platform::Cpu, Platform::Tpu, Platform::Gpu};

const Generation* find_generation(std::string_view name) {
  const auto* found = std::ranges::find(generations, name, &Generation::name);
  return found == generations.end() ? nullptr : found;
}

std::string known_names() {
  std::string names;
  for (const Target& target : known_targets()) names += (names.empty() ? "" : ", ") + target.to_string();
  return names + ", and tpu:GENERATION@RELEASE for any libtpu release";
}

// Dotted numbers: what may stand for a libtpu release. It becomes part of a path and of a command.
bool is_version(std::string_view text) {
  bool after_digit = false;
  for (const char c : text) {
    if (c == '.' && !after_digit) return false;
    if (c != '.' && (c < '0' || c > '9')) return false;
    after_digit = c != '.';
  }
  return after_digit;
}

bool release_exists(Platform platform, std::string_view release) {
  if (platform == Platform::Tpu) return is_version(release);
  return std::ranges::any_of(plugin_table(),
                             [&](const PluginRelease& p) { return p.platform == platform && p.release == release; });
}

}  // namespace

std::string_view to_string(Platform platform) {
  switch (platform) {
    case Platform::Cpu: return "cpu";
    case Platform::Tpu: return "tpu";
    case Platform::Gpu: return "gpu";
  }
  return "cpu";
}

std::string Target::to_string() const {
  std::string text(target::to_string(platform));
  if (!generation.empty()) text += ":" + generation;
  if (release != default_release(platform).release) text += "@" + release;
  return text;
}

Result<Target> parse_target(std::string_view text) {
  const auto unknown = [&](const std::string& why) {
    return fail(ErrorKind::BadInput, "no target \"{}\": {}; known targets: {}", text, why, known_names());
  };
  const size_t at = text.find('@');
  const std::string_view name = text.substr(0, at);
  const size_t colon = name.find(':');
  const auto* platform = std::ranges::find(platforms, name.substr(0, colon), [](Platform p) { return to_string(p); });
  if (platform == platforms.end()) return unknown(fmt::format("no platform \"{}\"", name.substr(0, colon)));

  Target target{*platform, {}, default_release(*platform).release};
  if (colon != std::string_view::npos) target.generation = name.substr(colon + 1);
  if (*platform == Platform::Tpu && find_generation(target.generation) == nullptr)
    return unknown(target.generation.empty() ? "name the generation, as in tpu:v5e"
                                             : fmt::format("no TPU generation \"{}\"", target.generation));
  if (*platform != Platform::Tpu && colon != std::string_view::npos)
    return unknown(fmt::format("{} has no generations", to_string(*platform)));
  if (at != std::string_view::npos) {
    target.release = text.substr(at + 1);
    if (!release_exists(*platform, target.release)) return unknown(fmt::format("no release \"{}\"", target.release));
  }
  return target;
}

std::vector<Target> known_targets() {
  std::vector<Target> targets;
  for (const PluginRelease& plugin : plugin_table()) {
    if (plugin.platform == Platform::Tpu)
      for (const Generation& generation : generations)
        targets.push_back({plugin.platform, std::string(generation.name), plugin.release});
    else
      targets.push_back({plugin.platform, {}, plugin.release});
  }
  return targets;
}

std::string_view topology(const Target& target) {
  const Generation* generation = find_generation(target.generation);
  return generation == nullptr ? std::string_view() : generation->topology;
}

bool can_execute(const Target& target) {
  const auto exists = [](const char* path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  switch (target.platform) {
    case Platform::Cpu: return true;
    case Platform::Tpu: return exists("/dev/accel0") || exists("/dev/vfio/0");
    case Platform::Gpu: return exists("/dev/nvidia0");
  }
  return false;
}

}  // namespace sapper::target
