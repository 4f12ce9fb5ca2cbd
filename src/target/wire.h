// Messages over a socket between sapper and a worker: length-prefixed protobuf frames, and arrays as raw bytes.
#pragma once

#include <google/protobuf/message_lite.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "target/worker.pb.h"

namespace sapper::target {

// Called while the socket is not ready for `events` (of poll): returns when it may be, or gives up with an error.
using Wait = std::function<Status(short events)>;

// Waits as long as it takes.
[[nodiscard]] Wait wait_forever(int socket);

class Connection {
 public:
  // Does not own the socket.
  Connection(int socket, Wait wait) : socket_(socket), wait_(std::move(wait)) {}

  // Errors, besides those of `wait`: Crash, when the other side has closed the connection or sends what is no frame.
  [[nodiscard]] Status send(const google::protobuf::MessageLite& message) const;
  [[nodiscard]] Status receive(google::protobuf::MessageLite* message) const;
  [[nodiscard]] Status send_bytes(std::span<const std::byte> bytes) const;
  [[nodiscard]] Status send_text(std::string_view bytes) const { return send_bytes(std::as_bytes(std::span(bytes))); }
  [[nodiscard]] Result<std::string> receive_text(size_t size) const;
  // The bytes of arrays; their shapes travel in the message before.
  [[nodiscard]] Status send_arrays(std::span<const hlo::Literal> arrays) const;
  [[nodiscard]] Result<std::vector<hlo::Literal>> receive_arrays(
      const google::protobuf::RepeatedPtrField<proto::WorkerArray>& shapes) const;

 private:
  [[nodiscard]] Status receive_bytes(std::span<std::byte> bytes) const;
  int socket_;
  Wait wait_;
};

[[nodiscard]] proto::WorkerArray describe(const hlo::Literal& array);

}  // namespace sapper::target
