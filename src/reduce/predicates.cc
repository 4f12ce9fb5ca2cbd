#include "reduce/predicates.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/shell.h"
#include "hlo/text.h"
#include "inputs/npz.h"

namespace sapper::reduce {

check::CheckOptions options_for(const Program& program, check::CheckOptions options) {
  options.configuration = program.configuration;
  options.inputs.clear();
  options.input_set.reset();
  options.all_stages = false;
  return options;
}

std::vector<check::InputSet> inputs_of(const Program& program) {
  std::vector<check::InputSet> sets(1);
  sets[0].arguments = program.arguments;
  return sets;
}

Interesting fails_alike(target::CompilerPool& pool, const check::CheckOptions& options,
                        const check::Signature& signature) {
  return [&pool, options, signature](const Program& program) {
    const check::Report report =
        check::check_module(pool, program.module, "module.hlo", options_for(program, options), inputs_of(program));
    return same_reason(check::signature_of(report), signature);
  };
}

Interesting satisfies(const std::string& command, double time_limit) {
  namespace fs = std::filesystem;
  return [command, time_limit](const Program& program) {
    static std::atomic<uint64_t> count = 0;
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error) / fmt::format("sapper_reduce_{}_{}", getpid(), count++);
    if (!fs::create_directories(folder, error)) return false;
    inputs::Npz npz;
    for (size_t k = 0; k < program.arguments.size(); ++k)
      npz[fmt::format("in{}", k)] = inputs::to_npy(program.arguments[k]);
    bool is = false;
    if (write_file(folder / "module.hlo", hlo::to_text(program.module)) &&
        inputs::write_npz(folder / "inputs.npz", npz)) {
      const std::string line = fmt::format("cd {} && exec timeout -k 1 {:.1f} sh -c {} >/dev/null 2>&1 </dev/null",
                                           shell_quoted(folder), time_limit, shell_quoted(command + " module.hlo"));
      is = std::system(line.c_str()) == 0;
    }
    fs::remove_all(folder, error);
    return is;
  };
}

}  // namespace sapper::reduce
