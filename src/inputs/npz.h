// NumPy .npz archives as literals: what --inputs reads and `sapper eval --output` writes.
//
// Types that NumPy lacks travel as bit patterns: bfloat16 as uint16, f8 and f4 as uint8, s2/s4 as int8, u2/u4 as uint8;
// pred is bool. A single element may come with any number of dimensions of 1. The reader is told the wanted shapes and
// converts; sizes and types that do not fit are BadInput naming the array.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"

namespace sapper::inputs {

struct NpyArray {
  std::string descr;  // NumPy's type string: "<f4", "|u1", "<c8", "|b1", "|V2" (bfloat16 saved by ml_dtypes)
  bool fortran_order = false;
  std::vector<int64_t> dimensions;
  std::string bytes;
};

using Npz = std::map<std::string, NpyArray>;  // names without .npy

// Stored and deflated members, zip64; `archive` names the file in errors.
[[nodiscard]] Result<Npz> parse_npz(std::string_view bytes, const std::string& archive);
[[nodiscard]] Result<Npz> read_npz(const std::string& path);
[[nodiscard]] std::string npz_bytes(const Npz& arrays);  // stored; deterministic
[[nodiscard]] Status write_npz(const std::string& path, const Npz& arrays);

// `array` as a literal of `shape`: element count, dimensions and type must agree (types as the header comment says).
[[nodiscard]] Result<hlo::Literal> to_literal(const NpyArray& array, const hlo::Shape& shape, const std::string& name);
[[nodiscard]] NpyArray to_npy(const hlo::Literal& literal);

// The arrays `PREFIX0`, `PREFIX1`, ... for the leaves of `shapes` in order, put together.
[[nodiscard]] Result<std::vector<hlo::Literal>> read_literals(const Npz& npz, const std::string& prefix,
                                                              const std::vector<hlo::Shape>& shapes);

}  // namespace sapper::inputs
