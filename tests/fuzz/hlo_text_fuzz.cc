// Any text either is refused, with a place, or reads as a module that the verifier can judge and whose text reads back
// to the same text; and the wire form of a module that it accepts can be written and read.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace sapper::hlo;
  const auto module = parse_text({reinterpret_cast<const char*>(data), size});
  if (!module) {
    SAPPER_ASSERT(module.error().kind == sapper::ErrorKind::BadInput && !module.error().message.empty());
    SAPPER_ASSERT(module.error().where.line > 0 && module.error().where.column > 0);
    return 0;
  }
  const auto verdict = verify(*module);
  SAPPER_ASSERT(verdict || !verdict.error().message.empty());
  for (const bool operand_shapes : {true, false}) {
    PrintOptions options;
    options.operand_shapes = operand_shapes;
    const std::string written = to_text(*module, options);
    const auto again = parse_text(written);
    SAPPER_ASSERT(again.has_value());
    SAPPER_ASSERT(to_text(*again, options) == written);
  }
  if (verdict) SAPPER_ASSERT(parse_proto(to_proto(*module)).has_value());
  return 0;
}
