#include "hlo/text_sharding.h"

#include <fmt/ranges.h>

#include <array>

#include "hlo/text_mesh.h"
#include "hlo/text_metadata.h"

namespace sapper::hlo {
namespace {

using proto::OpSharding;

struct TypeWord {
  std::string_view word;
  OpSharding::Type type;
};
constexpr std::array<TypeWord, 5> type_words = {{{"replicated", proto::OpSharding_Type_REPLICATED},
                                                 {"maximal", proto::OpSharding_Type_MAXIMAL},
                                                 {"manual", proto::OpSharding_Type_MANUAL},
                                                 {"unknown", proto::OpSharding_Type_UNKNOWN},
                                                 {"unreduced", proto::OpSharding_Type_UNREDUCED}}};

std::optional<OpSharding::Type> accept_type(Scanner& scan) {
  for (const TypeWord& entry : type_words)
    if (scan.accept_word(entry.word)) return entry.type;
  return std::nullopt;
}

std::string_view type_word(OpSharding::Type type) {
  for (const TypeWord& entry : type_words)
    if (entry.type == type) return entry.word;
  return "unknown";
}

bool accept_attribute(Scanner& scan, std::string_view name) {
  if (scan.peek_word() != name) return false;
  scan.word(name);
  scan.expect('=', "after the name of a sharding property");
  return true;
}

using Metadata = google::protobuf::RepeatedPtrField<proto::OpMetadata>;

// One metadata, or a list of them in braces.
void read_metadata_list(Scanner& scan, Metadata* metadata) {
  if (scan.peek() == '{' && scan.peek_second() == '{') {
    scan.list('{', '}', "in a list of metadata", [&] { *metadata->Add() = read_metadata(scan); });
  } else {
    *metadata->Add() = read_metadata(scan);
  }
}

void append_metadata_list(std::string& out, const Metadata& metadata) {
  out += "metadata=";
  if (metadata.size() == 1) return append_metadata(out, metadata[0]);
  out += '{';
  for (int i = 0; i < metadata.size(); ++i) {
    if (i > 0) out += ", ";
    append_metadata(out, metadata[i]);
  }
  out += '}';
}

// [2,2]<=[4] or [2,2]0,1,2,3.
void read_tile_assignment(Scanner& scan, OpSharding* sharding) {
  scan.list('[', ']', "in the dimensions of devices",
            [&] { sharding->add_tile_assignment_dimensions(scan.integer("a dimension of devices")); });
  if (scan.accept("<=")) {
    read_iota(scan, sharding->mutable_iota_reshape_dims(), sharding->mutable_iota_transpose_perm());
    return;
  }
  do {
    sharding->add_tile_assignment_devices(scan.integer("a device number"));
  } while (scan.accept(','));
}

void read_named_sharding(Scanner& scan, proto::NamedShardingProto* sharding) {
  *sharding->mutable_mesh() = read_mesh(scan);
  const proto::MeshProto& mesh = sharding->mesh();
  scan.accept(',');
  const auto add_all_axes = [&](AxisRefs* axes) {
    for (int i = 0; i < mesh.axes_size(); ++i) axes->Add()->set_mesh_axis_index(i);
  };
  if (scan.peek() == '[') {
    scan.list('[', ']', "in the shardings of dimensions", [&] {
      auto* dimension = sharding->add_dim_shardings();
      dimension->set_is_closed(true);
      scan.list('{', '}', "in the sharding of a dimension", [&] {
        if (scan.accept('?')) {
          dimension->set_is_closed(false);
        } else {
          read_axis(scan, mesh, dimension->add_axes());
        }
      });
    });
    scan.accept(',');
  }
  while (scan.peek() != '}' && !scan.failed()) {
    if (accept_attribute(scan, "metadata")) {
      read_metadata_list(scan, sharding->mutable_metadata());
    } else if (scan.accept("replicated=")) {
      read_axes(scan, mesh, sharding->mutable_replicated_axes());
    } else if (scan.accept("unreduced=")) {
      read_axes(scan, mesh, sharding->mutable_unreduced_axes());
    } else if (scan.accept("manual=")) {
      read_axes(scan, mesh, sharding->mutable_manual_axes());
    } else if (scan.accept_word("unreduced")) {
      add_all_axes(sharding->mutable_unreduced_axes());
    } else if (scan.accept_word("manual")) {
      add_all_axes(sharding->mutable_manual_axes());
    } else if (!scan.accept_word("replicated")) {
      scan.expected("replicated, unreduced, manual or metadata= in a named sharding");
    }
    if (scan.peek() != '}') scan.expect(',', "between the properties of a named sharding");
  }
  scan.expect('}', "to end a sharding");
}

// After the opening brace.
void read_single_sharding(Scanner& scan, OpSharding* sharding) {
  if (mesh_starts(scan)) return read_named_sharding(scan, sharding->mutable_named_sharding());
  const char* start = scan.cursor();
  std::optional<OpSharding::Type> type;
  while (scan.peek() != '}' && !scan.failed()) {
    if (const auto stated = accept_type(scan)) {
      type = stated;
    } else if (accept_attribute(scan, "device")) {
      sharding->add_tile_assignment_devices(scan.integer("a device number"));
    } else if (accept_attribute(scan, "devices")) {
      read_tile_assignment(scan, sharding);
      type = OpSharding::OTHER;
    } else if (accept_attribute(scan, "metadata")) {
      read_metadata_list(scan, sharding->mutable_metadata());
    } else if (accept_attribute(scan, "last_tile_dims")) {
      scan.list('{', '}', "in last_tile_dims", [&] {
        if (const auto last = accept_type(scan)) return sharding->add_last_tile_dims(*last);
        scan.expected("replicated, manual, maximal or unreduced");
      });
    } else if (scan.accept_word("last_tile_dim_replicate")) {
      sharding->set_replicate_on_last_tile_dim(true);
    } else if (scan.peek_word() == "shard_as" || scan.peek_word() == "shard_like") {
      sharding->set_is_shard_group(true);
      const bool like = scan.word("a shard group") == "shard_like";
      sharding->set_shard_group_type(like ? OpSharding::LIKE : OpSharding::AS);
      sharding->set_shard_group_id(scan.integer("the number of a shard group"));
    } else {
      scan.expected("a sharding property (replicated, manual, maximal, devices=[...], last_tile_dims={...}, ...)");
    }
  }
  scan.expect('}', "to end a sharding");
  if (!type) return scan.fail_at(start, "a sharding needs a type: replicated, manual, maximal, ... or devices=[...]");
  sharding->set_type(*type);
  const int devices = sharding->tile_assignment_devices_size();
  if (*type == OpSharding::MAXIMAL && devices != 1) scan.fail_at(start, "a maximal sharding needs device=NUMBER");
  if (*type != OpSharding::MAXIMAL && *type != OpSharding::OTHER && devices != 0)
    scan.fail_at(start, "only maximal and tiled shardings name devices");
}

void append_named_sharding(std::string& out, const proto::NamedShardingProto& sharding) {
  const proto::MeshProto& mesh = sharding.mesh();
  append_mesh(out, mesh);
  const bool plain = sharding.dim_shardings_size() == 0;
  if (!plain) {
    out += ", [";
    for (int i = 0; i < sharding.dim_shardings_size(); ++i) {
      const auto& dimension = sharding.dim_shardings(i);
      out += i > 0 ? ", {" : "{";
      append_axes(out, mesh, dimension.axes());
      if (!dimension.is_closed()) out += dimension.axes_size() > 0 ? ", ?" : "?";
      out += '}';
    }
    out += ']';
  }
  const auto covers_mesh = [&](const AxisRefs& axes) {
    if (!plain || axes.size() != mesh.axes_size() || axes.empty()) return false;
    for (int i = 0; i < axes.size(); ++i)
      if (axes[i].mesh_axis_index() != i || axes[i].has_sub_axis_info()) return false;
    return true;
  };
  const auto append_axis_list = [&](std::string_view name, const AxisRefs& axes) {
    if (axes.empty()) return;
    fmt::format_to(std::back_inserter(out), ", {}={{", name);
    append_axes(out, mesh, axes);
    out += '}';
  };
  if (covers_mesh(sharding.unreduced_axes()) && sharding.manual_axes().empty() && sharding.replicated_axes().empty()) {
    out += ", unreduced";
  } else if (covers_mesh(sharding.manual_axes()) && sharding.unreduced_axes().empty() &&
             sharding.replicated_axes().empty()) {
    out += ", manual";
  } else {
    const bool nothing =
        sharding.replicated_axes().empty() && sharding.unreduced_axes().empty() && sharding.manual_axes().empty();
    const bool one_device = mesh.axes_size() == 0 && mesh.device_ids_size() == 1;
    if (plain && !one_device) out += nothing ? ", replicated" : ", []";
    append_axis_list("replicated", sharding.replicated_axes());
    append_axis_list("unreduced", sharding.unreduced_axes());
    append_axis_list("manual", sharding.manual_axes());
  }
  if (sharding.metadata_size() > 0) {
    out += ", ";
    append_metadata_list(out, sharding.metadata());
  }
}

void append_tile_assignment(std::string& out, const OpSharding& sharding) {
  fmt::format_to(std::back_inserter(out), "devices=[{}]", fmt::join(sharding.tile_assignment_dimensions(), ","));
  if (sharding.iota_reshape_dims_size() > 0) {
    out += "<=";
    append_iota(out, sharding.iota_reshape_dims(), sharding.iota_transpose_perm());
  } else {
    fmt::format_to(std::back_inserter(out), "{}", fmt::join(sharding.tile_assignment_devices(), ","));
  }
  if (sharding.replicate_on_last_tile_dim()) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims_size() == 0) return;
  out += " last_tile_dims={";
  for (int i = 0; i < sharding.last_tile_dims_size(); ++i) {
    if (i > 0) out += ", ";
    out += type_word(sharding.last_tile_dims(i));
  }
  out += '}';
}

}  // namespace

