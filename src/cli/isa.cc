// sapper isa: the instruction set of the TPU machine, as the table that runs it states it.
#include "llo/isa.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace sapper::cli {
namespace {

// The row of an opcode as a dump writes it, else all whose names begin like it.
std::vector<const llo::OpcodeInfo*> rows_of(const std::string& opcode) {
  if (opcode.empty()) return llo::all_opcodes();
  if (const llo::OpcodeMatch match = llo::find_opcode(opcode); match.info != nullptr) return {match.info};
  std::vector<const llo::OpcodeInfo*> rows = llo::all_opcodes();
  std::erase_if(rows, [&](const llo::OpcodeInfo* row) { return !row->name.starts_with(opcode); });
  return rows;
}

}  // namespace

void add_isa(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("isa", "Explain the instructions of TPU programs (LLO)");
  auto opcode = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("opcode", *opcode, "An opcode as a dump writes it, or how its name begins; without it, all");
  command->add_flag("--json", *json, "JSON Lines on stdout, one object an opcode (docs/json.md)");
  command->footer("Example: sapper isa vrot.lane.b32.xlu0\nHow to read it: docs/llo.md, Rows of the instruction set");
  command->callback([opcode, json, &exit_code] {
    const std::vector<const llo::OpcodeInfo*> rows = rows_of(*opcode);
    for (const llo::OpcodeInfo* row : rows) {
      if (*json) {
        const nlohmann::ordered_json object{{"opcode", row->name},
                                            {"operands", row->operands},
                                            {"unit", llo::to_string(row->unit)},
                                            {"meaning", row->documentation}};
        fmt::print("{}\n", object.dump());
      } else {
        fmt::print("{}", llo::describe(*row));
      }
    }
    exit_code = 0;
    if (rows.empty())
      exit_code =
          report_error(Error{ErrorKind::BadInput,
                             fmt::format("no opcode is called '{}' or begins so; `sapper isa` lists them", *opcode),
                             {}});
  });
}

}  // namespace sapper::cli
