// Pieces and runs that follow from a number.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "store/records.h"

namespace sapper::store {

inline Piece sample_piece(int i) {
  return {.fingerprint = fmt::format("{:032x}", static_cast<unsigned>(i) * 2654435761U),
          .module = fmt::format("HloModule piece{}\nENTRY e {{ ROOT p = f32[{}] parameter(0) }}\n", i, i),
          .kind = i % 2 == 0 ? "fusion" : "dot",
          .cost = 100.0 * i,
          .instructions = i,
          .occurrences = {{"model.hlo", "main", fmt::format("fusion.{}", i), "layer.py:12", 1},
                          {"model.hlo", "body", fmt::format("fusion.{}", i), "", 3}}};
}

inline std::vector<Piece> sample_pieces(int count) {
  std::vector<Piece> pieces;
  pieces.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) pieces.push_back(sample_piece(i));
  return pieces;
}

inline RunKey sample_key(int i) { return {sample_piece(i).fingerprint, "tpu:v5e", 7, "0.1.0"}; }

// Every third run is a mismatch with two findings, every third an undetermined one.
inline Record sample_record(int i) {
  Record record{.run = {.key = sample_key(i),
                        .verdict = "agree",
                        .reason = "",
                        .max_excess = 0.5,
                        .max_relative = 1e-7 * i,
                        .suspicion = {},
                        .decided = 1.0,
                        .seconds = 0.25,
                        .compiler_seconds = 0.125,
                        .steps = fmt::format(R"([{{"step":{}}}])", i)},
                .findings = {},
                .artifacts = {{"inputs.npz", fmt::format("inputs of {}", i)}, {"common", "the same in every run"}}};
  if (i % 3 == 1) {
    record.run.verdict = "mismatch";
    record.run.max_excess = 2.0 + i;
    record.findings = {{"algsimp", fmt::format("algsimp/{}", i), "values differ", 2, 2.0 + i, 0.5},
                       {"", fmt::format("late/{}", i), "", 1, {}, {}, "flaky"}};
  } else if (i % 3 == 2) {
    record.run.verdict = "undetermined";
    record.run.reason = i % 2 == 0 ? "no bound" : "too large";
  }
  return record;
}

}  // namespace sapper::store
