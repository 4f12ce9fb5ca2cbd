// From template and choices to a program: variables chosen, blocks repeated, the text read, holes filled.
#include "fuzz/template.h"

#include <algorithm>
#include <map>

#include "fuzz/expression.h"
#include "fuzz/holes.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::fuzz {
namespace {

using hlo::ElementType;

constexpr int64_t most_lines = 20000;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (true) {
    const size_t comma = list.find(',');
    words.emplace_back(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

class Instantiation {
 public:
  Instantiation(const Template& skeleton, const Grammar& grammar, Choices& choices)
      : skeleton_(skeleton), grammar_(grammar), choices_(choices) {}

  Result<hlo::Module> run() {
    SAPPER_CHECKED(lines(0, skeleton_.lines.size()));
    auto module = hlo::parse_text(text_);
    if (!module) return placed(std::move(module).error());
    hlo::Module filled = fill_holes(*module, holes_, grammar_, choices_);
    if (Status verified = hlo::verify(filled); !verified) {
      Error error = std::move(verified).error();
      error.message += with_values();
      return placed(std::move(error));
    }
    return filled;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const TemplateLine& line, Error error, size_t column = 0) const {
    error.where.file = skeleton_.path;
    error.where.line = line.number;
    error.where.column += static_cast<int>(error.where.column > 0 ? line.column + column : 0);
    return tl::unexpected<Error>(std::move(error));
  }

  // An error of the text that was made, said of the template.
  [[nodiscard]] tl::unexpected<Error> placed(Error error) const {
    const int made = error.where.line;
    error.where.file = skeleton_.path;
    if (made > 0 && made <= std::ssize(made_from_)) {
      error.where.line = made_from_[static_cast<size_t>(made - 1)];
      error.where.column = 0;
    }
    return tl::unexpected<Error>(std::move(error));
  }

  [[nodiscard]] std::string with_values() const {
    std::string text;
    for (const auto& [name, value] : values_)
      text += fmt::format("{}{} = {}", text.empty() ? " (with " : ", ", name, to_text(value));
    return text.empty() ? "" : text + ")";
  }

  Status lines(size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      const TemplateLine& line = skeleton_.lines[i];
      switch (line.kind) {
        case TemplateLine::Kind::Let: {
          auto value = chosen(line.text);
          if (!value) return wrong(line, std::move(value).error());
          values_[line.name] = std::move(*value);
          break;
        }
        case TemplateLine::Kind::Repeat: {
          auto count = chosen(line.text);
          const auto* const times = count ? std::get_if<int64_t>(&*count) : nullptr;
          if (!count) return wrong(line, std::move(count).error());
          if (times == nullptr) return wrong(line, {ErrorKind::BadInput, "a block is repeated a number of times", {}});
          for (int64_t k = 1; k <= *times; ++k) {
            values_[line.name] = k;
            SAPPER_CHECKED(lines(i + 1, line.end));
          }
          values_[line.name] = *times;
          i = line.end;
          break;
        }
        case TemplateLine::Kind::End: break;
        case TemplateLine::Kind::Text: SAPPER_CHECKED(text(line));
      }
    }
    return {};
  }

  // `text` with its $variables and ${expressions} replaced.
  Result<std::string> replaced(const TemplateLine& line) const {
    const std::string_view from = line.text;
    std::string made;
    for (size_t at = 0; at < from.size();) {
      if (from[at] != '$') {
        made += from[at++];
        continue;
      }
      size_t begin = at + 1, end = begin, after = 0;
      if (begin < from.size() && from[begin] == '{') {
        ++begin;
        end = from.find('}', begin);
        if (end == std::string_view::npos)
          return wrong(line, {ErrorKind::BadInput, "'}' is missing", {"", 0, static_cast<int>(at) + 1, ""}});
        after = end + 1;
      } else {
        const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
        while (end < from.size() && in_name(from[end])) ++end;
        after = end;
      }
      auto value = evaluate(from.substr(begin, end - begin), values_);
      if (!value) return wrong(line, std::move(value).error(), begin);
      made += to_text(*value);
      at = after;
    }
    return made;
  }

  Status text(const TemplateLine& line) {
    if (std::ssize(made_from_) >= most_lines)
      return wrong(line, {ErrorKind::BadInput, fmt::format("more than {} lines of HLO are made", most_lines), {}});
    SAPPER_TRY(std::string made, replaced(line));
    if (auto hole = take_hole(made, holes_.size()); !hole)
      return wrong(line, std::move(hole).error());
    else if (*hole)
      holes_.push_back(std::move(**hole));
    text_ += made + "\n";
    made_from_.push_back(line.number);
    return {};
  }

  // What a variable is, out of what it may be.
  Result<TemplateValue> chosen(std::string_view may) {
    may = trimmed(may);
    if (may.starts_with('{') && may.ends_with('}')) return one_of(words_of(may.substr(1, may.size() - 2)));
    if (may.starts_with("type ")) return a_type(trimmed(may.substr(5)));
    if (may.starts_with("size <= ")) {
      SAPPER_TRY(const int64_t most, evaluate_number(may.substr(8), values_));
      return TemplateValue(choose_size(grammar_, choices_, most));
    }
    if (const size_t dots = may.find(".."); dots != std::string_view::npos) {
      SAPPER_TRY(const int64_t low, evaluate_number(may.substr(0, dots), values_));
      SAPPER_TRY(const int64_t high, evaluate_number(may.substr(dots + 2), values_));
      if (low > high || high - low > 1'000'000) return fail(ErrorKind::BadInput, "{}..{} is no range", low, high);
      return TemplateValue(choices_.between(low, high));
    }
    if (const size_t k = may.find('k');
        k != std::string_view::npos && k > 0 && std::isdigit(static_cast<unsigned char>(may[0])) != 0)
      return a_multiple(may, k);
    return evaluate(may, values_);
  }

  // 128k, 8k+1, 128k-1: k is 1 to 4.
  Result<TemplateValue> a_multiple(std::string_view may, size_t k) {
    TemplateValues values = values_;
    values["k"] = choices_.between(1, 4);
    return evaluate(fmt::format("{}*{}", may.substr(0, k), may.substr(k)), values);
  }

  // Words, of which those that are types are of the grammar.
  Result<TemplateValue> one_of(std::vector<std::string> words) {
    std::erase_if(words, [&](const std::string& word) {
      const auto type = hlo::parse_element_type(word);
      return type && !grammar_.takes(hlo::Opcode::Parameter, *type);
    });
    if (words.empty()) return fail(ErrorKind::BadInput, "the target takes none of these types");
    const std::string& word = choices_.of(words);
    if (std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; }) && !word.empty())
      return evaluate(word, values_);
    return TemplateValue(word);
  }

