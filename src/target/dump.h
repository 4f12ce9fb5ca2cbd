// The HLO that XLA dumps after each pass, through a private folder.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "target/compile_options.pb.h"
#include "target/compiler.h"

namespace sapper::target {

// A fresh folder, in memory where the machine allows it, removed with all it holds at the end of its life.
class DumpFolder {
 public:
  [[nodiscard]] static Result<DumpFolder> create();
  DumpFolder(DumpFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  DumpFolder& operator=(DumpFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~DumpFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit DumpFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Options that make XLA dump the module after each pass that changed it.
void request_dumps(const std::string& folder, proto::CompileOptionsProto* options);

// Where a dump file stands in the pipeline, from its name: MODULE.NUMBER.PIPELINE.after_PASS[.before_NEXT].hlo.pb.
struct DumpName {
  int number = 0;
  std::string pipeline;
  std::string pass;
};
// `prefix` is the MODULE part, dots included; nullopt for files that no pass made.
[[nodiscard]] std::optional<DumpName> parse_dump_name(std::string_view file, std::string_view prefix);

// The stages of the module that was compiled, in pipeline order; those of modules that the compiler made on the way are
// left out.
[[nodiscard]] Result<std::vector<HloStage>> read_stages(const std::string& folder);

// Flags (LIBTPU_INIT_ARGS) that make libtpu dump the text of its backend programs, of those whose names `passes`
// matches.
[[nodiscard]] std::string llo_dump_flags(const std::string& folder, const std::string& passes);

// Takes the text files out of the folder, sorted by name, and removes all that is in it.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> take_llo_dumps(const std::string& folder);

}  // namespace sapper::target
