// The reader of modules: header, computations, instructions. Operands are resolved as they are read; calls may name
// computations further down, which are resolved, and put before their callers, at the end.
//
//   text_reader.cc       module and computations
//   text_instruction.cc  instructions
#pragma once

#include <tsl/robin_map.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "hlo/text_attributes.h"
#include "hlo/text_name_table.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

class AttributeSet;

// Hash maps from words of the text; the hashes are kept, so that most probes compare no strings.
template <class Key, class Value>
using WordMap =
    tsl::robin_map<Key, Value, std::hash<Key>, std::equal_to<Key>, std::allocator<std::pair<Key, Value>>, true>;

class ModuleReader : private NameResolver {
 public:
  explicit ModuleReader(std::string_view text) : scan_(text), inferable_parts_(1'000'000 + text.size()) {}
  [[nodiscard]] Result<Module> read();

 private:
  // A computation that is being read, with the names of its instructions so far.
  struct Body {
    Computation computation;
    NameTable names;
    std::vector<InstructionIndex> unnamed;  // instructions without a name of their own in the text
    bool has_root = false;
    int64_t parameter_bound = 0;  // above all parameter numbers, the largest of which is at last_parameter
    const char* last_parameter = nullptr;
  };
  // While reading, a place in Instruction::called is a computation, or unset, or from first_pending_call on the number
  // of a pending call.
  static constexpr ComputationIndex unset_call = 0x80000000;
  static constexpr ComputationIndex first_pending_call = unset_call + 1;
  // The name of a computation that had not been read yet when it was called.
  struct PendingCall {
    std::string_view name;
    const char* where;
  };
  // An opcode as text says it: `slice-start` is an async-start of a computation that is one slice.
  struct StatedOpcode {
    Opcode opcode = Opcode::Parameter;
    std::optional<Opcode> wrapped;
  };

  [[nodiscard]] bool stands_alone() const;
  void read_lone_instruction();
  void read_computations();
  void read_computation();
  [[nodiscard]] Shape read_signature();
  ComputationIndex read_body(std::string_view name, const char* where);
  ComputationIndex add_computation(Computation computation, std::string_view name, const char* where);
  void complete(Body& body);
  void name_unnamed(Body& body);
  void name_unnamed_computations();
  void resolve_pending_calls();
  void order_computations();
  void mark_fusions();

  void read_instruction();
  // From the opcode on. `name_start` is where the name is, null for an instruction that the text does not name. The
  // commas after an instruction nested in the operands of another are not before attributes.
  InstructionIndex read_operation(Instruction instruction, const char* name_start, bool nested);
  void infer_shape(Instruction& instruction, const char* start);
  [[nodiscard]] StatedOpcode read_opcode();
  void read_operands(Instruction& instruction);
  [[nodiscard]] InstructionIndex read_operand();
  [[nodiscard]] InstructionIndex read_element_suffixes(InstructionIndex tuple, const char* start);
  InstructionIndex add_parameter(const Shape& shape, std::string_view name, const char* name_start);
  void read_attributes(Instruction& instruction, bool nested);
  void read_wrapped_attributes(Instruction& start, Opcode wrapped);
  void read_attribute(AttributeSet& set, AttributeReader& in, std::string& key, bool& in_wire);
  [[nodiscard]] std::shared_ptr<const Attributes> share_attributes(const std::string& key, Attributes& wire);
  [[nodiscard]] Shape read_shared_shape();
  void read_shared_metadata(Instruction& instruction);
  // `name_start` is null for an instruction that the text does not name.
  InstructionIndex add_instruction(Instruction instruction, const char* name_start);
  [[nodiscard]] Computation& computation() { return bodies_.back()->computation; }

  void read_called(Instruction& instruction, size_t slot) override;
  [[nodiscard]] int64_t read_instruction_id() override;

  Scanner scan_;
  Module module_;
  std::vector<Body*> bodies_;  // nested: the innermost last
  NameTable computations_;
  std::deque<std::string> made_names_;  // of computations without a name in the text
  std::vector<ComputationIndex> unnamed_computations_;
  std::vector<PendingCall> pending_;
  bool has_entry_ = false;
  bool makes_parameters_ = false;  // of the operands that an instruction that stands alone names
  int64_t next_id_ = 0;
  size_t inferable_parts_;  // of shapes that the text leaves out, so that they stay in proportion to it
  // Equal texts of shapes, metadata and attributes are read once and shared.
  WordMap<std::string_view, Shape> shapes_;
  WordMap<std::string_view, std::shared_ptr<const proto::OpMetadata>> metadata_;
  WordMap<std::string, std::shared_ptr<const Attributes>> attributes_;
};

}  // namespace sapper::hlo
