// sapper doctor: what is installed, which targets work, and why not.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "target/compiler.h"

namespace sapper::cli {
namespace {

using Json = nlohmann::ordered_json;

// One target tried for real: its plugin is loaded in a worker process and asked for its version.
bool examine(target::CompilerPool& pool, const target::Target& target, bool json) {
  const Result<target::PluginInfo> plugin =
      target::plugin_present(target)
          ? pool.probe(target)
          : fail(ErrorKind::BadInput,
                 "its plugin is not in the cache; it is fetched when the target is first asked for");
  if (json) {
    Json row{{"target", target.to_string()}, {"release", target.release}, {"works", plugin.has_value()}};
    if (plugin) {
      row["plugin"] = plugin->path;
      row["pjrt_api"] = fmt::format("{}.{}", plugin->api_major, plugin->api_minor);
      row["platform"] = plugin->platform_version;
      row["executes"] = target::can_execute(target);
    } else {
      row["why"] = plugin.error().describe();
    }
    fmt::print("{}\n", row.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (plugin) {
    fmt::print("ok       {:<10} PJRT {}.{}, {}; {}\n", target.to_string(), plugin->api_major, plugin->api_minor,
               target::can_execute(target) ? "compiles and executes" : "compiles ahead of time", plugin->path);
  } else {
    fmt::print("missing  {:<10} {}\n", target.to_string(), plugin.error().describe());
  }
  std::fflush(stdout);
  return plugin.has_value();
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("doctor", "Say which targets work on this machine, and why not");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "JSON Lines on stdout, one object a target (docs/json.md)");
  command->footer("Example: sapper doctor\nExit code: 0 when at least one target works, else 3");
  command->callback([json, &exit_code] {
    if (!*json) fmt::print("sapper {}\n", SAPPER_VERSION);
    target::CompilerPool pool({.workers = 1, .compile_seconds = 60});
    int working = 0;
    for (const target::Target& target : target::known_targets()) working += examine(pool, target, *json) ? 1 : 0;
    exit_code = working > 0 ? 0 : 3;
  });
}

}  // namespace sapper::cli
