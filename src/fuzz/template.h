// Templates: HLO text with variables, repeated blocks and holes (docs/fuzzing.md). A template and a choice sequence
// make a program: the skeleton stays, what is open is chosen.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "fuzz/generator.h"

namespace sapper::fuzz {

// A line of a template: a choice ("let"), the begin or end of a repeated block, or text.
struct TemplateLine {
  enum class Kind { Let, Repeat, End, Text };
  Kind kind = Kind::Text;
  int number = 0;     // in the file
  std::string name;   // let, repeat: the variable
  std::string text;   // let, repeat: what it may be; else the line
  size_t column = 0;  // where `text` begins, 0-based
  size_t end = 0;     // repeat: the index of the line that ends it
};

struct Template {
  std::string name;  // of the file, without its folder and extension
  std::string path;
  std::vector<TemplateLine> lines;
};

// `path` is for messages. Tries the template once, so that errors come before a campaign begins. An error names line
// and, where it is known, column.
[[nodiscard]] Result<Template> parse_template(const std::string& text, const std::string& path);
[[nodiscard]] Result<Template> read_template(const std::string& path);

[[nodiscard]] Result<Program> instantiate(const Template& skeleton, const Grammar& grammar, Choices choices);

}  // namespace sapper::fuzz
