// The grammar of shardings: {replicated}, {devices=[2,2]<=[4] last_tile_dim_replicate}, {{manual}, {maximal device=0}},
// {mesh['x'=2], [{'x'}]}; and of the lists of devices that collectives share with them: {{0,1},{2,3}}, [2,2]<=[4],
// mesh['x'=2,'y'=2] {'x'}. Each reader stands beside its writer.
#pragma once

#include <string>

#include "hlo/hlo.pb.h"
#include "hlo/shape.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// A sharding of one value stated for a tuple is spread over the leaves of `shape`, as XLA does.
[[nodiscard]] proto::OpSharding read_sharding(Scanner& scan, const Shape& shape);
void append_sharding(std::string& out, const proto::OpSharding& sharding);

// replica_groups=: fills one of the fields of the wire that hold such lists.
void read_device_groups(Scanner& scan, proto::HloInstructionProto* wire);
[[nodiscard]] bool has_device_groups(const proto::HloInstructionProto& wire);
void append_device_groups(std::string& out, const proto::HloInstructionProto& wire);

}  // namespace sapper::hlo
