// sapper targets: what `--on` takes.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "target/target.h"

namespace sapper::cli {
namespace {

std::string_view what_it_does(const target::Target& target) {
  if (target::can_execute(target)) return "compiles and executes";
  return target.platform == target::Platform::Tpu ? "compiles ahead of time" : "needs a device, and there is none";
}

}  // namespace

void add_targets(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("targets", "List the targets");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "JSON Lines on stdout, one object a target (docs/json.md)");
  command->footer("Example: sapper targets\nWhether each works on this machine: sapper doctor");
  command->callback([json, &exit_code] {
    for (const target::Target& target : target::known_targets()) {
      const bool executes = target::can_execute(target);
      if (*json) {
        const nlohmann::ordered_json row{
            {"target", target.to_string()}, {"release", target.release}, {"executes", executes}};
        fmt::print("{}\n", row.dump());
      } else {
        fmt::print("{:<12} release {:<8} {}\n", target.to_string(), target.release, what_it_does(target));
      }
    }
    if (!*json) fmt::print("Any libtpu release works too: tpu:GENERATION@RELEASE, as in tpu:v5e@0.0.41\n");
    exit_code = 0;
  });
}

}  // namespace sapper::cli
