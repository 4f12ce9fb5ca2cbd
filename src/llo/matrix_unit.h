// One matrix unit (MXU): weights are pushed into a staging register, a register of rows at a time, and latched as the
// gains; rows of a left operand are multiplied by them. From v6e on it is 256 by 256: a right half of columns and an
// upper half of lanes come in a register of their own, before the other half. On v5e the left operand may come through
// a staging register too, transposed on its way.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "llo/generation.h"
#include "llo/matrix_gains.h"

namespace sapper::llo {

// Which rows and columns of the weights a push gives.
enum class PushPlace : uint8_t {
  Upper,     // vmatpush1, and vmatpush of 128 columns: rows from the first on
  Lower,     // vmatpush2: rows from the 129th on
  Diagonal,  // vmatpush3: the left half gives rows and columns 1 to 128, the right half rows and columns 129 to 256;
             // the other two quarters are absent
};
inline constexpr int push_places = 3;

struct MatrixPush {
  PushPlace place = PushPlace::Upper;
  MatrixFormat format = MatrixFormat::F32;
  bool transposed = false;  // rows of the register are columns of the weights
  bool wide = false;        // with the right half that was prepared
  MatrixOperand left;
};

class MatrixUnit {
 public:
  static constexpr int staging_registers = 2;  // msra, msrb

  // vmatprep.subr: the right half of the next push.
  void prepare_columns(const MatrixOperand& right) { right_ = right; }
  // False: there is no room left.
  [[nodiscard]] bool push(int staging, const MatrixPush& push);
  // vlgmr: the staged weights become the gains; the next push starts a new set.
  void latch(int staging, PushOrder order);
  // vdwg: done with the gains; the next multiplication latches first.
  void release() { holds_gains_ = false; }
  [[nodiscard]] bool holds_gains() const { return holds_gains_; }

  // vmatprep.mubr: lanes 129 to 256 of the left operand.
  void prepare_lanes(const MatrixOperand& upper) { upper_ = upper; }
  // `lower` (and, if `wide`, what was prepared) times the gains: see MatrixGains::multiply.
  [[nodiscard]] std::vector<MatrixResult> multiply(const MatrixOperand& lower, MatrixFormat format, bool wide,
                                                   MatrixSum how);

  // vmatpush.lsf: the next rows, above those before, of a matrix whose transpose is the left operand. False: there is
  // no room left.
  [[nodiscard]] bool push_left(int staging, MatrixFormat format, const MatrixOperand& rows);
  // vllmr: the rows that were staged last are the left operand now, of so many times eight rows. False: there are none.
  [[nodiscard]] bool latch_left(uint32_t eights);
  // vmatmul.lmr: the next eight rows of the left operand times the gains; after the last ones come the first.
  [[nodiscard]] std::vector<MatrixResult> multiply_left(MatrixSum how);

 private:
  struct Staged {
    MatrixPush push;
    std::optional<MatrixOperand> right;
  };
  struct Rows {
    MatrixFormat format = MatrixFormat::F32;
    MatrixOperand rows;
  };
  struct Staging {
    std::vector<Staged> pushes;  // of weights
    std::vector<Rows> left;      // the first register has the last rows
    bool latched = false;        // the next push starts afresh
  };

  static void start_afresh(Staging& staging);

  std::array<Staging, staging_registers> stagings_;
  int left_staging_ = 0;  // that got rows of the left operand last
  std::optional<MatrixOperand> right_, upper_;
  std::vector<Rows> left_;
  int left_lanes_ = 0;  // rows of the left operand
  int left_lane_ = 0;   // the next one
  MatrixGains gains_;
  bool holds_gains_ = false;
};

}  // namespace sapper::llo
