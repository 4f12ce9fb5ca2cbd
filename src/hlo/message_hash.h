// Hashes of wire messages by what they mean for a program.
#pragma once

#include <google/protobuf/message.h>

#include "hlo/hash.h"

namespace sapper::hlo {

// Equal for messages that say the same of a program: order of map entries, presence of empty inner messages, source
// positions, profiles, provenance and ids do not count; all other fields do, unknown ones included. Zero: nothing is
// said.
[[nodiscard]] Hash hash_message(const google::protobuf::Message& message);

// Of the unknown fields of `message` and its inner messages alone. Zero: there are none.
[[nodiscard]] Hash hash_unknown_fields(const google::protobuf::Message& message);

}  // namespace sapper::hlo
