// The grammar of aliasing between buffers: {0,1} (a place in a tuple), {{0}: (1, {})} of instructions, and
// { {}: (0, {}, may-alias) } and { (0, {}) } of module headers. Each reader stands beside its writer.
#pragma once

#include <string>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

using ShapeIndex = google::protobuf::RepeatedField<google::protobuf::int64>;
void read_shape_index(Scanner& scan, ShapeIndex* index);
void append_shape_index(std::string& out, const ShapeIndex& index);

using OutputOperandAliasing = google::protobuf::RepeatedPtrField<proto::OutputOperandAliasing>;
void read_output_operand_aliasing(Scanner& scan, OutputOperandAliasing* aliasing);
void append_output_operand_aliasing(std::string& out, const OutputOperandAliasing& aliasing);

[[nodiscard]] proto::HloInputOutputAliasProto read_input_output_alias(Scanner& scan);
void append_input_output_alias(std::string& out, const proto::HloInputOutputAliasProto& alias);

[[nodiscard]] proto::HloBufferDonorProto read_buffer_donor(Scanner& scan);
void append_buffer_donor(std::string& out, const proto::HloBufferDonorProto& donors);

}  // namespace sapper::hlo
