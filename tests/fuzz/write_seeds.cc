// What the fuzzers start from: `write_seeds FOLDER FILE...` writes each module file in the form that each fuzzer reads,
// into FOLDER/FUZZER/ in place of what is there, an archive of arrays into FOLDER/npz/, and the words of HLO text into
// FOLDER/words, a dictionary.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/npz.h"
#include "inputs/sampler.h"

namespace {

using namespace sapper;

template <class Value>
Value wanted(Result<Value> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().describe());
  std::exit(2);
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  if (const Status written = write_file(path, bytes); !written) {
    fmt::print(stderr, "{}\n", written.error().describe());
    std::exit(2);
  }
}

std::string words_of_text() {
  std::string words;
  const auto add = [&](std::string_view word) { words += fmt::format("\"{}\"\n", word); };
#define ADD(name, text) add(text);
  SAPPER_HLO_OPCODES(ADD)
#undef ADD
  for (int type = 0; type <= static_cast<int>(hlo::ElementType::Buffer); ++type) {
    const auto element = static_cast<hlo::ElementType>(type);
    if (hlo::is_array_type(element)) add(hlo::to_string(element));
  }
  for (const char* word : {"ROOT", "ENTRY", "HloModule", "{1,0:T(8,128)(2,1)S(1)}", "[<=", "to_apply=", "calls=",
                           "dimensions={", "metadata={", "sharding={", "window={size=", "slice={", "replica_groups={",
                           "is_scheduled=true", "backend_config={", "{...}"})
    add(word);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  for (const char* fuzzer : {"hlo_proto", "hlo_text", "eval", "npz"}) std::filesystem::remove_all(folder / fuzzer);
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path file = argv[i];
    const hlo::Module module = wanted(hlo::read_module(file));
    const std::string name = file.stem();
    hlo::PrintOptions brief;
    brief.operand_shapes = false;
    brief.percent = false;
    write(folder / "hlo_proto" / name, i % 2 == 0 ? hlo::to_proto(module) : hlo::to_proto_with_config(module));
    write(folder / "hlo_text" / name, i % 2 == 0 ? hlo::to_text(module) : hlo::to_text(module, brief));
    write(folder / "eval" / name, hlo::to_text(module, brief));
    inputs::Npz arguments;
    for (const hlo::Literal& argument : wanted(inputs::sample(module, hlo::fingerprint(module), 0)))
      arguments[fmt::format("in{}", arguments.size())] = inputs::to_npy(argument);
    const std::filesystem::path archive = folder / "npz" / name;
    std::filesystem::create_directories(archive.parent_path());
    if (!inputs::write_npz(archive, arguments)) return 2;
  }
  write(folder / "words", words_of_text());
  return 0;
}
