#include "cli/cli.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "cli/commands.h"

namespace sapper::cli {

namespace {

// A result that cannot be written is not given. (One that nobody reads ends the process by SIGPIPE, as with any tool.)
int cannot_write(const char* why) {
  fmt::print(stderr, "error: cannot write to standard output: {}\n", why);
  return 2;
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("sapper finds, isolates and explains silent miscompilations in ML compilers.");
  app.name("sapper");
  app.set_version_flag("--version", "sapper " SAPPER_VERSION);
  app.require_subcommand(1);
  app.footer("Start with: sapper check examples/softmax.hlo --on cpu");
  app.failure_message(CLI::FailureMessage::simple);
  int exit_code = 0;
  add_check(app, exit_code);
  add_bisect(app, exit_code);
  add_isolate(app, exit_code);
  add_inspect(app, exit_code);
  add_fix(app, exit_code);
  add_fuzz(app, exit_code);
  add_reduce(app, exit_code);
  add_emit(app, exit_code);
  add_report(app, exit_code);
  add_findings(app, exit_code);
  add_eval(app, exit_code);
  add_ranges(app, exit_code);
  add_show(app, exit_code);
  add_stages(app, exit_code);
  add_targets(app, exit_code);
  add_doctor(app, exit_code);
  add_llo(app, exit_code);
  add_isa(app, exit_code);
  add_worker(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\n");
    return 3;
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) throw;
    return cannot_write(error.code().message().c_str());
  }
  if (std::fflush(stdout) != 0) return cannot_write(std::strerror(errno));
  return exit_code;
}

}  // namespace sapper::cli
