// sapper emit: cases as tests that need nothing of sapper, and as reports for CI systems.
#include "emit/emit.h"

#include <filesystem>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string form;
  std::string output = ".";
};

Status write(const std::string& folder, const std::vector<emit::File>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::BadInput, "{}: cannot make this folder: {}", folder, error.message());
  for (const emit::File& file : files) {
    const std::string path = std::filesystem::path(folder) / file.name;
    SAPPER_CHECKED(write_file(path, file.bytes));
    fmt::print("{}\n", path);
  }
  return {};
}

Status emit_test(const std::string& path, const Arguments& arguments) {
  if (!check::is_case(path))
    return fail(ErrorKind::BadInput, "{}: no case (a folder with a case.json, as of sapper findings export or reduce)",
                path);
  SAPPER_TRY(const emit::Subject subject, emit::subject_of(path));
  if (arguments.form == "case") return emit::write_as_case(subject, arguments.output);
  using Emitter = Result<std::vector<emit::File>> (*)(const emit::Subject&);
  const std::map<std::string, Emitter> emitters{
      {"hlo", &emit::as_hlo}, {"cpp", &emit::as_cpp}, {"jax", &emit::as_jax}, {"pytest", &emit::as_pytest}};
  SAPPER_TRY(const std::vector<emit::File> files, in_file(emitters.at(arguments.form)(subject), path));
  return write(arguments.output, files);
}

Status each_has_its_name(const std::vector<std::string>& paths) {
  std::map<std::string, std::string> paths_by_name;
  for (const std::string& path : paths) {
    const auto [other, is_new] = paths_by_name.emplace(emit::name_of(path), path);
    if (!is_new)
      return fail(ErrorKind::BadInput, "{}: would be written as {}, as {} is; rename the folder, or emit it elsewhere",
                  path, other->first, other->second);
  }
  return {};
}

Status run(const Arguments& arguments) {
  if (arguments.form == "sarif" || arguments.form == "junit") {
    SAPPER_TRY(const std::vector<emit::Outcome> outcomes, emit::outcomes_of(arguments.paths));
    const bool is_sarif = arguments.form == "sarif";
    return write(arguments.output, {{is_sarif ? "sapper.sarif" : "sapper.xml",
                                     is_sarif ? as_sarif(outcomes, SAPPER_VERSION) : emit::as_junit(outcomes)}});
  }
  SAPPER_CHECKED(each_has_its_name(arguments.paths));
  for (const std::string& path : arguments.paths) SAPPER_CHECKED(emit_test(path, arguments));
  return {};
}

}  // namespace

void add_emit(CLI::App& app, int& exit_code) {
  auto* const command =
      app.add_subcommand("emit", "Write cases as tests that stand alone, or as reports for CI systems");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("paths", arguments->paths,
                   "Cases (docs/cases.md); for sarif and junit also files with what sapper check --json printed")
      ->required();
  command
      ->add_option(
          "--as", arguments->form,
          "hlo: module, inputs, expected results; cpp: a GoogleTest over the PJRT C API; jax, pytest: a program "
          "of jax.lax; case: with its inputs written out; sarif, junit: reports")
      ->required()
      ->check(CLI::IsMember({"hlo", "cpp", "jax", "pytest", "case", "sarif", "junit"}));
  command->add_option("--output", arguments->output, "The folder")->capture_default_str();
  command->footer(
      "Example: sapper emit small --as cpp --output tests\n"
      "Exit code: 0 written, 2 bad usage or input, 3 a program that this form cannot say");
  command->callback([arguments, &exit_code] {
    const Status status = run(*arguments);
    exit_code = status ? 0 : report_error(status.error());
  });
}

}  // namespace sapper::cli
