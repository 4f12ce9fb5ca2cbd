// Finds the programs among the files of a dump folder and puts them in order.
#include "llo/dump.h"

#include <algorithm>
#include <charconv>

#include "llo/text_scanner.h"

namespace sapper::llo {

namespace {

constexpr std::string_view kTopLevel = "TLP";
constexpr std::string_view kDeduplicationMap = "deduplication-map";

struct NameParts {
  std::string_view timestamp;
  std::string_view kernel;
  std::string_view index;
  std::string_view pass;
};

bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

// TIMESTAMP-KERNEL-NN-PASS.txt; a name without a kernel is the top-level program's (releases before 0.0.11). The last
// number of two or more digits between dashes is the index: passes have none, names of kernels may have some.
std::optional<NameParts> split_name(std::string_view file) {
  if (!file.ends_with(".txt")) return std::nullopt;
  file.remove_suffix(4);
  NameParts parts;
  parts.timestamp = file.substr(0, file.find('-'));
  if (!all_digits(parts.timestamp)) return std::nullopt;
  file.remove_prefix(parts.timestamp.size());
  for (size_t end = file.rfind('-'); end != std::string_view::npos && end > 0;) {
    const size_t start = file.rfind('-', end - 1);
    if (start == std::string_view::npos) return std::nullopt;
    parts.index = file.substr(start + 1, end - start - 1);
    parts.kernel = start == 0 ? kTopLevel : file.substr(1, start - 1);
    parts.pass = file.substr(end + 1);
    if (parts.index.size() >= 2 && parts.index.size() <= 4 && all_digits(parts.index)) return parts;
    end = start;
  }
  return std::nullopt;
}

// Reports and tables stand among the programs: none of them begins as a program does.
bool is_program(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  for (const std::string_view start : {"// [", "$region", "%", "= control target key start\n"}) {
    if (text.starts_with(start)) return true;
  }
  return text.starts_with("0 ") && text.substr(0, text.find('\n')).find(": ") != std::string_view::npos;  // a bundle
}

// <late-initialization>, in old releases continuation_tailcall: what the compiler puts around the top-level program.
bool is_kernel(std::string_view name) {
  return name != kTopLevel && name != "continuation_tailcall" && !name.starts_with('<');
}

// In the order of the pipeline. What is dumped before `original` is not finished: its matrix units are not chosen.
void order_stages(std::vector<StageText>& stages) {
  std::ranges::stable_sort(stages, {}, &StageText::index);
  const auto original = std::ranges::find(stages, "original", &StageText::pass);
  if (original != stages.end()) stages.erase(stages.begin(), original);
}

}  // namespace

std::optional<DumpName> parse_dump_name(std::string_view file) {
  const auto parts = split_name(file);
  if (!parts || parts->kernel.empty() || parts->pass.empty()) return std::nullopt;
  DumpName name{std::string(parts->kernel), 0, std::string(parts->pass)};
  std::from_chars(parts->index.data(), parts->index.data() + parts->index.size(), name.index);
  return name;
}

std::string to_file_name(const DumpName& name) {
  return fmt::format("0-{}-{:02}-{}.txt", name.kernel, name.index, name.pass);
}

const StageText* KernelDump::stage(std::string_view pass) const {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const StageText& s) { return s.pass == pass; });
  return found == stages.end() ? nullptr : &*found;
}

const KernelDump* ModuleDump::kernel_of(std::string_view instruction) const {
  const auto served = serves.find(instruction);
  const std::string_view name = served == serves.end() ? instruction : std::string_view(served->second);
  const auto found =
      std::lower_bound(kernels.begin(), kernels.end(), name,
                       [](const KernelDump& kernel, std::string_view key) { return kernel.kernel < key; });
  return found == kernels.end() || found->kernel != name ? nullptr : &*found;
}

ModuleDump read_dump(std::vector<std::pair<std::string, std::string>> files) {
  ModuleDump dump;
  struct Found {
    std::string timestamp;
    KernelDump dump;
  };
  std::map<std::string, Found, std::less<>> kernels;
  std::sort(files.begin(), files.end());  // the last compilation of a kernel comes last
  for (auto& [file, text] : files) {
    const auto name = parse_dump_name(file);
    if (!name) continue;
    if (name->pass == kDeduplicationMap) dump.serves = parse_deduplication_map(text);
    if (!is_kernel(name->kernel) || !is_program(text)) continue;
    const std::string timestamp = file.substr(0, file.find('-'));
    Found& found = kernels[name->kernel];
    if (found.timestamp != timestamp) found = {timestamp, {name->kernel, {}}};
    found.dump.stages.push_back({name->index, name->pass, std::move(text)});
  }
  for (auto& [name, found] : kernels) {
    order_stages(found.dump.stages);
    dump.kernels.push_back(std::move(found.dump));
  }
  return dump;
}

std::map<std::string, std::string, std::less<>> parse_deduplication_map(std::string_view text) {
  std::map<std::string, std::string, std::less<>> serves;
  std::string_view key;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("key:")) key = trim(line.substr(4));
    if (line.starts_with("  ") && !key.empty()) serves.emplace(trim(line), key);
  }
  return serves;
}

}  // namespace sapper::llo
