// The grammar of meshes and their axes, which named shardings and the device groups of collectives are written over:
// mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)), axes 'x' and parts of axes 'y':(1)2.
#pragma once

#include <fmt/ranges.h>

#include <string>

#include "hlo/hlo.pb.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

[[nodiscard]] bool mesh_starts(const Scanner& scan);
[[nodiscard]] proto::MeshProto read_mesh(Scanner& scan);
void append_mesh(std::string& out, const proto::MeshProto& mesh);

using AxisRefs = google::protobuf::RepeatedPtrField<proto::AxisRefProto>;
void read_axis(Scanner& scan, const proto::MeshProto& mesh, proto::AxisRefProto* axis);
void read_axes(Scanner& scan, const proto::MeshProto& mesh, AxisRefs* axes);
// Without braces.
void append_axes(std::string& out, const proto::MeshProto& mesh, const AxisRefs& axes);

// [2,2]T(1,0), [4]: a permutation of consecutive device numbers.
template <class Message, class Integer>
void read_iota(Scanner& scan, google::protobuf::RepeatedField<Message>* reshape,
               google::protobuf::RepeatedField<Integer>* transpose) {
  scan.list('[', ']', "in reshape dimensions", [&] { reshape->Add(scan.integer("a reshape dimension")); });
  if (reshape->size() <= 1) {
    transpose->Add(0);
    return;
  }
  if (!scan.accept_word("T")) return scan.expected("T(...), the transposition of the reshape dimensions");
  scan.list('(', ')', "in a transposition", [&] {
    const int64_t dimension = scan.integer("a dimension number");
    if (dimension < 0 || dimension >= reshape->size()) scan.fail("a transposition names a dimension that is not there");
    transpose->Add(static_cast<Integer>(dimension));
  });
  if (transpose->size() != reshape->size()) scan.fail("a transposition must name every reshape dimension");
}

template <class Message, class Integer>
void append_iota(std::string& out, const google::protobuf::RepeatedField<Message>& reshape,
                 const google::protobuf::RepeatedField<Integer>& transpose) {
  fmt::format_to(std::back_inserter(out), "[{}]", fmt::join(reshape, ","));
  if (reshape.size() > 1) fmt::format_to(std::back_inserter(out), "T({})", fmt::join(transpose, ","));
}

}  // namespace sapper::hlo
