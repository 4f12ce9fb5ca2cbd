// What a campaign remembers, as plain values. Identifiers (fingerprints, verdicts, stages, signatures) are strings
// whose meaning belongs to the rooms that make them; settings and steps are JSON text that comes back as it was given.
//
// Text is kept as UTF-8: a byte that is no part of it, and a NUL, comes back as U+FFFD. A double that is NaN comes back
// as nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sapper::store {

struct Campaign {
  std::string name;      // the key: 1 to 200 bytes
  std::string settings;  // JSON
  std::string created;   // UTC, "2031-05-09T14:03:22Z"
};

// Where a piece was cut from.
struct Occurrence {
  std::string module;       // the file
  std::string computation;  // with `instruction`: by its names there
  std::string instruction;
  std::string source;  // "file.py:12", of the metadata; empty: unknown
  int64_t times = 1;   // that it is executed for one execution of the module, as far as that is known
};

struct Piece {
  std::string fingerprint;  // the key
  std::string module;       // its bytes, kept as an artifact; empty: not kept
  std::string kind;
  std::optional<double> cost;  // estimated cycles of one execution
  int64_t instructions = 0;
  std::vector<Occurrence> occurrences;
};

// What makes a run the same run.
struct RunKey {
  std::string piece;  // fingerprint
  std::string configuration;
  uint64_t seed = 0;
  std::string tool;  // version of what ran it

  bool operator==(const RunKey&) const = default;
  [[nodiscard]] std::string id() const;  // 32 hex digits that follow from the key alone
};

struct Run {
  RunKey key;
  std::string verdict;
  std::string reason;
  std::optional<double> max_excess;    // largest deviation over its bound; infinite where a bound is 0
  std::optional<double> max_relative;  // largest relative error
  std::optional<double> suspicion;     // as max_excess, over what the bound would be if roundings were independent
  std::optional<double> decided;       // share of the elements that were decided
  double seconds = 0;
  double compiler_seconds = 0;  // of them inside the compiler and its executables
  std::string steps;            // JSON: the cascade
};

struct Finding {
  std::string stage;      // the guilty stage or pass; empty: unknown
  std::string signature;  // the same for findings of one defect
  std::string message;
  int64_t severity = 0;  // the larger is read first
  std::optional<double> max_excess;
  std::optional<double> max_relative;
  std::string status = "new";
};

// Bytes that belong to a run: "inputs.npz", "stage 12".
struct Artifact {
  std::string name;  // unique in the run
  std::string bytes;
};

// A run with all that it left.
struct Record {
  Run run;
  std::vector<Finding> findings;  // no two with the same stage and signature
  std::vector<Artifact> artifacts;
};

// A finding read back, with what is needed to list and rank it.
struct RankedFinding {
  std::string id;  // 32 hex digits that follow from the run's key, the stage and the signature
  Finding finding;
  RunKey run;
  std::string verdict;  // of the run, as `reason`
  std::string reason;
  std::string kind;  // of the piece, as `instructions`
  int64_t instructions = 0;
  int64_t times = 0;             // that the piece is executed: the sum over its occurrences in the campaign
  std::optional<double> impact;  // cost of the piece * times
};

// Sums over a campaign.
struct Summary {
  int64_t pieces = 0;       // distinct
  int64_t pieces_run = 0;   // of them with a run
  int64_t occurrences = 0;  // places that they were cut from
  int64_t runs = 0;
  int64_t findings = 0;
  double seconds = 0;
  double compiler_seconds = 0;
};

// How many runs say what, the most frequent first.
using Counts = std::vector<std::pair<std::string, int64_t>>;

}  // namespace sapper::store
