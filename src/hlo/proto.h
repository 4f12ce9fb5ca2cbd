// HloModuleProto, binary: read and written. Unknown fields survive a round trip.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo {

// Reads a serialized HloModuleProto or HloModuleProtoWithConfig (told apart by content). Does not verify: see
// hlo/verifier.h; but operands that are unknown or come after their user, unknown opcodes, and calls to unknown
// computations are errors here, since the in-memory form cannot say them. Linear; ~1 microsecond an instruction.
[[nodiscard]] Result<Module> parse_proto(std::string_view bytes);

// Serialized HloModuleProto. Instructions and computations without an id are numbered.
[[nodiscard]] std::string to_proto(const Module& module);
// Serialized HloModuleProtoWithConfig.
[[nodiscard]] std::string to_proto_with_config(const Module& module);

[[nodiscard]] Result<Shape> from_proto(const proto::ShapeProto& shape);
void to_proto(const Shape& shape, proto::ShapeProto* out);
[[nodiscard]] Result<Literal> from_proto(const proto::LiteralProto& literal);
void to_proto(const Literal& literal, const Shape& shape_with_layout, proto::LiteralProto* out);

// Reads a file in whichever form it holds: HLO text, HloModuleProto, HloModuleProtoWithConfig, any of them in zstd.
// Errors carry the file name.
[[nodiscard]] Result<Module> read_module(const std::string& path);
// The same for bytes in memory; `name` stands for the file in errors.
[[nodiscard]] Result<Module> parse_module(std::string_view bytes, const std::string& name);

}  // namespace sapper::hlo
