// A worker whose compiler is wrong: it compiles some pieces as another program. PLANTS says which and how:
// FINGERPRINT=KIND,... (piece_fingerprint, a kind of tests/check/hlo_mutants.h); or any=KIND: every one that has
// something of the kind.
#include <cstdlib>
#include <string>

#include "hlo/proto.h"
#include "isolate/piece.h"
#include "tests/check/hlo_mutants.h"
#include "tests/target/worker_between.h"

namespace sapper {
namespace {

// The module that is compiled in place of this one.
std::string planted(std::string bytes) {
  const char* const plants = std::getenv("PLANTS");
  const auto module = hlo::parse_proto(bytes);
  if (plants == nullptr || !module) return bytes;
  const std::string text(plants);
  const std::string fingerprint = text.starts_with("any=") ? "any" : isolate::piece_fingerprint(*module);
  const size_t at = text.find(fingerprint + "=");
  if (at == std::string::npos) return bytes;
  const size_t kind = at + fingerprint.size() + 1;
  const std::string wanted = text.substr(kind, text.find(',', kind) - kind);
  for (const check::HloMutant& mutant : check::mutants_of(*module, 1))
    if (mutant.kind == wanted) return hlo::to_compilable_proto(mutant.module);
  return bytes;
}

}  // namespace
}  // namespace sapper

int main(int argc, char** argv) {
  return argc == 3 ? sapper::target::run_worker_between(std::atoi(argv[2]), {.module = sapper::planted}) : 2;
}
