// Any text either is refused, with a place, or reads as a program whose parts refer to what is there.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "llo/invariants.h"
#include "llo/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace sapper::llo;                                             // NOLINT(google-build-using-namespace)
  const auto program = parse_program({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!program) {
    SAPPER_ASSERT(program.error().kind == sapper::ErrorKind::BadInput && !program.error().message.empty());
    SAPPER_ASSERT(program.error().where.line > 0 && program.error().where.column > 0);
    return 0;
  }
  const size_t count = program->instructions.size();
  for (const Instruction& instruction : program->instructions) {
    SAPPER_ASSERT(!instruction.opcode.empty() && instruction.line > 0);
    SAPPER_ASSERT(instruction.region == 0 || instruction.region < program->regions.size());
    SAPPER_ASSERT(program->bundles.empty() || instruction.bundle < program->bundles.size());
    SAPPER_ASSERT(program->hlo_of(instruction).size() <= size);
  }
  for (const Region& region : program->regions) SAPPER_ASSERT(region.first <= count);
  size_t bundled = 0;
  for (const Bundle& bundle : program->bundles) {
    SAPPER_ASSERT(bundle.first == bundled);
    bundled += bundle.count;
  }
  SAPPER_ASSERT(program->bundles.empty() || bundled == count);
  for (const Violation& violation : check_invariants(*program, Generation{})) SAPPER_ASSERT(violation.line > 0);
  return 0;
}
