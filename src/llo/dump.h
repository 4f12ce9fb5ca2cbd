// A folder of LLO dumps, as libtpu writes one a compilation: its kernels and their stages.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sapper::llo {

// TIMESTAMP-KERNEL-NN-PASS.txt
struct DumpName {
  std::string kernel;  // "fusion.1"; "TLP": the top-level program
  int index = 0;       // position in the kernel's pipeline
  std::string pass;    // "original", "final_bundles"
};
[[nodiscard]] std::string to_file_name(const DumpName& name);  // of timestamp 0
// nullopt: not the name of a stage.
[[nodiscard]] std::optional<DumpName> parse_dump_name(std::string_view file);

// One stage of one kernel, its text.
struct StageText {
  int index = 0;
  std::string pass;
  std::string text;
};

struct KernelDump {
  std::string kernel;
  std::vector<StageText> stages;  // programs only, in pipeline order; the first is `original` where it was dumped
  [[nodiscard]] const StageText* stage(std::string_view pass) const;  // null: not dumped
};

struct ModuleDump {
  std::vector<KernelDump> kernels;  // the top-level program and its frame left out; sorted by name
  // HLO instruction -> kernel, where one kernel serves several (TLP-*-deduplication-map.txt).
  std::map<std::string, std::string, std::less<>> serves;
  // The kernel that computes HLO instruction `name`; null: none was dumped.
  [[nodiscard]] const KernelDump* kernel_of(std::string_view instruction) const;
};

// From (file name, content) pairs, as the folder holds them.
[[nodiscard]] ModuleDump read_dump(std::vector<std::pair<std::string, std::string>> files);

// "key:K\nordinal:N\nequivalent_hlos[size=..]:\n  a\n  b\n" ...
[[nodiscard]] std::map<std::string, std::string, std::less<>> parse_deduplication_map(std::string_view text);

}  // namespace sapper::llo
