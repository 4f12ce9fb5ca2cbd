// Module, Computation, Instruction: the in-memory form of an HLO program. Plain values: copy, edit, build by hand.
//
// What every pass over a program looks at (opcode, shape, operands, called computations, dimensions, ...) is a field of
// Instruction. Everything that only some opcodes carry (windows, dimension numbers, sharding, backend config, ...)
// stays in the form of the wire schema, in `attributes`: one definition serves text, proto, evaluator and verifier, and
// fields that a newer release invented survive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/hlo.pb.h"
#include "hlo/literal.h"
#include "hlo/opcode.h"
#include "hlo/shape.h"

namespace sapper::hlo {

using InstructionIndex = uint32_t;  // position in Computation::instructions
using ComputationIndex = uint32_t;  // position in Module::computations

// The wire form of an instruction with the fields that Instruction holds itself left empty: name, opcode, shape,
// metadata, literal, parameter_number, tuple_index, dimensions, id, operand_ids, called_computation_ids. Control
// predecessors are here as proto ids (control_predecessor_ids). A shape or literal whose wire form says more than Shape
// or Literal can (fields of newer releases) is here in full; it is written again as long as it agrees.
using Attributes = proto::HloInstructionProto;

struct SourcePosition {
  int32_t line = 0;  // 1-based; 0: not read from text
  int32_t column = 0;
};

struct Instruction {
  Opcode opcode = Opcode::Parameter;
  std::string name;  // without the leading %
  Shape shape;
  std::vector<InstructionIndex> operands;  // each below this instruction's own index
  // In the order of the wire form: fusion/call/map/reduce/sort: one; while: body, condition; conditional: branches;
  // select-and-scatter: select, scatter.
  std::vector<ComputationIndex> called;
  std::vector<int64_t> dimensions;         // broadcast, reduce, transpose, concatenate, iota, sort, reverse, ...
  int64_t parameter_number = 0;            // parameter
  int64_t tuple_index = 0;                 // get-tuple-element
  std::shared_ptr<const Literal> literal;  // constant; null when the text elided it: {...}
  std::shared_ptr<const proto::OpMetadata> metadata;    // null: none; may be shared between instructions
  std::shared_ptr<const Attributes> shared_attributes;  // null: none; may be shared between instructions
  int64_t id = -1;                                      // unique in the module; -1: numbered when written
  SourcePosition position;

  // Never null: the empty attributes when there are none.
  [[nodiscard]] const Attributes& attributes() const;
  // The attributes for writing: unshared first.
  [[nodiscard]] Attributes& edit_attributes();
};

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;  // operands come before their users
  InstructionIndex root = 0;
  int64_t id = -1;
  bool is_fusion = false;                 // the body of a fusion
  std::string execution_thread;           // "" and "main" are the main thread
  proto::HloComputationProto attributes;  // fields not held above; program_shape only where it is not the derived one
  // Of a scheduled computation read from a proto that lists the instructions in another order than the schedule's:
  // listed_order[k] is the k-th listed one. Written again as long as it still is a legal order.
  std::vector<InstructionIndex> listed_order;

  [[nodiscard]] const Instruction& root_instruction() const { return instructions[root]; }
  // Indices of the parameters in the order of their numbers. Linear in the computation.
  [[nodiscard]] std::vector<InstructionIndex> parameters() const;
};

struct Module {
  std::string name;
  std::vector<Computation> computations;  // called ones before their callers
  ComputationIndex entry = 0;
  int64_t id = 0;
  bool is_scheduled = false;  // then each computation's order is its schedule
  // Everything else of the wire form: aliasing, buffer donors, prefetches, frontend attributes, stack frames, ...;
  // `computations`, `name`, `id`, `entry_*` and `schedule` are empty here, host_program_shape is here only where it is
  // not the derived one.
  proto::HloModuleProto attributes;
  // replica_count, num_partitions, use_spmd_partitioning, ... as far as stated.
  proto::HloModuleConfigProto config;
  // Shapes with layouts at the boundary (entry_computation_layout); when absent the entry computation's own shapes
  // hold.
  bool has_entry_layout = false;
  std::vector<Shape> entry_parameter_layouts;
  Shape entry_result_layout;

  [[nodiscard]] const Computation& entry_computation() const { return computations[entry]; }
  [[nodiscard]] int64_t instruction_count() const;
};

// The operation on two of its parameters that a computation (a reducer, a combiner) is; nullopt: it is more than one.
[[nodiscard]] std::optional<Opcode> single_operation(const Computation& computation);

// Calls visit(computation, instruction) for all instructions in order.
template <class Visit>
void for_each_instruction(const Module& module, Visit&& visit) {
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions) visit(computation, instruction);
}

// An error about `instruction`, with its position where it was read from text.
[[nodiscard]] Error error_at(ErrorKind kind, const Instruction& instruction, std::string message);

}  // namespace sapper::hlo
