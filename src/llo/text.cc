// From the text of a stage to a Program: finds the form and reads it.
#include "llo/text.h"

#include "llo/dump.h"
#include "llo/text_bundles.h"
#include "llo/text_lines.h"

namespace sapper::llo {

namespace {

// The stages whose branches have delay slots: final_bundles, and the copies of it that the top-level program has.
bool has_delay_slots(std::string_view stage) {
  return stage == "final_bundles" || stage == "bundles-pre-codegen" || stage == "post-code-generation";
}

}  // namespace

Result<Program> parse_program(std::string text, const std::string& file, const std::string& stage) {
  Program program;
  program.file = file;
  if (text.size() > UINT32_MAX) {
    return in_file<Program>(fail(ErrorKind::Resource, "the dump has more than 4 GiB"), file);
  }
  program.text = std::make_shared<const std::string>(std::move(text));
  Scanner scanner(*program.text);
  if (has_bundles(*program.text)) {
    read_bundles(scanner, program);
    if (has_delay_slots(stage)) program.form = Form::FinalBundles;
  } else {
    read_lines(scanner, program);
  }
  if (scanner.failed()) return in_file<Program>(fail(scanner.take_error()), file);
  return program;
}

}  // namespace sapper::llo
