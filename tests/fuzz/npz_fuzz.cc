// Any bytes either are refused or read as arrays, each of which becomes a literal of its own dimensions or is refused.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "inputs/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace sapper;
  const auto arrays = inputs::parse_npz({reinterpret_cast<const char*>(data), size}, "bytes.npz");
  if (!arrays) {
    SAPPER_ASSERT(arrays.error().message.find("bytes.npz") != std::string::npos);
    return 0;
  }
  for (const auto& [name, array] : *arrays) {
    for (const hlo::ElementType type :
         {hlo::ElementType::F32, hlo::ElementType::Pred, hlo::ElementType::S4, hlo::ElementType::C128}) {
      const auto literal = inputs::to_literal(array, hlo::Shape::array(type, array.dimensions), name);
      SAPPER_ASSERT(literal || literal.error().message.find(name) != std::string::npos);
    }
  }
  return 0;
}
