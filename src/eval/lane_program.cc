#include "eval/lane_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/assert.h"
#include "base/parallel.h"
#include "eval/lane_tables.h"
#include "eval/strided_copy.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;

int lane_bytes(ElementType type) { return hlo::host_bytes(lane_type(type)); }

bool is_constant(LaneProgram::Source::Kind kind) {
  return kind == LaneProgram::Source::Kind::Constant || kind == LaneProgram::Source::Kind::Splat;
}

// Rows of one element each.
bool repeats(const LaneProgram::Source& source) {
  return source.kind == LaneProgram::Source::Kind::Strided && !source.view.dims.empty() &&
         source.view.dims.back().stride == 0;
}

// Scratch memory that no reader of this thread has, grown as needed and kept.
thread_local std::unique_ptr<hlo::AlignedBytes> free_scratch;

std::unique_ptr<hlo::AlignedBytes> take_scratch(size_t bytes) {
  std::unique_ptr<hlo::AlignedBytes> scratch = std::move(free_scratch);
  if (!scratch || scratch->size() < bytes) scratch = std::make_unique<hlo::AlignedBytes>(bytes);
  return scratch;
}

void splat(const std::byte* element, int bytes, int64_t n, std::byte* to) {
  read_view(View{}, element, 0, n, to, bytes);
}

}  // namespace

LaneProgram::Register LaneProgram::add_source(Source source) {
  SAPPER_ASSERT(steps_.empty() && has_room());
  types_.push_back(source.type);
  sources_.push_back(std::move(source));
  return static_cast<Register>(types_.size() - 1);
}

LaneProgram::Register LaneProgram::add_step(const LaneOperation& operation, ElementType result,
                                            std::span<const Register> operands) {
  SAPPER_ASSERT(has_room() && operands.size() <= 3);
  Step step{operation, static_cast<Register>(types_.size()), {}};
  std::copy(operands.begin(), operands.end(), step.operands);
  // Operands that the operation does not have: any register that is filled.
  for (size_t i = operands.size(); i < 3; ++i) step.operands[i] = operands.empty() ? Register{0} : operands[0];
  steps_.push_back(step);
  types_.push_back(result);
  return step.result;
}

void LaneProgram::finish(std::span<const Register> results) {
  for (Register result : results) {
    // A source, or what is a result already, is copied.
    if (result < sources_.size() || std::find(results_.begin(), results_.end(), result) != results_.end()) {
      const Register copied[] = {result};
      result = add_step({copy_function(lane_bytes(types_[result])), 0, nullptr}, types_[result], copied);
    }
    results_.push_back(result);
  }
  assign_places();
}

// Gives each register a place. Scratch slots are reused once a register has been read for the last time.
void LaneProgram::assign_places() {
  std::vector<size_t> last_use(types_.size(), 0);
  for (size_t i = 0; i < steps_.size(); ++i)
    for (const Register operand : steps_[i].operands) last_use[operand] = i;
  for (const Register result : results_) last_use[result] = steps_.size();

  places_.resize(types_.size());
  std::array<std::vector<uint32_t>, 17> free;  // by lane bytes
  const auto take = [&](int bytes) {
    std::vector<uint32_t>& slots = free[static_cast<size_t>(bytes)];
    if (slots.empty()) {
      slot_lane_bytes_.push_back(static_cast<uint8_t>(bytes));
      return static_cast<uint32_t>(slot_lane_bytes_.size() - 1);
    }
    const uint32_t slot = slots.back();
    slots.pop_back();
    return slot;
  };
  for (size_t r = 0; r < sources_.size(); ++r) {
    const Source& source = sources_[r];
    const bool direct = source.kind == Source::Kind::Linear && load_lanes(source.type) == nullptr;
    places_[r] = direct ? Place{Place::Kind::Operand, source.operand}
                        : Place{Place::Kind::Scratch, take(lane_bytes(source.type))};
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const int bytes = lane_bytes(types_[step.result]);
    for (const Register operand : step.operands) {
      // What is filled once must last for more blocks.
      const bool lasting =
          operand < sources_.size() && (is_constant(sources_[operand].kind) || repeats(sources_[operand]));
      if (last_use[operand] != i || lasting || places_[operand].kind != Place::Kind::Scratch) continue;
      last_use[operand] = steps_.size() + 1;  // once only
      free[static_cast<size_t>(lane_bytes(types_[operand]))].push_back(places_[operand].index);
    }
    const auto result = std::find(results_.begin(), results_.end(), step.result);
    const bool direct = result != results_.end() && store_lanes(types_[step.result]) == nullptr;
    places_[step.result] = direct ? Place{Place::Kind::Result, static_cast<uint32_t>(result - results_.begin())}
                                  : Place{Place::Kind::Scratch, take(bytes)};
  }

  // Blocks as large as keeps all slots in half of the first-level cache; a whole number of cache lines of every type.
  constexpr size_t cache_bytes = 24 << 10;
  constexpr int64_t smallest_block = 128;
  constexpr int64_t largest_block = 4096;
  size_t bytes_per_lane = 0;
  for (const uint8_t bytes : slot_lane_bytes_) bytes_per_lane += bytes;
  const auto fitting = static_cast<int64_t>(cache_bytes / std::max<size_t>(bytes_per_lane, 1));
  block_ = std::clamp(fitting / 64 * 64, smallest_block, largest_block);
  for (const uint8_t bytes : slot_lane_bytes_) {
    slot_offsets_.push_back(scratch_bytes_);
    scratch_bytes_ += static_cast<size_t>(block_) * bytes;
  }
}

