// Plugin releases: the table of plugins.txt and where each plugin's library lies in the cache.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "target/target.h"

namespace sapper::target {

struct PluginRelease {
  Platform platform = Platform::Cpu;
  std::string release;  // "0.115"
  std::string wheel;    // on PyPI: "lammps-jax-pjrt-cpu"
  std::string version;  // of the wheel
  std::string library;  // path inside the wheel
};

// The lines of plugins.txt in order: the first of a platform is its default release.
[[nodiscard]] const std::vector<PluginRelease>& plugin_table();
[[nodiscard]] const PluginRelease& default_release(Platform platform);

// "cpu", "tpu", "gpu": the first word of a target, and the file's first column before the @.
[[nodiscard]] std::string_view to_string(Platform platform);

// SAPPER_CACHE, else $XDG_CACHE_HOME/sapper, else ~/.cache/sapper.
[[nodiscard]] std::string cache_folder();

}  // namespace sapper::target
