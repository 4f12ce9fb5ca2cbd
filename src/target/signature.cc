#include "target/signature.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <optional>

namespace sapper::target {
namespace {

bool is_tuple(const proto::ShapeProto& shape) { return shape.element_type() == proto::TUPLE; }

// host_program_shape. Skips over the computations, however many there are.
std::optional<proto::ProgramShapeProto> program_shape(std::string_view module) {
  namespace pb = google::protobuf;
  using pb::internal::WireFormatLite;
  constexpr uint32_t wanted = WireFormatLite::MakeTag(proto::HloModuleProto::kHostProgramShapeFieldNumber,
                                                      WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(module.data()), static_cast<int>(module.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&stream, tag)) return std::nullopt;
      continue;
    }
    uint32_t size = 0;
    std::string bytes;
    proto::ProgramShapeProto shape;
    if (!stream.ReadVarint32(&size) || !stream.ReadString(&bytes, static_cast<int>(size))) return std::nullopt;
    if (!shape.ParseFromString(bytes)) return std::nullopt;
    return shape;
  }
  return std::nullopt;
}

bool fits(const proto::ShapeProto& parameter, const hlo::Shape& argument) {
  return parameter.element_type() == static_cast<int>(argument.element_type()) &&
         std::ranges::equal(parameter.dimensions(), argument.dimensions());
}

}  // namespace

Result<Signature> read_signature(std::string_view module) {
  const auto shape = program_shape(module);
  if (!shape)
    return fail(ErrorKind::BadInput, "the module is damaged or states no program shape (HloModuleProto field 4)");
  Signature signature;
  signature.tupled_parameters = shape->parameters_size() == 1 && is_tuple(shape->parameters(0));
  const auto& parameters = signature.tupled_parameters ? shape->parameters(0).tuple_shapes() : shape->parameters();
  signature.parameters.assign(parameters.begin(), parameters.end());
  if (std::ranges::any_of(signature.parameters, is_tuple))
    return fail(ErrorKind::Unsupported, "a parameter is a tuple beside or inside others, which plugins do not take");
  signature.tuple_result = is_tuple(shape->result());
  if (std::ranges::any_of(shape->result().tuple_shapes(), is_tuple))
    return fail(ErrorKind::Unsupported, "the result is a tuple inside a tuple, which plugins do not give");
  return signature;
}

Status check_arguments(const Signature& signature, std::span<const hlo::Literal> arguments) {
  if (arguments.size() != signature.parameters.size())
    return fail(ErrorKind::BadInput, "the program takes {} arguments, not {}", signature.parameters.size(),
                arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!fits(signature.parameters[i], arguments[i].shape()))
      return fail(ErrorKind::BadInput, "argument {} is of shape {}; the program's parameter is not", i,
                  arguments[i].shape().to_text(false));
  return {};
}

}  // namespace sapper::target
