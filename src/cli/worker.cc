// sapper worker: the process that a compiler runs in; started by sapper itself, never by people.
#include "cli/commands.h"
#include "target/compiler.h"

namespace sapper::cli {

void add_worker(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("worker", "")->group("");
  auto fd = std::make_shared<int>(-1);
  command->add_option("fd", *fd, "File descriptor of the socket to the parent")->required();
  command->callback([fd, &exit_code] { exit_code = target::run_worker(*fd); });
}

}  // namespace sapper::cli
