// The commands, each in the file of its name. add_NAME registers it; its exit code goes to `exit_code`.
#pragma once

#include <CLI/CLI.hpp>

namespace sapper::cli {

void add_bisect(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_isolate(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_fix(CLI::App& app, int& exit_code);
void add_fuzz(CLI::App& app, int& exit_code);
void add_reduce(CLI::App& app, int& exit_code);
void add_emit(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_findings(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_ranges(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_stages(CLI::App& app, int& exit_code);
void add_targets(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_llo(CLI::App& app, int& exit_code);
void add_isa(CLI::App& app, int& exit_code);
void add_worker(CLI::App& app, int& exit_code);

}  // namespace sapper::cli
