// The kernels of a TPU program: each is run from its LLO dumps on the machine (llo/), in the place of its instruction
// in the optimized module, and judged by itself, on its own inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/judge.h"
#include "hlo/module.h"
#include "llo/dump.h"
#include "llo/machine.h"

namespace sapper::check {

// Something that no correct kernel does, where it was seen.
struct KernelFinding {
  llo::FindingKind kind = llo::FindingKind::Halt;
  std::string message;
  std::string stage;            // "original", "final_bundles"
  uint32_t line = 0;            // of the dump; 0: it is about the whole kernel
  std::string opcode;           // of the instruction there
  std::string hlo_instruction;  // that the LLO instruction was made for; empty: not stated
  // The last stage, which is what runs, does nothing of the kind: emitters stage weights in scratch memory beyond its
  // end, and passes put the stored registers in the place of the loads. No reason for a verdict.
  bool undone = false;
};

struct KernelReport {
  std::string instruction;           // the HLO instruction
  std::string kernel;                // whose dumps it was run from
  Verdict verdict = Verdict::Agree;  // the worst over its runs
  std::string reason;
  std::vector<OutputReport> outputs;    // of the decisive run
  std::vector<KernelFinding> findings;  // of the first run that had any
  // Whether the first stage already is not what the HLO says; else it is a later one that is not as the first.
  bool emitted_wrong = false;
  // What the first run was run on that was wrong, to look closer; with KernelOptions::keep_calls, the first one.
  struct Call {
    std::vector<hlo::Literal> operands;
    std::vector<hlo::Shape> operand_shapes;
    hlo::Shape result;
  };
  std::optional<Call> call;
  int64_t runs = 0;
  uint64_t steps = 0;  // of all runs and stages
  uint64_t vector_steps = 0;
  double seconds = 0;  // in the machine
};

struct KernelsReport {
  Verdict verdict = Verdict::Agree;  // the worst of the kernels
  std::string reason;
  int64_t kernels = 0;                    // instructions that are kernels
  int64_t from_llo = 0;                   // of them, those whose value came from LLO
  std::vector<KernelReport> reports;      // in the order in which they first ran
  std::vector<std::string> without_dump;  // fusions and the like that no kernel was dumped for
  std::optional<hlo::Literal> output;     // of the program, its kernels' values flowing on

  // The first kernel, in the order of running, that is a mismatch; null: none.
  [[nodiscard]] const KernelReport* first_wrong() const;
};

struct KernelOptions {
  llo::MachineOptions machine;
  std::vector<std::string> stages = {"original",
                                     "final_bundles"};  // the first gives the value; the others must equal it
  bool keep_calls = false;
  eval::Options evaluation;
  std::optional<numerics::Tolerance> tolerance;
  Policy policy;
};

// Evaluates `optimized`, the compiler's final program, with its kernels run from `dump`. What cannot be run is
// evaluated instead, and is undetermined. `optimized` must be verified.
[[nodiscard]] KernelsReport run_kernels(const hlo::Module& optimized, const llo::ModuleDump& dump,
                                        const std::vector<hlo::Literal>& arguments, const KernelOptions& options);

}  // namespace sapper::check
