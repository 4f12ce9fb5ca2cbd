// The table of instruction attributes: for each opcode the attributes it takes, in the order in which they are written,
// and for each attribute how it is read and written. An attribute that is a plain field of the wire schema (an integer,
// a flag, a list of integers, a string, an enumeration) is only a name and the path of the field; the others have their
// own grammar.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hlo/module.h"
#include "hlo/text.h"
#include "hlo/text_fields.h"
#include "hlo/text_scanner.h"

namespace sapper::hlo {

// What the grammar of attributes needs of the reader around it.
class NameResolver {
 public:
  virtual ~NameResolver() = default;
  // Reads the name of a computation, or one in braces, as number `slot` of those that `instruction` calls.
  virtual void read_called(Instruction& instruction, size_t slot) = 0;
  // Reads the name of an instruction above; its id.
  virtual int64_t read_instruction_id() = 0;
};

struct AttributeReader {
  Scanner& scan;
  const Computation& computation;  // the instructions above
  Instruction& instruction;        // its operands are there already
  Attributes& wire;                // becomes the instruction's attributes
  NameResolver& names;
};

// What the grammar of attributes needs of the writer around it.
class NameSource {
 public:
  virtual ~NameSource() = default;
  virtual void append_computation(std::string& out, ComputationIndex computation) const = 0;
  // Of the instruction with this id in the computation that is being written; false when there is none.
  virtual bool append_instruction_with_id(std::string& out, int64_t id) const = 0;
  // The bytes that a payload stands for; null when they are not there.
  virtual const std::string* payload(const proto::Payload& payload) const = 0;
};

struct AttributeWriter {
  std::string& out;
  const Computation& computation;
  const Instruction& instruction;
  const Attributes& wire;
  const NameSource& names;
  const PrintOptions& options;

  // Of operand `i`; the invalid shape when there is none.
  [[nodiscard]] Shape operand_shape(size_t i) const;
};

struct AttributeGrammar {
  std::string_view name;
  // A plain field of the wire: its path in Attributes, such as gather_dimension_numbers.offset_dims.
  std::string_view field = {};
  // The value of the field that is left out in text, besides the default.
  int64_t implied = 0;
  // An attribute with a grammar of its own. `has` says whether there is a value to write.
  void (*read)(AttributeReader& in) = nullptr;
  bool (*has)(const AttributeWriter& out) = nullptr;
  void (*write)(const AttributeWriter& out) = nullptr;
  // Whether the value lands in Attributes rather than in other fields of Instruction.
  bool in_wire = true;
  // Whether the same text may mean another value for another instruction.
  bool depends_on_place = false;
};

// An attribute as one opcode takes it.
struct AttributeUse {
  enum class Presence : uint8_t {
    Optional,  // written when there is a value
    Always,    // always written, though it need not be there to read
    Required,
  };
  const AttributeGrammar* grammar;
  Presence presence;
  std::shared_ptr<const WireField> field;  // of a plain attribute
};

// The attributes of `opcode`, in the order in which they are written, and those that every opcode takes.
[[nodiscard]] std::span<const AttributeUse> attributes_of(Opcode opcode);
[[nodiscard]] std::span<const AttributeUse> common_attributes();

void read_attribute(const AttributeUse& use, AttributeReader& in);
// Appends ", name=value" when there is a value, or always when it is required.
void write_attribute(const AttributeUse& use, const AttributeWriter& out);

// What an instruction of this opcode and these operands says on the wire when its text does not say otherwise, such as
// default precisions; false: nothing.
bool preset_attributes(const Computation& computation, const Instruction& instruction, Attributes& wire);

}  // namespace sapper::hlo