proto::OpSharding read_sharding(Scanner& scan, const Shape& shape) {
  OpSharding sharding;
  scan.expect('{', "to start a sharding");
  if (scan.peek() != '{' && scan.peek() != '}') {
    read_single_sharding(scan, &sharding);
    if (!shape.is_tuple()) return sharding;
    OpSharding spread;
    spread.set_type(OpSharding::TUPLE);
    const uint32_t leaves = leaf_count(shape);
    constexpr size_t most_bytes = 64 << 20;
    if (leaves * sharding.ByteSizeLong() > most_bytes) {
      scan.fail("this sharding is too large to hold for each part of a tuple");
      return sharding;
    }
    for (uint32_t i = 0; i < leaves; ++i) *spread.add_tuple_shardings() = sharding;
    return spread;
  }
  sharding.set_type(OpSharding::TUPLE);
  while (scan.peek() != '}' && !scan.failed()) {
    scan.expect('{', "to start the sharding of a tuple element");
    read_single_sharding(scan, sharding.add_tuple_shardings());
    if (!scan.accept(',')) break;
  }
  scan.expect('}', "to end a sharding");
  return sharding;
}

void append_sharding(std::string& out, const proto::OpSharding& sharding) {
  out += '{';
  if (sharding.has_named_sharding()) {
    append_named_sharding(out, sharding.named_sharding());
    out += '}';
    return;
  }
  switch (sharding.type()) {
    case OpSharding::TUPLE:
      for (int i = 0; i < sharding.tuple_shardings_size(); ++i) {
        if (i > 0) out += ", ";
        append_sharding(out, sharding.tuple_shardings(i));
      }
      break;
    case OpSharding::OTHER: append_tile_assignment(out, sharding); break;
    case OpSharding::MAXIMAL:
      fmt::format_to(std::back_inserter(out), "maximal device={}", fmt::join(sharding.tile_assignment_devices(), ","));
      break;
    default: out += type_word(sharding.type());
  }
  if (sharding.is_shard_group()) {
    const char* kind = sharding.shard_group_type() == OpSharding::LIKE ? "shard_like" : "shard_as";
    fmt::format_to(std::back_inserter(out), " {} {}", kind, sharding.shard_group_id());
  }
  if (sharding.metadata_size() > 0) {
    out += ' ';
    append_metadata_list(out, sharding.metadata());
  }
  out += '}';
}

