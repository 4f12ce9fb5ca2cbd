// Shards: which of many machines takes which piece.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper::isolate {

struct Shard {
  uint64_t index = 0;  // below count
  uint64_t count = 1;
  bool operator==(const Shard&) const = default;
};

// "i/n", counted from 0.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

// What std::getenv gives; null: not set.
using GetEnvironment = std::function<const char*(const char*)>;

// The shard that a job scheduler gave to this process: array jobs of Slurm, LSF, Grid Engine, PBS and AWS Batch,
// indexed jobs of Kubernetes. nullopt: there is none. `count` is needed where the scheduler does not say how many there
// are.
[[nodiscard]] Result<std::optional<Shard>> shard_from_environment(const GetEnvironment& get,
                                                                  std::optional<uint64_t> count = std::nullopt);

// Whether the piece with this fingerprint (32 hex digits) belongs to `shard`: each belongs to exactly one of `count`.
[[nodiscard]] bool holds(const Shard& shard, std::string_view fingerprint);

}  // namespace sapper::isolate
