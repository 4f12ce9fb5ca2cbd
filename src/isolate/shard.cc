#include "isolate/shard.h"

#include <array>
#include <charconv>

#include "base/assert.h"

namespace sapper::isolate {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The variables of a scheduler. Tasks are numbered first, first + step, ..., last; empty names: not said.
struct Scheduler {
  const char* name;
  const char* index;
  const char* first;
  const char* last;
  const char* step;
  const char* count;
  int64_t default_first;
};

constexpr std::array schedulers = {
    Scheduler{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
              "SLURM_ARRAY_TASK_COUNT", 0},
    Scheduler{"Kubernetes", "JOB_COMPLETION_INDEX", "", "", "", "", 0},
    Scheduler{"LSF", "LSB_JOBINDEX", "", "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP", "", 1},
    Scheduler{"Grid Engine", "SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE", "", 1},
    Scheduler{"PBS", "PBS_ARRAY_INDEX", "", "", "", "", 0},
    Scheduler{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "", "", "", "AWS_BATCH_JOB_ARRAY_SIZE", 0},
};

// nullopt: not set. Grid Engine sets "undefined" outside of arrays, LSF an index of 0.
Result<std::optional<int64_t>> read(const GetEnvironment& get, const char* variable) {
  const char* text = *variable == '\0' ? nullptr : get(variable);
  if (text == nullptr || *text == '\0' || std::string_view(text) == "undefined") return std::nullopt;
  const auto number = parse_number<int64_t>(text);
  if (!number || *number < 0) return fail(ErrorKind::BadInput, "{}={} is no number of a task", variable, text);
  return number;
}

Result<std::optional<Shard>> shard_of(const Scheduler& scheduler, const GetEnvironment& get,
                                      std::optional<uint64_t> count) {
  SAPPER_TRY(const auto id, read(get, scheduler.index));
  if (!id) return std::nullopt;
  SAPPER_TRY(const auto stated_first, read(get, scheduler.first));
  SAPPER_TRY(const auto last, read(get, scheduler.last));
  SAPPER_TRY(const auto stated_step, read(get, scheduler.step));
  SAPPER_TRY(const auto stated_count, read(get, scheduler.count));
  const int64_t first = stated_first.value_or(scheduler.default_first);
  const int64_t step = std::max<int64_t>(stated_step.value_or(1), 1);
  if (*id < first) {
    if (scheduler.default_first == 1 && *id == 0) return std::nullopt;  // not in an array
    return fail(ErrorKind::BadInput, "{}={} is before the first task, {}", scheduler.index, *id, first);
  }
  if (!count && stated_count) count = static_cast<uint64_t>(*stated_count);
  if (!count && last && *last >= first) count = static_cast<uint64_t>((*last - first) / step + 1);
  if (!count)
    return fail(ErrorKind::BadInput, "{} gives {}={} but not the number of tasks: say --shards N", scheduler.name,
                scheduler.index, *id);
  const auto index = static_cast<uint64_t>((*id - first) / step);
  if ((*id - first) % step != 0 || index >= *count)
    return fail(ErrorKind::BadInput, "{}={} is not one of {} tasks from {} in steps of {}", scheduler.index, *id,
                *count, first, step);
  return Shard{index, *count};
}

}  // namespace

Result<Shard> parse_shard(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = parse_number<uint64_t>(text.substr(0, slash));
    const auto count = parse_number<uint64_t>(text.substr(slash + 1));
    if (index && count && *index < *count) return Shard{*index, *count};
  }
  return fail(ErrorKind::BadInput, "shard '{}' is not i/n with i counted from 0 and below n, as in 0/4", text);
}

Result<std::optional<Shard>> shard_from_environment(const GetEnvironment& get, std::optional<uint64_t> count) {
  for (const Scheduler& scheduler : schedulers) {
    SAPPER_TRY(const auto shard, shard_of(scheduler, get, count));
    if (shard) return shard;
  }
  return std::nullopt;
}

bool holds(const Shard& shard, std::string_view fingerprint) {
  SAPPER_ASSERT(shard.count > 0 && fingerprint.size() == 32);
  const auto low = parse_number<uint64_t>(fingerprint.substr(16), 16);
  SAPPER_ASSERT(low.has_value());
  return *low % shard.count == shard.index;
}

}  // namespace sapper::isolate