void read_device_groups(Scanner& scan, proto::HloInstructionProto* wire) {
  if (mesh_starts(scan)) {
    auto* groups = wire->mutable_mesh_axes_replica_group_list();
    *groups->mutable_mesh() = read_mesh(scan);
    scan.accept(',');
    read_axes(scan, groups->mesh(), groups->mutable_axes());
    return;
  }
  if (scan.peek() == '[') {
    auto* groups = wire->mutable_iota_collective_device_list();
    scan.expect('[', "to start device groups");
    groups->set_num_replica_groups(scan.integer("the number of device groups"));
    scan.expect(',', "between the number of device groups and their size");
    groups->set_num_devices_per_group(scan.integer("the size of device groups"));
    scan.expect(']', "after the size of device groups");
    scan.expect("<=", "before the device numbers");
    read_iota(scan, groups->mutable_iota_reshape_dims(), groups->mutable_iota_transpose_perm());
    return;
  }
  auto* groups = wire->mutable_collective_device_list();
  scan.list('{', '}', "in device groups", [&] {
    auto* group = groups->add_replica_groups();
    scan.list('{', '}', "in a device group", [&] { group->add_replica_ids(scan.integer("a device number")); });
  });
}

bool has_device_groups(const proto::HloInstructionProto& wire) {
  return wire.replica_group_list_case() != proto::HloInstructionProto::REPLICA_GROUP_LIST_NOT_SET ||
         wire.replica_groups_size() > 0;
}

void append_device_groups(std::string& out, const proto::HloInstructionProto& wire) {
  if (wire.has_mesh_axes_replica_group_list()) {
    const auto& groups = wire.mesh_axes_replica_group_list();
    append_mesh(out, groups.mesh());
    out += " {";
    append_axes(out, groups.mesh(), groups.axes());
    out += '}';
    return;
  }
  if (wire.has_iota_collective_device_list()) {
    const auto& groups = wire.iota_collective_device_list();
    fmt::format_to(std::back_inserter(out), "[{},{}]<=", groups.num_replica_groups(), groups.num_devices_per_group());
    append_iota(out, groups.iota_reshape_dims(), groups.iota_transpose_perm());
    return;
  }
  const auto& groups =
      wire.has_collective_device_list() ? wire.collective_device_list().replica_groups() : wire.replica_groups();
  out += '{';
  for (int i = 0; i < groups.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}{{{}}}", i > 0 ? "," : "", fmt::join(groups[i].replica_ids(), ","));
  out += '}';
}

}  // namespace sapper::hlo
