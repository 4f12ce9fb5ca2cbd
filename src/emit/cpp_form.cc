// --as cpp: a GoogleTest over the PJRT C API.
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "emit/emit.h"
#include "emit/harness_files.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "target/compile_options.h"

namespace sapper::emit {
namespace {

using hlo::ElementType;
using hlo::Literal;

// Of hlo_test::Type. Types that the PJRT C API cannot pass have none.
std::string type_text(ElementType type) {
  const ElementType part = hlo::is_complex(type) ? hlo::component_type(type) : type;
  const bool is_complex = hlo::is_complex(type);
  std::string name(to_string(type));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const int bytes = hlo::host_bytes(part);
  const int bits = type == ElementType::Pred ? 8 : hlo::bit_width(part);
  const auto format = hlo::float_format(part);
  if (!format)
    return fmt::format("{{PJRT_Buffer_Type_{}, {}, {}, {}, false, 1, 0, 0, 0, hlo_test::Type::ieee}}", name, bytes,
                       bits, hlo::element_class(type) == hlo::ElementClass::Signed);
  constexpr const char* specials[] = {"ieee", "finite_with_nan", "unsigned_zero", "finite", "powers"};
  return fmt::format("{{PJRT_Buffer_Type_{}, {}, {}, {}, true, {}, {}, {}, {}, hlo_test::Type::{}}}", name, bytes, bits,
                     format->has_sign, is_complex ? 2 : 1, format->exponent_bits, format->mantissa_bits, format->bias,
                     specials[static_cast<int>(format->specials)]);
}

std::string wrapped(const std::vector<std::string>& words, const char* indent) {
  constexpr size_t most = 116;
  std::string text;
  size_t width = most;
  for (const std::string& word : words) {
    if (width + word.size() + 2 > most) {
      text += fmt::format("{}{}", text.empty() ? "" : "\n", indent);
      width = std::strlen(indent);
    } else {
      text += ' ';
      ++width;
    }
    text += word + ",";
    width += word.size() + 1;
  }
  return text;
}

std::string bytes_text(const std::string& bytes) {
  std::vector<std::string> words;
  for (const unsigned char byte : bytes) words.push_back(std::to_string(byte));
  return wrapped(words, "    ");
}

// The bit patterns of the elements, both parts of complex ones.
std::string bits_text(const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  const auto bytes = static_cast<size_t>(hlo::host_bytes(type) / (hlo::is_complex(type) ? 2 : 1));
  std::vector<std::string> words;
  for (size_t at = 0; at < literal.bytes().size() && at < static_cast<size_t>(literal.shape().host_byte_size());
       at += bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, literal.bytes().data() + at, bytes);
    words.push_back(fmt::format("{:#x}", bits));
  }
  return wrapped(words, "        ");
}

// Exactly: whole numbers as such, others in hexadecimal.
std::string real_text(double value) {
  if (std::isnan(value)) return "hlo_test::nan";
  if (std::isinf(value)) return value > 0 ? "hlo_test::inf" : "-hlo_test::inf";
  const bool is_whole = std::floor(value) == value && std::fabs(value) < 1e15;
  return is_whole ? fmt::format("{:.1f}L", value) : fmt::format("{:a}L", value);
}

std::string element_text(const Literal& literal, int64_t i) {
  const ElementType type = literal.shape().element_type();
  if (type == ElementType::U64) return fmt::format("{}.0L", static_cast<uint64_t>(literal.integer_at(i)));
  if (hlo::is_integer(type) || type == ElementType::Pred) return fmt::format("{}.0L", literal.integer_at(i));
  return real_text(literal.real_at(i));
}

std::string values_text(const Literal& literal) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (hlo::is_complex(literal.shape().element_type())) {
      words.push_back(real_text(literal.complex_at(i).real()));
      words.push_back(real_text(literal.complex_at(i).imag()));
    } else {
      words.push_back(element_text(literal, i));
    }
  }
  return wrapped(words, "        ");
}

std::string tolerance_text(const std::vector<double>& tolerance) {
  std::vector<std::string> words;
  words.reserve(tolerance.size());
  for (const double one : tolerance) words.push_back(real_text(one));
  return wrapped(words, "        ");
}

std::string test_text(const Subject& subject, const Run& run, size_t index) {
  std::string text = fmt::format("TEST({}, AgreesWithTheReference{}) {{\n", subject.name,
                                 subject.runs.size() == 1 ? "" : std::to_string(index));
  if (!run.label.empty()) text += fmt::format("  // {}\n", run.label);
  text += "  const std::vector<hlo_test::Argument> arguments = {\n";
  for (const Literal& argument : run.arguments)
    text += fmt::format("      {{{}, {{{}}}, {{  // {}\n{}}}}},\n", type_text(argument.shape().element_type()),
                        fmt::join(argument.shape().dimensions(), ", "), argument.shape().to_text(false),
                        bits_text(argument));
  text += "  };\n  const std::vector<hlo_test::Result> results = {\n";
  for (const Output& output : run.outputs)
    text += fmt::format("      {{{}, {{{}}}, {{  // {}\n{}}},\n      {{  // how far each may be\n{}}}}},\n",
                        type_text(output.expected.shape().element_type()),
                        fmt::join(output.expected.shape().dimensions(), ", "), output.expected.shape().to_text(false),
                        values_text(output.expected), tolerance_text(output.tolerance));
  return text + "  };\n  hlo_test::expect_agrees(kProgram, arguments, results);\n}\n";
}

// As the text of a raw string literal, in pieces that every compiler takes.
std::string raw_string(const std::string& text) { return fmt::format("R\"hlo({})hlo\"", text); }

}  // namespace

Result<std::vector<File>> as_cpp(const Subject& subject) {
  const target::Configuration& configuration = subject.one.options.configuration;
  std::string options;
  target::to_compile_options(configuration).SerializeToString(&options);
  std::string text = fmt::format("// {}\n// Seen on {}: {}\n#include \"hlo_test.h\"\n\nnamespace {{\n\n",
                                 subject.one.about.empty() ? subject.name : subject.one.about,
                                 subject.one.options.target.to_string(), to_text(subject.one.expected));
  text += fmt::format("// The program, to be read.\n[[maybe_unused]] constexpr const char* kHlo = {};\n\n",
                      raw_string(hlo::to_text(subject.one.module)));
  text += fmt::format("// The same as a serialized HloModuleProto.\nconstexpr unsigned char kModule[] = {{\n{}}};\n\n",
                      bytes_text(hlo::to_compilable_proto(subject.one.module)));
  text += fmt::format("// Serialized CompileOptionsProto.\nconstexpr unsigned char kOptions[] = {{\n{}}};\n\n",
                      bytes_text(options));
  text += fmt::format(
      "constexpr hlo_test::Program kProgram = {{kModule, sizeof kModule, kOptions, sizeof kOptions, {}}};\n\n",
      raw_string(configuration.init_flags));
  for (size_t k = 0; k < subject.runs.size(); ++k) text += test_text(subject, subject.runs[k], k) + "\n";
  return std::vector<File>{{subject.name + "_test.cc", text + "}  // namespace\n"},
                           {"hlo_test.h", hlo_test_h},
                           {"CMakeLists.txt", harness_cmake}};
}

}  // namespace sapper::emit
