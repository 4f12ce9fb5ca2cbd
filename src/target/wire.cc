#include "target/wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory.h"

namespace sapper::target {
namespace {

struct FrameHeader {
  static constexpr uint64_t expected_magic = 0x31524550504153;  // "SAPPER1"
  uint64_t magic = expected_magic;
  uint64_t size = 0;
};

constexpr uint64_t largest_frame = INT32_MAX;      // protobuf's own limit
constexpr size_t largest_step = size_t{64} << 20;  // memory grows as bytes arrive, not as a header promises

auto closed() { return fail(ErrorKind::Crash, "the connection was closed"); }
auto garbage() { return fail(ErrorKind::Crash, "the worker wrote garbage into the connection"); }

bool not_ready() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

Wait wait_forever(int socket) {
  return [socket](short events) -> Status {
    pollfd entry{socket, events, 0};
    while (poll(&entry, 1, -1) < 0 && errno == EINTR) {
    }
    return {};
  };
}

Status Connection::send_bytes(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0)
      bytes = bytes.subspan(static_cast<size_t>(n));
    else if (not_ready())
      SAPPER_CHECKED(wait_(POLLOUT));
    else if (errno != EINTR)
      return closed();
  }
  return {};
}

Status Connection::receive_bytes(std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n > 0)
      bytes = bytes.subspan(static_cast<size_t>(n));
    else if (n < 0 && not_ready())
      SAPPER_CHECKED(wait_(POLLIN));
    else if (n == 0 || errno != EINTR)
      return closed();
  }
  return {};
}

Result<std::string> Connection::receive_text(size_t size) const {
  std::string text;
  while (text.size() < size) {
    const size_t before = text.size();
    text.resize(before + std::min(largest_step, size - before));
    SAPPER_CHECKED(receive_bytes(std::as_writable_bytes(std::span(text).subspan(before))));
  }
  return text;
}

Status Connection::send(const google::protobuf::MessageLite& message) const {
  const std::string body = message.SerializeAsString();
  const FrameHeader header{.size = body.size()};
  SAPPER_CHECKED(send_bytes(std::as_bytes(std::span(&header, 1))));
  return send_text(body);
}

Status Connection::receive(google::protobuf::MessageLite* message) const {
  FrameHeader header;
  SAPPER_CHECKED(receive_bytes(std::as_writable_bytes(std::span(&header, 1))));
  if (header.magic != FrameHeader::expected_magic || header.size > largest_frame) return garbage();
  SAPPER_TRY(const std::string body, receive_text(header.size));
  if (!message->ParseFromString(body)) return garbage();
  return {};
}

proto::WorkerArray describe(const hlo::Literal& array) {
  proto::WorkerArray result;
  result.set_element_type(static_cast<int>(array.shape().element_type()));
  for (const int64_t d : array.shape().dimensions()) result.add_dimensions(d);
  return result;
}

Status Connection::send_arrays(std::span<const hlo::Literal> arrays) const {
  for (const hlo::Literal& array : arrays) SAPPER_CHECKED(send_bytes(array.bytes()));
  return {};
}

Result<std::vector<hlo::Literal>> Connection::receive_arrays(
    const google::protobuf::RepeatedPtrField<proto::WorkerArray>& shapes) const {
  std::vector<hlo::Literal> arrays;
  for (const proto::WorkerArray& array : shapes) {
    if (array.element_type() < 0 || array.element_type() > static_cast<int>(hlo::ElementType::Buffer)) return garbage();
    const auto type = static_cast<hlo::ElementType>(array.element_type());
    if (type == hlo::ElementType::Token) {
      arrays.emplace_back(hlo::Shape::token());
      continue;
    }
    if (!hlo::is_array_type(type) || std::ranges::any_of(array.dimensions(), [](int64_t d) { return d < 0; }))
      return garbage();
    const auto shape = hlo::Shape::array(type, {array.dimensions().begin(), array.dimensions().end()});
    if (shape.host_byte_size() > physical_memory_bytes()) return garbage();
    hlo::Literal literal = hlo::Literal::uninitialized(shape);
    SAPPER_CHECKED(receive_bytes(literal.mutable_bytes()));
    arrays.push_back(std::move(literal));
  }
  return arrays;
}

}  // namespace sapper::target
