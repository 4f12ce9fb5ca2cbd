// Plain fields of the wire schema as attributes of HLO text: read and written by their descriptors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// A field of HloInstructionProto by its path, such as gather_dimension_numbers.offset_dims.
class WireField {
 public:
  explicit WireField(std::string_view path);

  void read(Scanner& scan, proto::HloInstructionProto& wire) const;
  // Whether the field is set, to something else than its default and `implied`.
  [[nodiscard]] bool is_set(const proto::HloInstructionProto& wire, int64_t implied) const;
  void write(std::string& out, const proto::HloInstructionProto& wire) const;

 private:
  const google::protobuf::Message* holder(const proto::HloInstructionProto& wire) const;

  std::vector<const google::protobuf::FieldDescriptor*> path_;  // the last one is the field itself
};

}  // namespace sapper::hlo
