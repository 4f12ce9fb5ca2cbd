#include "llo/matrix_unit.h"

#include <utility>

namespace sapper::llo {

namespace {

int index_of(PushPlace place) { return static_cast<int>(place); }

// Rows that fit. One place of a 256-row unit may take all of them.
int room(const MatrixPush& push) { return push.wide && push.place == PushPlace::Upper ? 2 * kLanes : kLanes; }

// The bits of a number, of f32 or of bf16 rows, as an f32's.
uint32_t f32_at(const Vreg& packed, MatrixFormat format, int row, int lane) {
  const int parts = rows_of(format) / kSublanes;
  const uint32_t word = packed.word[row / parts * kLanes + lane];
  if (parts == 1) return word;
  return row % parts == 0 ? word << 16 : word & 0xffff0000;
}

}  // namespace

void MatrixUnit::start_afresh(Staging& staging) {
  if (!std::exchange(staging.latched, false)) return;
  staging.pushes.clear();
  staging.left.clear();
}

bool MatrixUnit::push(int staging, const MatrixPush& push) {
  Staging& target = stagings_[staging];
  start_afresh(target);
  int rows = rows_of(push.format);
  for (const Staged& before : target.pushes)
    if (before.push.place == push.place) rows += rows_of(before.push.format);
  if (rows > room(push)) return false;
  std::optional<MatrixOperand> right;
  if (push.wide) right = right_ ? *right_ : MatrixOperand::unknown();
  target.pushes.push_back({push, right});
  return true;
}

void MatrixUnit::latch(int staging, PushOrder order) {
  Staging& source = stagings_[staging];
  std::array<int, push_places> total{};
  for (const Staged& staged : source.pushes) total[index_of(staged.push.place)] += rows_of(staged.push.format);

  gains_.clear();
  const bool reversed = order == PushOrder::UpwardsReversed;
  std::array<int, push_places> before{};
  for (const auto& [push, right] : source.pushes) {
    int& pushed = before[index_of(push.place)];
    const int rows = rows_of(push.format);
    const int in_place = order == PushOrder::Downwards ? pushed : total[index_of(push.place)] - pushed - rows;
    pushed += rows;
    const int left_first = push.place == PushPlace::Lower ? in_place + kLanes : in_place;
    const int right_first = push.place == PushPlace::Upper ? in_place : in_place + kLanes;
    gains_.put(push.left, push.format, left_first, 0, push.transposed, reversed);
    if (right) gains_.put(*right, push.format, right_first, 1, push.transposed, reversed);
  }
  source.latched = true;
  holds_gains_ = true;
}

std::vector<MatrixResult> MatrixUnit::multiply(const MatrixOperand& lower, MatrixFormat format, bool wide,
                                               MatrixSum how) {
  std::vector<MatrixOperand> left{lower};
  if (wide) left.push_back(upper_ ? *upper_ : MatrixOperand::unknown());
  return gains_.multiply(left, format, how);
}

bool MatrixUnit::push_left(int staging, MatrixFormat format, const MatrixOperand& rows) {
  Staging& target = stagings_[staging];
  start_afresh(target);
  int count = rows_of(format);
  for (const Rows& before : target.left) count += rows_of(before.format);
  if (count > kLanes) return false;
  target.left.push_back({format, rows});
  left_staging_ = staging;
  return true;
}

bool MatrixUnit::latch_left(uint32_t eights) {
  Staging& source = stagings_[left_staging_];
  if (source.latched || source.left.empty()) return false;
  left_ = source.left;
  left_lanes_ = static_cast<int>(eights) * kSublanes;
  left_lane_ = 0;
  source.latched = true;
  return true;
}

std::vector<MatrixResult> MatrixUnit::multiply_left(MatrixSum how) {
  MatrixOperand next;  // eight rows, one a lane of left_
  next.undefined.emplace();
  next.mask.emplace();
  int k = 0;
  for (size_t i = left_.size(); i-- > 0;) {
    const Rows& from = left_[i];
    for (int row = 0; row < rows_of(from.format); ++row, ++k)
      for (int lane = 0; lane < kSublanes && left_lane_ + lane < kLanes; ++lane) {
        const int place = lane * kLanes + k;
        const auto bits_of = [&](const Vreg& of) { return f32_at(of, from.format, row, left_lane_ + lane); };
        const uint32_t counts = from.rows.mask ? bits_of(*from.rows.mask) : ~uint32_t{0};
        next.value.word[place] = bits_of(from.rows.value) & counts;
        if (from.rows.undefined) next.undefined->word[place] = bits_of(*from.rows.undefined) & counts;
        next.mask->word[place] = ~uint32_t{0};
      }
  }
  left_lane_ += kSublanes;
  if (left_lane_ >= left_lanes_) left_lane_ = 0;
  return gains_.multiply({next}, MatrixFormat::F32Rounded, how);
}

}  // namespace sapper::llo
