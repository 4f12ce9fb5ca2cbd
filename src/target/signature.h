// What a serialized HloModuleProto takes and gives, read without reading the rest of it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/hlo.pb.h"
#include "hlo/literal.h"

namespace sapper::target {

// The parameters and the result as the plugins pass them: flat lists of arrays.
struct Signature {
  std::vector<proto::ShapeProto> parameters;
  bool tupled_parameters = false;  // one parameter, a tuple, whose elements these are
  bool tuple_result = false;       // the outputs are the elements of a tuple, not one array
};

// BadInput when the module states none; Unsupported when it has values that plugins do not pass (tuples inside others).
[[nodiscard]] Result<Signature> read_signature(std::string_view module);

// That the arguments are of the parameters' types and dimensions: a plugin looks at their sizes only.
[[nodiscard]] Status check_arguments(const Signature& signature, std::span<const hlo::Literal> arguments);

}  // namespace sapper::target
