#include "hlo/text_mesh.h"

#include <fmt/ranges.h>

#include <charconv>

#include "hlo/text_string.h"
#include "hlo/text_utf8.h"

namespace sapper::hlo {
namespace {

int64_t axis_index(Scanner& scan, const proto::MeshProto& mesh) {
  const char* start = scan.cursor();
  const std::string name = scan.string("a mesh axis in quotes");
  for (int i = 0; i < mesh.axes_size(); ++i)
    if (mesh.axes(i).name() == name) return i;
  // An axis may be named by its number too.
  int64_t index = 0;
  const auto [past, problem] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (problem == std::errc() && past == name.data() + name.size() && index >= 0 && index < mesh.axes_size())
    return index;
  scan.fail_at(start, fmt::format("the mesh has no axis '{}'", name));
  return 0;
}

}  // namespace

bool mesh_starts(const Scanner& scan) {
  const std::string_view word = scan.peek_word();
  return word == "mesh" || word == "maximal_mesh" || word == "single_device";
}

proto::MeshProto read_mesh(Scanner& scan) {
  proto::MeshProto mesh;
  if (scan.word("a mesh") != "mesh") {  // of one device
    scan.expect('[', "after the mesh");
    if (!scan.accept_word("device_id")) scan.expected("device_id=");
    scan.expect('=', "after device_id");
    mesh.add_device_ids(scan.integer("a device number"));
    scan.expect(']', "to end the mesh");
    return mesh;
  }
  scan.list('[', ']', "in a mesh", [&] {
    auto* axis = mesh.add_axes();
    axis->set_name(read_utf8(scan, "the name of a mesh axis in quotes"));
    scan.expect('=', "after the name of a mesh axis");
    axis->set_size(scan.integer("the size of a mesh axis"));
  });
  Scanner ahead = scan;  // after a comma other things than device_ids may follow
  if (!ahead.accept(',') || ahead.peek_word() != "device_ids") return mesh;
  scan.accept(',');
  scan.word("device_ids");
  scan.expect('=', "after device_ids");
  scan.expect('(', "before device numbers");
  if (scan.peek() == '[') {
    auto* transform = mesh.mutable_iota_transform();
    read_iota(scan, transform->mutable_reshape_dims(), transform->mutable_transpose_perm());
  } else {
    do {
      mesh.add_device_ids(scan.integer("a device number"));
    } while (scan.accept(','));
  }
  scan.expect(')', "after device numbers");
  return mesh;
}

void append_mesh(std::string& out, const proto::MeshProto& mesh) {
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1) {  // libtpu 0.0.52 writes and reads single_device instead
    fmt::format_to(std::back_inserter(out), "maximal_mesh[device_id={}]", mesh.device_ids(0));
    return;
  }
  out += "mesh[";
  for (int i = 0; i < mesh.axes_size(); ++i) {
    if (i > 0) out += ',';
    append_quoted(out, mesh.axes(i).name(), '\'');
    fmt::format_to(std::back_inserter(out), "={}", mesh.axes(i).size());
  }
  out += ']';
  if (mesh.has_iota_transform() && mesh.iota_transform().reshape_dims_size() > 0) {
    out += ", device_ids=(";
    append_iota(out, mesh.iota_transform().reshape_dims(), mesh.iota_transform().transpose_perm());
    out += ')';
  } else if (mesh.device_ids_size() > 0) {
    fmt::format_to(std::back_inserter(out), ", device_ids=({})", fmt::join(mesh.device_ids(), ","));
  }
}

void read_axis(Scanner& scan, const proto::MeshProto& mesh, proto::AxisRefProto* axis) {
  axis->set_mesh_axis_index(axis_index(scan, mesh));
  if (!scan.accept(':')) return;
  scan.expect('(', "before the size of the axis ahead of its part");
  axis->mutable_sub_axis_info()->set_pre_size(scan.integer("the size ahead of a part of an axis"));
  scan.expect(')', "before the size of a part of an axis");
  axis->mutable_sub_axis_info()->set_size(scan.integer("the size of a part of an axis"));
}

void read_axes(Scanner& scan, const proto::MeshProto& mesh, AxisRefs* axes) {
  scan.list('{', '}', "in a list of axes", [&] { read_axis(scan, mesh, axes->Add()); });
}

void append_axes(std::string& out, const proto::MeshProto& mesh, const AxisRefs& axes) {
  for (int i = 0; i < axes.size(); ++i) {
    if (i > 0) out += ", ";
    const int64_t index = axes[i].mesh_axis_index();
    const bool known = index >= 0 && index < mesh.axes_size();
    append_quoted(out, known ? mesh.axes(static_cast<int>(index)).name() : std::to_string(index), '\'');
    if (!axes[i].has_sub_axis_info()) continue;
    const auto& part = axes[i].sub_axis_info();
    fmt::format_to(std::back_inserter(out), ":({}){}", part.pre_size(), part.size());
  }
}

}  // namespace sapper::hlo
