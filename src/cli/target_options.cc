#include "cli/target_options.h"

namespace sapper::cli {

void add_target_options(CLI::App& command, TargetOptions& options) {
  command
      .add_option("--on", options.on,
                  "Target: cpu, cpu@RELEASE, tpu:GENERATION, tpu:GENERATION@RELEASE (see sapper targets)")
      ->required();
  command.add_option("--option", options.options, "XLA debug option NAME=VALUE, without dashes; may be given again");
  command.add_option("--init-flags", options.init_flags,
                     "Flags that the compiler reads when it starts (LIBTPU_INIT_ARGS, XLA_FLAGS)");
}

Result<target::Configuration> configuration(const TargetOptions& options) {
  target::Configuration configuration;
  configuration.init_flags = options.init_flags;
  for (const std::string& text : options.options) {
    SAPPER_TRY(auto option, target::parse_option(text));
    configuration.options.insert(std::move(option));
  }
  return configuration;
}

}  // namespace sapper::cli
