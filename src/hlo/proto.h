// HloModuleProto, binary: read and written. Unknown fields survive a round trip.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo {

// Reads a serialized HloModuleProto, HloModuleProtoWithConfig or HloProto (its module; not its buffer assignment), told
// apart by content. Does not verify: see hlo/verifier.h; but what the in-memory form cannot say is an error here:
// operands that are unknown or come after their user, unknown opcodes, calls to computations that do not come before.
// Linear; about half a microsecond an instruction.
//
// - Operands, roots and schedules may name an instruction by its whole id or, as XLA accepts, by the lower 32 bits.
// - A schedule orders the instructions (Module::is_scheduled); computations that it leaves out keep the listed order.
// - Fields of a singular message stated twice are an error, though protobuf would merge them: no writer does it.
[[nodiscard]] Result<Module> parse_proto(std::string_view bytes);

// Serialized HloModuleProto: what was read and not changed is written as the same message, byte for byte when it was
// serialized deterministically (exceptions: references by lower 32 bits come out as whole ids; program shapes and
// schedule sequences that were left out are written). Instructions and computations without an id are numbered.
[[nodiscard]] std::string to_proto(const Module& module);

// The same for a compiler: arrays without a layout get the row-major one, and names that several computations use
// become unique, as XLA's own text parser does it.
[[nodiscard]] std::string to_compilable_proto(const Module& module);

// Serialized HloModuleProtoWithConfig.
[[nodiscard]] std::string to_proto_with_config(const Module& module);

[[nodiscard]] Result<Shape> from_proto(const proto::ShapeProto& shape);
void to_proto(const Shape& shape, proto::ShapeProto* out);
[[nodiscard]] Result<Literal> from_proto(const proto::LiteralProto& literal);
void to_proto(const Literal& literal, const Shape& shape_with_layout, proto::LiteralProto* out);

// Reads a file in whichever form it holds: HLO text, HloModuleProto, HloModuleProtoWithConfig, any of them in zstd.
// Errors carry the file name.
[[nodiscard]] Result<Module> read_module(const std::string& path);
// The same for bytes in memory, decompressed; `name` stands for the file in errors.
[[nodiscard]] Result<Module> parse_module(std::string_view bytes, const std::string& name);

}  // namespace sapper::hlo
