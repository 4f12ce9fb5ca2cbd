// A view: which element of a row-major array each element of a value is, when the value is the array broadcast,
// transposed, sliced or reversed. Views compose, so that chains of such operations cost nothing until the elements are
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace sapper::eval {

// Element (i0, i1, ...) is element offset + i0 * dims[0].stride + i1 * dims[1].stride + ... of the array.
struct View {
  struct Dim {
    int64_t size = 0;
    int64_t stride = 0;
    bool operator==(const Dim&) const = default;
  };
  static constexpr size_t most_dims = 32;  // of a collapsed view that is read in place
  std::vector<Dim> dims;
  int64_t offset = 0;

  // The array itself.
  [[nodiscard]] static View of(std::span<const int64_t> dimensions);

  // The array in its own order: element i is element i.
  [[nodiscard]] bool is_identity() const;
  // Neighbours come from neighbours or are the same element: reading runs of them is fast.
  [[nodiscard]] bool reads_runs() const;
  // Neighbouring dimensions that advance as one are one, and sizes of 1 are gone.
  [[nodiscard]] View collapsed() const;
  // The same elements under other dimensions of the same count; nullopt when strides cannot say it.
  [[nodiscard]] std::optional<View> reshaped(std::span<const int64_t> dimensions) const;
};

// `instruction` (broadcast, transpose, slice, reverse, reshape) applied to a view of its operand; nullopt when it is
// another opcode or cannot be said by strides.
[[nodiscard]] std::optional<View> apply_to_view(const hlo::Instruction& instruction, const View& operand);

}  // namespace sapper::eval
