// Piece: a part of a large program as a module of its own, and where in the source it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace sapper::isolate {

// What a piece mostly does, by its heaviest operation.
enum class Kind {
  Elementwise,
  Movement,
  Indexing,
  Reduction,
  Ordering,
  Random,
  LinearAlgebra,
  Matmul,
  Convolution,
  Custom,
  Control
};

[[nodiscard]] std::string_view to_string(Kind kind);

// An array of the source: the leaf-th (in tuple order) of what `instruction` of the occurrence's computation gives.
struct ValueRef {
  hlo::InstructionIndex instruction = 0;
  uint32_t leaf = 0;
  bool operator==(const ValueRef&) const = default;
};

// Of a constant of the source that is a parameter of the piece. Over finite elements, but for `non_finite`, which
// counts the others.
struct ConstantStatistics {
  uint32_t parameter = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double stddev = 0;
  int64_t non_finite = 0;
};

// One place where a piece stands. Indices are those of the source module, which stays with whoever read it; where it is
// needed for people, provenance.h says it in words.
struct Occurrence {
  uint32_t module = 0;  // which of the modules that were cut (see merge)
  hlo::ComputationIndex computation = 0;
  hlo::InstructionIndex instruction = 0;  // the one that says most: the fusion, the dot, the last
  double executions = 1;                  // how often one run of the module comes here, as far as trip counts are known
  std::vector<ValueRef> inputs;           // what parameter k of the piece stands for
  std::vector<ValueRef> outputs;          // what leaf k of its result stands for
  std::vector<ConstantStatistics> constants;
};

struct Piece {
  // Verified; one device; parameters are arrays, the result an array or a tuple of arrays, all in default memory;
  // neither metadata nor ids. Parameters are numbered in an order that depends on what the piece computes alone.
  hlo::Module module;
  std::string fingerprint;  // piece_fingerprint(module)
  Kind kind = Kind::Elementwise;
  double cost = 0;  // of one execution, in cycles: what the compiler estimated where the source says so, else a guess
  std::vector<Occurrence> occurrences;  // at least one
};

// The fingerprint of `module` (hlo/fingerprint.h) but for what does not make another piece: the order of the operands
// of commutative operations of two arrays, and the order of a tuple that is the result. 32 hex digits.
[[nodiscard]] std::string piece_fingerprint(const hlo::Module& module);

}  // namespace sapper::isolate
