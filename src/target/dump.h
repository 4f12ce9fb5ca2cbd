// The HLO that XLA dumps after each pass, through a private folder.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "target/compile_options.pb.h"
#include "target/compiler.h"
#include "target/process.h"

namespace sapper::target {

// A fresh folder, in memory where the machine allows it, removed with all it holds at the end of its life.
class DumpFolder {
 public:
  [[nodiscard]] static Result<DumpFolder> create();
  DumpFolder(DumpFolder&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  DumpFolder& operator=(DumpFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~DumpFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  DumpFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Descriptor lock_;  // on the folder, as long as the process lives: remove_abandoned_dumps
};

// Removes the folders of processes that were killed: those that are gone and whose folder nobody has locked. Either
// alone would not do: processes in another container are not seen, and a folder is there a moment before its lock.
void remove_abandoned_dumps();

// Options that make XLA dump the module after each pass that changed it.
void request_dumps(const std::string& folder, proto::CompileOptionsProto* options);

// Options that make XLA:CPU dump the object file of each kernel.
void request_objects(const std::string& folder, proto::CompileOptionsProto* options);

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
