#include "fuzz/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hlo/element_type.h"

namespace sapper::fuzz {
namespace {

constexpr int most_nested = 50;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The least or the largest number of a type, as HLO text writes it.
Result<TemplateValue> limit_of(std::string_view name, bool lowest) {
  const auto type = hlo::parse_element_type(name);
  if (!type || !(hlo::is_integer(*type) || hlo::is_float(*type) || *type == hlo::ElementType::Pred))
    return fail(ErrorKind::BadInput, "'{}' is no type with a lowest and a highest number", name);
  if (*type == hlo::ElementType::Pred) return TemplateValue(lowest ? "false" : "true");
  if (hlo::is_float(*type)) {
    const hlo::FloatFormat format = *hlo::float_format(*type);
    if (format.specials == hlo::FloatFormat::Specials::IEEE) return TemplateValue(lowest ? "-inf" : "inf");
    return TemplateValue(fmt::format("{}{}", lowest ? "-" : "", hlo::largest_finite(format)));
  }
  const bool is_signed = hlo::element_class(*type) == hlo::ElementClass::Signed;
  const uint64_t highest = (~uint64_t{0} >> (64 - hlo::bit_width(*type))) >> (is_signed ? 1 : 0);
  if (lowest) return TemplateValue(is_signed ? static_cast<int64_t>(~highest) : int64_t{0});
  if (highest > INT64_MAX) return TemplateValue(fmt::format("{}", highest));
  return TemplateValue(static_cast<int64_t>(highest));
}

class Evaluation {
 public:
  Evaluation(std::string_view text, const TemplateValues& values) : text_(text), values_(values) {}

  Result<TemplateValue> run() {
    SAPPER_TRY(TemplateValue value, sum());
    skip_spaces();
    if (at_ < text_.size()) return wrong(fmt::format("'{}' is not expected here", text_.substr(at_)));
    return value;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string message) const {
    return fail(Error{ErrorKind::BadInput, std::move(message), {"", 0, static_cast<int>(at_) + 1, ""}});
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<int64_t> number_of(const TemplateValue& value) const {
    if (const auto* const number = std::get_if<int64_t>(&value)) return *number;
    return wrong(fmt::format("'{}' is no number", std::get<std::string>(value)));
  }

  // Both sides of an operator are numbers.
  template <class Operation>
  Status combine(TemplateValue& left, Result<TemplateValue> right, Operation operation) const {
    SAPPER_TRY(const TemplateValue value, std::move(right));
    SAPPER_TRY(const int64_t a, number_of(left));
    SAPPER_TRY(const int64_t b, number_of(value));
    int64_t result = 0;
    if (operation(a, b, &result)) return wrong(fmt::format("{} and {} have no such result", a, b));
    left = result;
    return {};
  }

  static bool quotient(int64_t a, int64_t b, int64_t* result) {
    if (b <= 0) return true;
    *result = a / b;
    return false;
  }
  static bool remainder(int64_t a, int64_t b, int64_t* result) {
    if (b <= 0) return true;
    *result = a % b;
    return false;
  }

  Result<TemplateValue> sum() {
    SAPPER_TRY(TemplateValue value, product());
    while (true) {
      if (take('+'))
        SAPPER_CHECKED(
            combine(value, product(), [](auto a, auto b, auto* r) { return __builtin_add_overflow(a, b, r); }));
      else if (take('-'))
        SAPPER_CHECKED(
            combine(value, product(), [](auto a, auto b, auto* r) { return __builtin_sub_overflow(a, b, r); }));
      else
        return value;
    }
  }

  Result<TemplateValue> product() {
    SAPPER_TRY(TemplateValue value, atom());
    while (true) {
      if (take('*'))
        SAPPER_CHECKED(combine(value, atom(), [](auto a, auto b, auto* r) { return __builtin_mul_overflow(a, b, r); }));
      else if (take('/'))
        SAPPER_CHECKED(combine(value, atom(), quotient));
      else if (take('%'))
        SAPPER_CHECKED(combine(value, atom(), remainder));
      else
        return value;
    }
  }

  Result<TemplateValue> atom() {
    if (++nested_ > most_nested) return wrong("too many parentheses in each other");
    Result<TemplateValue> value = inner_atom();
    --nested_;
    return value;
  }

  Result<TemplateValue> inner_atom() {
    skip_spaces();
    if (take('(')) {
      SAPPER_TRY(TemplateValue value, sum());
      if (!take(')')) return wrong("')' is missing");
      return value;
    }
    const size_t start = at_;
    if (at_ < text_.size() && is_digit(text_[at_])) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (error != std::errc()) return wrong("this number is too large");
      at_ = static_cast<size_t>(end - text_.data());
      return TemplateValue(number);
    }
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > start && is_digit(text_[at_])))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) return wrong("a number or a name is missing");
    if (take('(')) return function(name);
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    at_ = start;
    return wrong(fmt::format("nothing is called '{}': a line 'let {} = ...' above would", name, name));
  }

  Result<TemplateValue> function(std::string_view name) {
    SAPPER_TRY(TemplateValue first, sum());
    if (name == "lowest" || name == "highest") {
      if (!take(')')) return wrong("')' is missing");
      return limit_of(to_text(first), name == "lowest");
    }
    if (name != "min" && name != "max")
      return wrong(fmt::format("there is no function '{}'; there are min, max, lowest, highest", name));
    if (!take(',')) return wrong("',' is missing");
    const bool least = name == "min";
    SAPPER_CHECKED(combine(first, sum(), [least](auto a, auto b, auto* r) {
      *r = least ? std::min(a, b) : std::max(a, b);
      return false;
    }));
    if (!take(')')) return wrong("')' is missing");
    return first;
  }

  std::string_view text_;
  const TemplateValues& values_;
  size_t at_ = 0;
  int nested_ = 0;
};

}  // namespace

std::string to_text(const TemplateValue& value) {
  if (const auto* const number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

Result<TemplateValue> evaluate(std::string_view text, const TemplateValues& values) {
  return Evaluation(text, values).run();
}

Result<int64_t> evaluate_number(std::string_view text, const TemplateValues& values) {
  SAPPER_TRY(const TemplateValue value, evaluate(text, values));
  if (const auto* const number = std::get_if<int64_t>(&value)) return *number;
  return fail(ErrorKind::BadInput, "'{}' is no number", std::get<std::string>(value));
}

}  // namespace sapper::fuzz
