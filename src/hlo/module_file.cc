// Module files in whichever form: told apart by their content alone.
#include <algorithm>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::hlo {
namespace {

// What a file that is no HLO begins with, so that its owner hears what he has.
struct OtherFormat {
  std::string_view prefix;
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view give_hlo = "give HLO text or a serialized HloModuleProto";

// No serialized module begins like these.
constexpr OtherFormat other_binaries[] = {
    {"\x28\xb5\x2f\xfd", "zstd data", "decompress it first"},
    {"\x1f\x8b", "gzip data", "decompress it first"},
    {"PK\x03\x04", "a zip or npz archive", give_hlo},
    {"\x93NUMPY", "a NumPy array", give_hlo},
    {"\177ELF", "a program or shared library", give_hlo},
    {"ML\xefR", "MLIR bytecode, such as StableHLO", "convert it to HLO"},
};

// After white space.
constexpr OtherFormat other_texts[] = {
    {"module @", "MLIR text, such as StableHLO", "convert it to HLO"},
    {"module {", "MLIR text, such as StableHLO", "convert it to HLO"},
    {"module attributes", "MLIR text, such as StableHLO", "convert it to HLO"},
    {"name: \"", "a HloModuleProto in protobuf's text form", "give HLO text or the binary form"},
    {"hlo_module {", "a HloProto in protobuf's text form", "give HLO text or the binary form"},
    {"{ \"", "JSON", give_hlo},
    {"{\"", "JSON", give_hlo},
    {"<", "HTML or XML", give_hlo},
    {"digraph", "a Graphviz graph", give_hlo},
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// HLO text has no control characters but white space; a serialized message has some within its first fields (the tags
// of its computations, lengths).
bool looks_like_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return static_cast<uint8_t>(c) >= 0x20 || is_space(c) || c == '\f' || c == '\v'; });
}

std::string_view without_leading_space(std::string_view bytes) {
  const auto* const start = std::find_if_not(bytes.begin(), bytes.end(), is_space);
  return bytes.substr(static_cast<size_t>(start - bytes.begin()));
}

Status refuse_other(std::span<const OtherFormat> formats, std::string_view bytes) {
  for (const OtherFormat& format : formats)
    if (bytes.substr(0, format.prefix.size()) == format.prefix)
      return fail(ErrorKind::BadInput, "this is {}, not HLO; {}", format.what, format.advice);
  return {};
}

Result<Module> parse_any(std::string_view bytes) {
  const std::string_view content = without_leading_space(bytes);
  if (content.empty())
    return fail(ErrorKind::BadInput, "the file {}; {}", bytes.empty() ? "is empty" : "holds only white space",
                give_hlo);
  SAPPER_CHECKED(refuse_other(other_binaries, bytes));
  constexpr size_t sample = 4096;
  if (!looks_like_text(bytes.substr(0, sample))) return parse_proto(bytes);
  SAPPER_CHECKED(refuse_other(other_texts, content));
  return parse_text(bytes);
}

}  // namespace

Result<Module> parse_module(std::string_view bytes, const std::string& name) {
  Result<Module> module = parse_any(bytes);
  if (!module) module.error().where.file = name;
  return module;
}

Result<Module> read_module(const std::string& path) {
  SAPPER_TRY(const std::string bytes, read_file(path));
  return parse_module(bytes, path);
}

}  // namespace sapper::hlo
