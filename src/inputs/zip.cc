#include "inputs/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sapper::inputs {
namespace {

constexpr uint32_t local_signature = 0x04034b50;
constexpr uint32_t central_signature = 0x02014b50;
constexpr uint32_t end_signature = 0x06054b50;
constexpr uint32_t end64_signature = 0x06064b50;
constexpr uint16_t zip64_extra = 1;
constexpr uint64_t most_inflated = 1032;   // times its own size: no deflate stream holds more
constexpr uint32_t in_zip64 = 0xffffffff;  // a 32-bit field whose value is in the ZIP64 extra field
constexpr size_t end_size = 22;
constexpr size_t central_size = 46;
constexpr size_t local_size = 30;

// Little-endian fields of a record; reading past the end gives zeros, which no valid record survives.
class Record {
 public:
  Record(std::string_view bytes, size_t offset)
      : bytes_(offset <= bytes.size() ? bytes.substr(offset) : std::string_view{}) {}
  [[nodiscard]] uint64_t field(size_t at, size_t width) const {
    if (at + width > bytes_.size()) return 0;
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  [[nodiscard]] std::string_view slice(size_t at, size_t size) const {
    return at <= bytes_.size() ? bytes_.substr(at, size) : std::string_view{};
  }

 private:
  std::string_view bytes_;
};

struct Entry {
  std::string name;
  uint16_t method = 0;
  uint64_t packed = 0, unpacked = 0, offset = 0;
  uint32_t crc = 0;
};

// Replaces the fields that say "see ZIP64" by the 8-byte values of the extra field, in their fixed order.
void apply_zip64(Entry& entry, std::string_view extra) {
  const Record fields(extra, 0);
  for (size_t at = 0; at + 4 <= extra.size(); at += 4 + fields.field(at + 2, 2)) {
    if (fields.field(at, 2) != zip64_extra) continue;
    size_t value = at + 4;
    for (uint64_t* field : {&entry.unpacked, &entry.packed, &entry.offset}) {
      if (*field != in_zip64) continue;
      *field = fields.field(value, 8);
      value += 8;
    }
    return;
  }
}

Result<std::vector<Entry>> read_directory(std::string_view bytes, const std::string& archive) {
  size_t end = std::string_view::npos;
  for (size_t back = end_size; back <= bytes.size() && back < end_size + 65536; ++back) {
    if (Record(bytes, bytes.size() - back).field(0, 4) == end_signature) {
      end = bytes.size() - back;
      break;
    }
  }
  if (end == std::string_view::npos) return fail(ErrorKind::BadInput, "{}: not a zip archive (.npz)", archive);
  const Record record(bytes, end);
  uint64_t count = record.field(10, 2);
  uint64_t offset = record.field(16, 4);
  if (end >= 20 && (count == 0xffff || offset == in_zip64)) {
    const Record end64(bytes, Record(bytes, end - 20).field(8, 8));
    if (end64.field(0, 4) != end64_signature) return fail(ErrorKind::BadInput, "{}: damaged zip64 directory", archive);
    count = end64.field(32, 8);
    offset = end64.field(48, 8);
  }
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    const Record central(bytes, offset);
    if (central.field(0, 4) != central_signature)
      return fail(ErrorKind::BadInput, "{}: damaged zip directory (truncated file?)", archive);
    const uint64_t name_size = central.field(28, 2);
    const uint64_t extra_size = central.field(30, 2);
    Entry entry;
    entry.method = static_cast<uint16_t>(central.field(10, 2));
    entry.crc = static_cast<uint32_t>(central.field(16, 4));
    entry.packed = central.field(20, 4);
    entry.unpacked = central.field(24, 4);
    entry.offset = central.field(42, 4);
    entry.name = central.slice(central_size, name_size);
    apply_zip64(entry, central.slice(central_size + name_size, extra_size));
    offset += central_size + name_size + extra_size + central.field(32, 2);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::string> inflate_member(std::string_view packed, const Entry& entry, const std::string& archive) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return fail(ErrorKind::Resource, "{}: zlib cannot start", archive);
  std::string bytes(entry.unpacked, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  size_t packed_left = packed.size();
  size_t unpacked_left = bytes.size();
  int status = Z_OK;
  // zlib counts in 32 bits: feed it in pieces.
  while (status == Z_OK) {
    constexpr size_t piece = std::numeric_limits<uInt>::max() / 2;
    const auto in = static_cast<uInt>(std::min(packed_left, piece));
    const auto out = static_cast<uInt>(std::min(unpacked_left, piece));
    stream.avail_in = in;
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    packed_left -= in - stream.avail_in;
    unpacked_left -= out - stream.avail_out;
    if (in == stream.avail_in && out == stream.avail_out) break;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || unpacked_left != 0)
    return fail(ErrorKind::BadInput, "{}: member {} is damaged", archive, entry.name);
  return bytes;
}

Result<std::string> read_member(std::string_view bytes, const Entry& entry, const std::string& archive) {
  const Record local(bytes, entry.offset);
  if (local.field(0, 4) != local_signature)
    return fail(ErrorKind::BadInput, "{}: member {} is not where the directory says", archive, entry.name);
  const std::string_view packed = local.slice(local_size + local.field(26, 2) + local.field(28, 2), entry.packed);
  if (packed.size() != entry.packed)
    return fail(ErrorKind::BadInput, "{}: member {} ends too early (truncated file?)", archive, entry.name);
  std::string unpacked;
  if (entry.method == 0) {
    unpacked = packed;
  } else if (entry.method == Z_DEFLATED) {
    if (entry.unpacked / most_inflated > packed.size())
      return fail(ErrorKind::BadInput, "{}: member {} is damaged: {} packed bytes cannot hold {}", archive, entry.name,
                  packed.size(), entry.unpacked);
    SAPPER_TRY(unpacked, inflate_member(packed, entry, archive));
  } else {
    return fail(ErrorKind::Unsupported,
                "{}: member {} uses compression method {}; np.savez and np.savez_compressed work", archive, entry.name,
                entry.method);
  }
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(unpacked.data()), unpacked.size());
  if (crc != entry.crc) return fail(ErrorKind::BadInput, "{}: member {} fails its checksum", archive, entry.name);
  return unpacked;
}

void append(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

// The fields that local and central headers share, after the signature and versions. Sizes always go to ZIP64.
void append_common(std::string& out, const ZipMember& member) {
  append(out, 0, 2);             // flags
  append(out, 0, 2);             // stored
  append(out, 0, 2);             // time
  append(out, (1 << 5) | 1, 2);  // date: 1980-01-01
  append(out, crc32_z(0, reinterpret_cast<const Bytef*>(member.bytes.data()), member.bytes.size()), 4);
  append(out, in_zip64, 4);
  append(out, in_zip64, 4);
  append(out, member.name.size(), 2);
}

}  // namespace

Result<std::vector<ZipMember>> read_zip(std::string_view bytes, const std::string& archive, size_t limit_bytes) {
  SAPPER_TRY(const std::vector<Entry> entries, read_directory(bytes, archive));
  uint64_t total = 0;
  uint64_t left = bytes.size();
  std::vector<ZipMember> members;
  for (const Entry& entry : entries) {
    if (entry.packed > left)
      return fail(ErrorKind::BadInput, "{}: its members overlap (damaged zip directory)", archive);
    left -= entry.packed;
    if (entry.unpacked > limit_bytes || (total += entry.unpacked) > limit_bytes)
      return fail(ErrorKind::Resource, "{}: its members take more than {} bytes", archive, limit_bytes);
    SAPPER_TRY(std::string content, read_member(bytes, entry, archive));
    members.push_back({entry.name, std::move(content)});
  }
  return members;
}

std::string write_zip(const std::vector<ZipMember>& members) {
  constexpr uint64_t version = 45;  // ZIP64
  std::string out;
  std::string directory;
  for (const ZipMember& member : members) {
    const uint64_t offset = out.size();
    append(out, local_signature, 4);
    append(out, version, 2);
    append_common(out, member);
    append(out, 20, 2);  // extra field
    out += member.name;
    append(out, zip64_extra, 2);
    append(out, 16, 2);
    append(out, member.bytes.size(), 8);
    append(out, member.bytes.size(), 8);
    out += member.bytes;

    append(directory, central_signature, 4);
    append(directory, version, 2);
    append(directory, version, 2);
    append_common(directory, member);
    append(directory, 28, 2);  // extra field
    append(directory, 0, 2);   // comment
    append(directory, 0, 2);   // disk
    append(directory, 0, 2);   // internal attributes
    append(directory, 0, 4);   // external attributes
    append(directory, in_zip64, 4);
    directory += member.name;
    append(directory, zip64_extra, 2);
    append(directory, 24, 2);
    append(directory, member.bytes.size(), 8);
    append(directory, member.bytes.size(), 8);
    append(directory, offset, 8);
  }
  const uint64_t directory_offset = out.size();
  out += directory;
  const uint64_t end64_offset = out.size();
  append(out, end64_signature, 4);
  append(out, 44, 8);
  append(out, version, 2);
  append(out, version, 2);
  append(out, 0, 8);  // disks
  append(out, members.size(), 8);
  append(out, members.size(), 8);
  append(out, directory.size(), 8);
  append(out, directory_offset, 8);
  append(out, 0x07064b50, 4);  // locator of the record above
  append(out, 0, 4);
  append(out, end64_offset, 8);
  append(out, 1, 4);
  append(out, end_signature, 4);
  append(out, 0, 4);
  append(out, 0xffff, 2);
  append(out, 0xffff, 2);
  append(out, in_zip64, 4);
  append(out, in_zip64, 4);
  append(out, 0, 2);
  return out;
}

}  // namespace sapper::inputs
