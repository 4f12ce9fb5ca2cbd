// Configurations as the compilers read them.
#include "target/compile_options.h"

#include <charconv>

namespace sapper::target {
namespace {

// The whole of `text` as a T.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

OptionValue parse_value(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto integer = number<int64_t>(text)) return *integer;
  if (const auto real = number<double>(text)) return *real;
  return std::string(text);
}

// XLA takes strings for options of every type but bool, and is strict about the type of anything else.
void set_override(const OptionValue& value, proto::OptionOverrideProto* out) {
  if (const auto* boolean = std::get_if<bool>(&value)) {
    out->set_bool_field(*boolean);
  } else {
    out->set_string_field(to_string(value));
  }
}

}  // namespace

std::string to_string(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  return fmt::format("{}", std::get<double>(value));
}

Result<std::pair<std::string, OptionValue>> parse_option(std::string_view text) {
  std::string_view name = text.substr(0, text.find('='));
  while (name.starts_with('-')) name.remove_prefix(1);
  if (name.empty() || text.find('=') == std::string_view::npos)
    return fail(ErrorKind::BadInput, "option \"{}\": write NAME=VALUE, as in xla_allow_excess_precision=false", text);
  return std::pair(std::string(name), parse_value(text.substr(text.find('=') + 1)));
}

proto::CompileOptionsProto to_compile_options(const Configuration& configuration) {
  proto::CompileOptionsProto options;
  auto* build = options.mutable_executable_build_options();
  build->set_num_replicas(1);
  build->set_num_partitions(1);
  for (const auto& [name, value] : configuration.options)
    set_override(value, &(*options.mutable_env_option_overrides())[name]);
  return options;
}

}  // namespace sapper::target