void LaneProgram::load(const Source& source, const std::byte* array, int64_t begin, int64_t n, std::byte* lanes,
                       std::byte* scratch) const {
  const LaneFunction widen = load_lanes(source.type);
  const int stored_bytes = hlo::host_bytes(source.type);
  switch (source.kind) {
    case Source::Kind::Linear:  // only where it is not used in place
      widen(static_cast<size_t>(n), lanes, array + begin * stored_bytes, nullptr, nullptr, 0);
      return;
    case Source::Kind::Strided: {
      std::byte* const stored = widen == nullptr ? lanes : scratch;
      read_view(source.view, array, begin, n, stored, stored_bytes);
      if (widen != nullptr) widen(static_cast<size_t>(n), lanes, stored, nullptr, nullptr, 0);
      return;
    }
    case Source::Kind::Splat:
    case Source::Kind::Constant: {
      const std::byte* element = source.kind == Source::Kind::Splat ? array : source.constant;
      alignas(16) std::byte lane[16];
      if (widen != nullptr) {
        widen(1, lane, element, nullptr, nullptr, 0);
        element = lane;
      }
      splat(element, lane_bytes(source.type), n, lanes);
      return;
    }
    case Source::Kind::Counter: {
      auto* const counts = reinterpret_cast<int64_t*>(scratch);
      count_view(source.view, begin, n, counts);
      convert_lanes(ElementType::S64, source.type).apply(static_cast<size_t>(n), lanes, counts);
      return;
    }
  }
}

LaneProgram::Reader::Reader(const LaneProgram& program, std::span<const std::byte* const> operands, int64_t longest)
    : program_(program),
      operands_(operands),
      scratch_(take_scratch(program.scratch_bytes_ + static_cast<size_t>(program.block_) * 16)),
      spare_(scratch_->data() + program.scratch_bytes_) {
  for (size_t r = 0; r < program.places_.size(); ++r) {
    const Place& place = program.places_[r];
    if (place.kind == Place::Kind::Scratch) at_[r] = scratch_->data() + program.slot_offsets_[place.index];
  }
  const int64_t block = std::min(program.block_, longest);
  kept_.resize(program.sources_.size());
  for (size_t r = 0; r < program.sources_.size(); ++r) {
    const Source& source = program.sources_[r];
    if (!is_constant(source.kind)) continue;
    program.load(source, source.kind == Source::Kind::Splat ? operands[source.operand] : nullptr, 0, block, at_[r],
                 spare_);
    kept_[r] = {0, std::numeric_limits<int64_t>::max(), block};
  }
}

// Lanes [begin, begin + n), when they are of one row.
LaneProgram::Reader::Kept LaneProgram::Reader::row_around(int64_t row, int64_t begin, int64_t n) {
  const int64_t column = begin % row;
  if (column + n > row) return {};
  return {begin - column, begin - column + row, n};
}

LaneProgram::Reader::~Reader() { free_scratch = std::move(scratch_); }

void LaneProgram::Reader::read(int64_t begin, int64_t n, std::span<std::byte* const> to) {
  const std::vector<Register>& results = program_.results_;
  for (int64_t done = 0; done < n; done += program_.block_) {
    const int64_t first = begin + done;
    const int64_t part = std::min(program_.block_, n - done);
    for (size_t r = 0; r < program_.sources_.size(); ++r) {
      if (kept_[r].has(first, part)) continue;
      const Source& source = program_.sources_[r];
      if (program_.places_[r].kind == Place::Kind::Operand) {
        at_[r] = const_cast<std::byte*>(operands_[source.operand]) + first * hlo::host_bytes(source.type);
      } else {
        program_.load(source, source.kind == Source::Kind::Counter ? nullptr : operands_[source.operand], first, part,
                      at_[r], spare_);
        if (repeats(source)) kept_[r] = row_around(source.view.dims.back().size, first, part);
      }
    }
    const auto target = [&](size_t k) { return to[k] + done * hlo::host_bytes(program_.result_type(k)); };
    for (size_t k = 0; k < results.size(); ++k)
      if (program_.places_[results[k]].kind == Place::Kind::Result) at_[results[k]] = target(k);
    for (const Step& step : program_.steps_)
      step.operation.apply(static_cast<size_t>(part), at_[step.result], at_[step.operands[0]], at_[step.operands[1]],
                           at_[step.operands[2]]);
    for (size_t k = 0; k < results.size(); ++k)
      if (program_.places_[results[k]].kind == Place::Kind::Scratch)
        store_lanes(program_.result_type(k))(static_cast<size_t>(part), target(k), at_[results[k]], nullptr, nullptr,
                                             0);
  }
}

void LaneProgram::run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                      int64_t count) const {
  constexpr int64_t worthwhile = 1 << 15;  // element operations that are worth a second thread
  const auto work = static_cast<int64_t>(steps_.size());
  if (count * work < worthwhile || count <= block_) return Reader(*this, operands, count).read(0, count, results);
  const int64_t blocks = (count + block_ - 1) / block_;
  const int64_t grain = std::max<int64_t>(1, worthwhile / work / block_);
  parallel_for(blocks, grain, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * block_;
    const int64_t n = std::min(end * block_, count) - first;
    std::vector<std::byte*> to(results.begin(), results.end());
    for (size_t k = 0; k < to.size(); ++k) to[k] += first * hlo::host_bytes(result_type(k));
    Reader(*this, operands, n).read(first, n, to);
  });
}

}  // namespace sapper::eval
