// What numbers a matrix unit sees in a register: element types, how many rows of 128 elements a register holds, and
// which row lies where.
#pragma once

#include <cstdint>

#include "llo/vreg.h"

namespace sapper::llo {

enum class MatrixFormat : uint8_t {
  F32,
  F32Rounded,  // an f32 rounded to the nearest bf16, ties to even
  F32High,     // the first of an f32's three bf16 parts: its upper 16 bits
  F32Low,      // the second part: what the first leaves, cut to its upper 16 bits
  Bf16,
  S8,
  U8,
  F8E5M2,
  F8E4M3,  // the finite one (f8e4m3fn)
};

[[nodiscard]] int bits_of(MatrixFormat format);
// Sums are s32, not f32.
[[nodiscard]] bool is_integer(MatrixFormat format);
// 8, 16 or 32. Row r of packed elements lies in sublane r / n, part r % n from the low bits on, for n parts a word.
[[nodiscard]] inline int rows_of(MatrixFormat format) { return kSublanes * 32 / bits_of(format); }

// The numbers of `packed`, row by row: rows[r * 128 + lane]. All are exact.
void decode_rows(const Vreg& packed, MatrixFormat format, double* rows);

// rows[r * 128 + lane] = 1 where a bit that the number is made of is set in `bits`, else 0.
void mark_rows(const Vreg& bits, MatrixFormat format, uint8_t* rows);

}  // namespace sapper::llo
