// From the text of a stage to a Program: finds the form and reads it.
#include "llo/text.h"

#include "llo/text_bundles.h"
#include "llo/text_lines.h"

namespace sapper::llo {

Result<Program> parse_program(std::string text, const std::string& file) {
  Program program;
  program.file = file;
  if (text.size() > UINT32_MAX) {
    return in_file<Program>(fail(ErrorKind::Resource, "the dump has more than 4 GiB"), file);
  }
  program.text = std::make_shared<const std::string>(std::move(text));
  Scanner scanner(*program.text);
  if (has_bundles(*program.text)) {
    read_bundles(scanner, program);
  } else {
    read_lines(scanner, program);
  }
  if (scanner.failed()) return in_file<Program>(fail(scanner.take_error()), file);
  return program;
}

}  // namespace sapper::llo