  Result<TemplateValue> a_type(std::string_view of) {
    const std::map<std::string_view, bool (*)(ElementType)> classes = {
        {"any", [](ElementType) { return true; }},
        {"integer", hlo::is_integer},
        {"float", hlo::is_float},
        {"complex", hlo::is_complex},
        {"number", [](ElementType type) { return hlo::is_integer(type) || hlo::is_float(type); }},
        {"narrow", [](ElementType type) { return hlo::bit_width(type) <= 8 && type != ElementType::Pred; }},
        {"index", [](ElementType type) { return hlo::is_integer(type) && hlo::bit_width(type) >= 8; }}};
    const auto found = classes.find(of);
    if (found == classes.end())
      return fail(ErrorKind::BadInput, "'{}' is no class of types: any, integer, float, complex, number, narrow, index",
                  of);
    const auto type = choose_type(grammar_, choices_, [&](ElementType t) {
      return found->second(t) && grammar_.takes(hlo::Opcode::Parameter, t);
    });
    if (!type) return fail(ErrorKind::BadInput, "the target takes no type of the class '{}'", of);
    return TemplateValue(std::string(to_string(*type)));
  }

  const Template& skeleton_;
  const Grammar& grammar_;
  Choices& choices_;
  TemplateValues values_;
  std::string text_;            // the HLO
  std::vector<int> made_from_;  // by its lines: the template's
  std::vector<Hole> holes_;
};

}  // namespace

Result<Program> instantiate(const Template& skeleton, const Grammar& grammar, Choices choices) {
  SAPPER_TRY(hlo::Module module, Instantiation(skeleton, grammar, choices).run());
  return Program{std::move(module), choices.made()};
}

}  // namespace sapper::fuzz
