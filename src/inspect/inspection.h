// Inspection: what was seen inside of one intact kernel while it ran, instruction by instruction of its HLO, beside
// what the reference evaluator computes there. Plain values: an executor makes them (the LLO machine, XLA:CPU's own
// code in a process), reports show them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/literal.h"
#include "hlo/module.h"
#include "isolate/capture.h"

namespace sapper::inspect {

// Where an instruction stands once its kernel was looked into.
enum class Standing : uint8_t {
  Observed,    // its value was in registers or memory, as the reference has it
  Folded,      // it was nowhere, and what uses it is right: the compiler did without
  Explained,   // it is not as the reference has it, but exactly as a legal liberty makes it (`liberty`)
  Diverges,    // what it takes is right, what it makes is not
  Downstream,  // its value is not the reference's because what it takes is not
  Unknown,     // it was nowhere, and nothing that follows tells
};
[[nodiscard]] std::string_view to_string(Standing standing);

// What a compiler may do to an instruction under excess precision and contraction.
enum class Liberty : uint8_t {
  None,
  NotRounded,  // the result, of a narrow type, is kept as wide as it was computed
  Elided,      // a convert is not there: its operand passes through
  Fused,       // a product and the sum that takes it are rounded once
};
[[nodiscard]] std::string_view to_string(Liberty liberty);

// A place in the machine code where a value, or a part of it, was read.
struct ProbePoint {
  size_t line = 0;          // position in Inspection::code
  std::string reg;          // "v17", "zmm3"; "vmem" of what was read from memory
  uint64_t executions = 0;  // how often it ran
  int64_t elements = 0;     // of the instruction that were read here
  int64_t by_value = 0;     // of them, those whose places no addresses told, but what the register held
};

// One element that is not as expected.
struct DifferingElement {
  std::vector<int64_t> index;
  double got = 0;
  double expected = 0;
  size_t line = 0;  // of Inspection::code that made it
  std::string reg;
  int lane = 0;  // element of the register
  uint64_t execution = 0;
};

struct InspectedInstruction {
  hlo::ComputationIndex computation = 0;  // in Inspection::module
  hlo::InstructionIndex instruction = 0;
  Standing standing = Standing::Unknown;
  Liberty liberty = Liberty::None;
  std::string reason;  // a sentence for people; empty where the standing says all
  std::vector<ProbePoint> probes;
  int64_t elements = 0;
  int64_t seen = 0;       // of them read in the kernel
  int64_t differing = 0;  // of those seen
  isolate::TensorSummary expected;
  isolate::TensorSummary got;  // of the elements that were seen
  double max_relative = 0;     // over the differing elements
  double max_absolute = 0;
  std::vector<int64_t> box_low, box_high;  // of the differing elements, inclusive; empty: none differs
  std::optional<DifferingElement> worst;   // by relative error
  // Within the window only: the whole values. What was not seen is as in `expected_value`, and false in
  // `seen_elements`, which is empty where everything was seen.
  std::optional<hlo::Literal> expected_value;
  std::optional<hlo::Literal> got_value;
  std::vector<bool> seen_elements;
};

// A line of the machine code.
struct CodeLine {
  std::string text;             // the instruction as its dump or disassembler writes it
  std::string address;          // bundle or offset; empty: none
  std::string hlo_instruction;  // that it was made for, or whose value it makes; empty: unknown
};

struct Inspection {
  std::string target;  // "tpu:v5e", "cpu@0.115"
  std::string stage;   // "final_bundles", "original", "native"
  std::string kernel;  // the HLO instruction whose kernel it is
  uint64_t seed = 0;
  std::string inputs_kind;
  hlo::Module module;  // the kernel alone: its fusion's computations, the entry's root being the kernel
  std::vector<InspectedInstruction> instructions;  // in the order of execution, nested fusions entered
  std::vector<CodeLine> code;
  std::optional<size_t> first_divergence;  // in `instructions`
  // What the run itself showed: wrong output elements, and findings of the machine (bounds, races), a line each.
  int64_t output_elements = 0;
  int64_t output_differing = 0;
  std::vector<std::string> notes;
  std::string command;  // that shows this again
  uint64_t steps = 0;
  double seconds = 0;
};

}  // namespace sapper::inspect
