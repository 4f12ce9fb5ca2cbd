// The text of templates, line by line.
#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "fuzz/template.h"

namespace sapper::fuzz {
namespace {

constexpr size_t most_bytes = 1 << 20;
constexpr size_t most_nested = 16;

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

// "NAME = REST" after the keyword.
Result<TemplateLine> assignment(std::string_view line, size_t keyword_end, TemplateLine::Kind kind) {
  const size_t name = line.find_first_not_of(' ', keyword_end);
  const size_t equals = line.find('=', keyword_end);
  if (name == std::string_view::npos || equals == std::string_view::npos)
    return fail(Error{ErrorKind::BadInput, "expected NAME = VALUES", {"", 0, static_cast<int>(keyword_end) + 1, ""}});
  const std::string_view word = line.substr(name, line.find_first_of(" =", name) - name);
  if (!is_name(word))
    return fail(
        Error{ErrorKind::BadInput, fmt::format("'{}' is no name", word), {"", 0, static_cast<int>(name) + 1, ""}});
  size_t begin = line.find_first_not_of(' ', equals + 1);
  size_t end = line.find_last_not_of(' ') + 1;
  if (kind == TemplateLine::Kind::Repeat && line[end - 1] == '{') --end;
  if (begin == std::string_view::npos || begin >= end)
    return fail(Error{ErrorKind::BadInput, "what may it be?", {"", 0, static_cast<int>(equals) + 2, ""}});
  return TemplateLine{
      .kind = kind, .name = std::string(word), .text = std::string(line.substr(begin, end - begin)), .column = begin};
}

Result<TemplateLine> parse_line(std::string_view line, bool in_block) {
  const size_t first = line.find_first_not_of(' ');
  const std::string_view rest = first == std::string_view::npos ? "" : line.substr(first);
  if (rest.starts_with("let ")) return assignment(line, first + 3, TemplateLine::Kind::Let);
  if (rest.starts_with("repeat ")) {
    if (!rest.ends_with('{'))
      return fail(Error{ErrorKind::BadInput,
                        "a repeated block begins with '{' at the end of the line",
                        {"", 0, static_cast<int>(line.size()), ""}});
    return assignment(line, first + 6, TemplateLine::Kind::Repeat);
  }
  if (in_block && rest == "}") return TemplateLine{.kind = TemplateLine::Kind::End};
  return TemplateLine{.text = std::string(line)};
}

}  // namespace

Result<Template> parse_template(const std::string& text, const std::string& path) {
  Template made{.name = std::filesystem::path(path).stem(), .path = path};
  std::vector<size_t> blocks;
  size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    auto line = parse_line(std::string_view(text).substr(begin, end - begin), !blocks.empty());
    begin = end + 1;
    if (line && line->kind == TemplateLine::Kind::Repeat && blocks.size() >= most_nested)
      line = fail(ErrorKind::BadInput, "more than {} blocks in each other", most_nested);
    if (!line) {
      line.error().where.file = path;
      line.error().where.line = number;
      return tl::unexpected(line.error());
    }
    line->number = number;
    if (line->kind == TemplateLine::Kind::Repeat) blocks.push_back(made.lines.size());
    if (line->kind == TemplateLine::Kind::End) {
      made.lines[blocks.back()].end = made.lines.size();
      blocks.pop_back();
    }
    made.lines.push_back(std::move(*line));
  }
  if (!blocks.empty())
    return fail(Error{ErrorKind::BadInput,
                      "this block has no end: a line with '}'",
                      {path, made.lines[blocks.back()].number, 0, ""}});
  SAPPER_TRY(const Program tried, instantiate(made, Grammar(), Choices(ChoiceSequence{})));
  return made;
}

Result<Template> read_template(const std::string& path) {
  SAPPER_TRY(const std::string text, read_file(path, most_bytes));
  return parse_template(text, path);
}

}  // namespace sapper::fuzz
