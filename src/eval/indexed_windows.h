// IndexedWindows: what gather and scatter share. An array of index vectors picks windows of an operand; each window
// corresponds to a part of a second array, `batched`: the result of a gather, the updates of a scatter.
#pragma once

#include <optional>

#include "eval/index_space.h"
#include "hlo/hlo.pb.h"

namespace sapper::eval {

struct IndexedWindows {
  // One component of the index vectors: how far it moves the window in the operand.
  struct Component {
    int64_t position;  // elements of the index array from the vector's start
    int64_t stride;    // elements of the operand
    int64_t last;      // largest start that keeps the window inside the operand; negative: none does
  };
  // Arrays of the axes below, for Walk::offset.
  enum Array : size_t { Operand, Batched, Indices };

  std::vector<Axis<3>> batch;   // over the index vectors, in their row-major order
  std::vector<Axis<2>> window;  // over one window
  std::vector<Component> components;

  // Operand offset of the window that the index vector at `indices_offset` picks, counted from the batch position's
  // own.
  [[nodiscard]] int64_t clamped_start(const IndexReader& indices, int64_t indices_offset) const;
  // The same; nullopt when part of the window is outside the operand.
  [[nodiscard]] std::optional<int64_t> start_inside(const IndexReader& indices, int64_t indices_offset) const;
};

// Index vectors past the dynamic sizes of `indices` are not walked.
[[nodiscard]] IndexedWindows gather_windows(const proto::HloInstructionProto& attributes, const hlo::Shape& operand,
                                            const hlo::Literal& indices, const hlo::Shape& result);
[[nodiscard]] IndexedWindows scatter_windows(const proto::HloInstructionProto& attributes, const hlo::Shape& operand,
                                             const hlo::Literal& indices, const hlo::Shape& updates);

}  // namespace sapper::eval
