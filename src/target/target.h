// A target: which compiler, for which chip, of which release. `cpu`, `cpu@0.81`, `tpu:v5e`, `tpu:v5e@0.0.41`, `gpu`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sapper::target {

enum class Platform { Cpu, Tpu, Gpu };

struct Target {
  Platform platform = Platform::Cpu;
  std::string generation;  // tpu: v2 v3 v4 v5e v5p v6e tpu7x; empty otherwise
  std::string release;     // never empty: the default release is filled in

  // What the user may write to get this target; the release is left out when it is the default one.
  [[nodiscard]] std::string to_string() const;
  bool operator==(const Target&) const = default;
};

// BadInput lists what exists.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// Every target that this sapper names: all platforms and generations at their default release, and the other cpu
// releases.
[[nodiscard]] std::vector<Target> known_targets();

// The PJRT plugin of a target: path of the shared library in the cache folder (see plugins.h). A plugin that is not
// there is fetched with `pip download`; the error says how to do that when it fails (no network). SAPPER_PLUGIN_CPU,
// _TPU and _GPU name another library for the default release of their platform.
[[nodiscard]] Result<std::string> plugin_path(const Target& target);
// Whether plugin_path needs no fetching.
[[nodiscard]] bool plugin_present(const Target& target);

// The PJRT topology to compile for ahead of time, such as "v5e:2x2"; empty for platforms that compile for their device.
[[nodiscard]] std::string_view topology(const Target& target);

// Whether programs run on this machine for the target (a device exists), not only compile.
[[nodiscard]] bool can_execute(const Target& target);

}  // namespace sapper::target
