// The writer of modules: header, computations, instructions. Names that text cannot say, or that are not unique where
// they must be, are changed as XLA does when it loads such a module.
#include <tsl/robin_map.h>

#include "hlo/text.h"
#include "hlo/text_attributes.h"
#include "hlo/text_header.h"
#include "hlo/text_literal.h"
#include "hlo/text_names.h"
#include "hlo/text_string.h"

namespace sapper::hlo {
namespace {

class Writer : private NameSource {
 public:
  Writer(const Module& module, const PrintOptions& options)
      : module_(module), options_(options), computation_names_(module.computations) {}

  std::string write_module() && {
    append_header(out_, module_, options_);
    if (options_.metadata) append_stack_frames(out_, module_);
    for (ComputationIndex i = 0; i < module_.computations.size(); ++i) {
      out_ += '\n';
      write_computation(i);
    }
    return std::move(out_);
  }

  std::string write_one(const Computation& computation, const Instruction& instruction) && {
    enter(computation);
    write_instruction(instruction);
    return std::move(out_);
  }

 private:
  void enter(const Computation& computation) {
    computation_ = &computation;
    names_.emplace(computation.instructions);
    by_id_.clear();
  }

  void write_computation(ComputationIndex index) {
    const Computation& computation = module_.computations[index];
    enter(computation);
    if (index == module_.entry) out_ += "ENTRY ";
    append_computation(out_, index);
    write_signature(computation);
    out_ += " {\n";
    for (InstructionIndex i = 0; i < computation.instructions.size(); ++i) {
      out_ += i == computation.root ? "  ROOT " : "  ";
      write_instruction(computation.instructions[i]);
      out_ += '\n';
    }
    out_ += '}';
    if (!computation.execution_thread.empty() && computation.execution_thread != "main") {
      out_ += ", execution_thread=";
      append_quoted(out_, computation.execution_thread);
    }
    out_ += '\n';
  }

  void write_signature(const Computation& computation) {
    out_ += " (";
    const char* separator = "";
    for (const InstructionIndex i : computation.parameters()) {
      fmt::format_to(std::back_inserter(out_), "{}{}: {}", separator, (*names_)[i],
                     computation.instructions[i].shape.to_text(false));
      separator = ", ";
    }
    out_ += ") -> ";
    out_ += computation.root_instruction().shape.to_text(false);
  }

  void write_instruction(const Instruction& instruction) {
    append_name(out_, (*names_)[static_cast<size_t>(&instruction - computation_->instructions.data())]);
    out_ += " = ";
    out_ += instruction.shape.to_text(options_.layouts);
    out_ += ' ';
    out_ += to_string(instruction.opcode);
    out_ += '(';
    if (instruction.opcode == Opcode::Parameter) {
      out_ += std::to_string(instruction.parameter_number);
    } else if (instruction.opcode == Opcode::Constant) {
      write_constant(instruction);
    } else {
      write_operands(instruction);
    }
    out_ += ')';
    const AttributeWriter writer{out_, *computation_, instruction, instruction.attributes(), *this, options_};
    for (const AttributeUse& use : attributes_of(instruction.opcode)) write_attribute(use, writer);
    for (const AttributeUse& use : common_attributes()) write_attribute(use, writer);
  }

  void write_constant(const Instruction& instruction) {
    const bool elided =
        instruction.literal == nullptr ||
        (options_.elide_constants_over >= 0 && instruction.literal->element_count() > options_.elide_constants_over);
    if (elided) {
      append_elided(out_, instruction.shape);
    } else {
      append_literal(out_, *instruction.literal);
    }
  }

  void write_operands(const Instruction& instruction) {
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      if (i > 0) out_ += ", ";
      if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(out_), "/*index={}*/", i);
      const InstructionIndex operand = instruction.operands[i];
      if (options_.operand_shapes) {
        out_ += computation_->instructions[operand].shape.to_text(options_.layouts);
        out_ += ' ';
      }
      append_name(out_, (*names_)[operand]);
    }
  }

  void append_name(std::string& out, std::string_view name) const {
    if (options_.percent) out += '%';
    out += name;
  }

  void append_computation(std::string& out, ComputationIndex computation) const override {
    append_name(out, computation_names_[computation]);
  }

  bool append_instruction_with_id(std::string& out, int64_t id) const override {
    if (by_id_.empty())
      for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i)
        by_id_.try_emplace(computation_->instructions[i].id, i);
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return false;
    append_name(out, (*names_)[found->second]);
    return true;
  }

  const std::string* payload(const proto::Payload& payload) const override {
    if (payload.payload_source_case() == proto::Payload::kValue) return &payload.value();
    const auto& payloads = module_.attributes.payloads();
    const bool known =
        payload.payload_source_case() == proto::Payload::kId && payload.id() >= 0 && payload.id() < payloads.size();
    return known ? &payloads[static_cast<int>(payload.id())] : nullptr;
  }

  const Module& module_;
  const PrintOptions& options_;
  std::string out_;
  TextNames computation_names_;
  const Computation* computation_ = nullptr;  // the one being written, and the names in it
  std::optional<TextNames> names_;
  mutable tsl::robin_map<int64_t, InstructionIndex> by_id_;  // of that computation, filled when first needed
};

}  // namespace

std::string to_text(const Module& module, const PrintOptions& options) {
  return Writer(module, options).write_module();
}

std::string to_text(const Module& module, const Computation& computation, const Instruction& instruction,
                    const PrintOptions& options) {
  return Writer(module, options).write_one(computation, instruction);
}

std::string to_text(const Literal& literal) {
  std::string text;
  append_literal(text, literal);
  return text;
}

}  // namespace sapper::hlo
