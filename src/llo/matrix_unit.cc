#include "llo/matrix_unit.h"

#include <utility>

namespace sapper::llo {

namespace {

int index_of(PushPlace place) { return static_cast<int>(place); }

// Rows that fit. One place of a 256-row unit may take all of them.
int room(const MatrixPush& push) { return push.wide && push.place == PushPlace::Upper ? 2 * kLanes : kLanes; }

}  // namespace

bool MatrixUnit::push(int staging, const MatrixPush& push) {
  Staging& target = stagings_[staging];
  if (std::exchange(target.latched, false)) target.pushes.clear();
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

}  // namespace sapper::llo
