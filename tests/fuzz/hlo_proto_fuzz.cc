// Any bytes, as a module file holds them, either are refused or read as a module that the verifier can judge and that
// round trips: what is written reads back as the same.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace sapper::hlo;
  const auto module = parse_module({reinterpret_cast<const char*>(data), size}, "bytes");
  if (!module) {
    SAPPER_ASSERT(module.error().kind == sapper::ErrorKind::BadInput && !module.error().message.empty());
    return 0;
  }
  const auto verdict = verify(*module);
  SAPPER_ASSERT(verdict || !verdict.error().message.empty());
  const std::string written = to_proto_with_config(*module);
  const auto again = parse_proto(written);
  SAPPER_ASSERT(again.has_value());
  SAPPER_ASSERT(to_proto_with_config(*again) == written);
  SAPPER_ASSERT(fingerprint(*again) == fingerprint(*module));
  return 0;
}
