// Instructions: [ROOT] name = shape opcode(operands), attributes.
#include <algorithm>

#include "hlo/shape_limits.h"
#include "hlo/text_literal.h"
#include "hlo/text_metadata.h"
#include "hlo/text_reader.h"
#include "hlo/text_shape.h"
#include "hlo/text_string.h"
#include "hlo/text_suggestion.h"
#include "hlo/verifier.h"

namespace sapper::hlo {
namespace {

// Opcodes with -start and -done of their own, which are not short for an async-start of a computation.
bool has_own_async_form(Opcode opcode) {
  constexpr Opcode opcodes[] = {Opcode::AllGather, Opcode::AllReduce, Opcode::CollectivePermute,
                                Opcode::Copy,      Opcode::Recv,      Opcode::Send};
  return std::find(std::begin(opcodes), std::end(opcodes), opcode) != std::end(opcodes);
}

std::string suggested_opcode(std::string_view word) {
  return suggestion(word, [](auto consider) {
    for (int i = 0; i <= static_cast<int>(Opcode::Xor); ++i) consider(to_string(static_cast<Opcode>(i)));
  });
}

// Whether the operands and attributes of an instruction leave its shape open.
bool leaves_shape_open(Opcode opcode) {
  constexpr Opcode opcodes[] = {Opcode::AsyncDone,
                                Opcode::AsyncStart,
                                Opcode::AsyncUpdate,
                                Opcode::Bitcast,
                                Opcode::BitcastConvert,
                                Opcode::Constant,
                                Opcode::Convert,
                                Opcode::CustomCall,
                                Opcode::DynamicReshape,
                                Opcode::Infeed,
                                Opcode::Iota,
                                Opcode::Parameter,
                                Opcode::Recv,
                                Opcode::Reshape,
                                Opcode::Rng,
                                Opcode::RngBitGenerator,
                                Opcode::RngGetAndUpdateState};
  return std::find(std::begin(opcodes), std::end(opcodes), opcode) != std::end(opcodes);
}

// Equal types and dimensions, whatever the layouts and which dimensions are dynamic.
bool compatible(const Shape& a, const Shape& b) {
  if (a == b) return true;
  return a.element_type() == b.element_type() && a.dimensions() == b.dimensions() &&
         std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(), compatible);
}

// What the preset attributes of an instruction depend on, as the start of the text that tells equal attributes.
std::string preset_key(const Computation& computation, const Instruction& instruction) {
  std::string key(1, static_cast<char>(instruction.opcode));
  key += std::to_string(instruction.operands.size());
  if (instruction.opcode == Opcode::Compare && !instruction.operands.empty())
    key += to_string(computation.instructions[instruction.operands[0]].shape.element_type());
  return key;
}

Shape with_default_layouts(const Shape& shape) {
  if (shape.is_array()) return shape.with_layout(std::make_shared<Layout>(Layout::descending(shape.rank())));
  if (!shape.is_tuple()) return shape;
  std::vector<Shape> elements;
  for (const Shape& element : shape.elements()) elements.push_back(with_default_layouts(element));
  return Shape::tuple(std::move(elements));
}

// Whether a shape that was inferred nests no deeper than one that is stated, and has no more than `parts` parts, which
// it takes off: tuples of tuples grow without end.
bool fits(const Shape& shape, size_t& parts, int depth = 0) {
  if (depth > max_shape_nesting || parts == 0) return false;
  --parts;
  return std::ranges::all_of(shape.elements(), [&](const Shape& element) { return fits(element, parts, depth + 1); });
}

}  // namespace

// The attributes that may follow an instruction, and which of them have been read.
class AttributeSet {
 public:
  AttributeSet(Opcode opcode, std::span<const AttributeUse> common)
      : opcode_(opcode), own_(attributes_of(opcode)), common_(common) {}

  // The attribute of this name; null when the instruction takes none of this name.
  const AttributeUse* find(std::string_view name) {
    const auto named = [&](const AttributeUse& use) { return use.grammar->name == name; };
    if (const auto found = std::find_if(own_.begin(), own_.end(), named); found != own_.end()) {
      repeated_ = mark(static_cast<size_t>(found - own_.begin()));
      return &*found;
    }
    const auto found = std::find_if(common_.begin(), common_.end(), named);
    if (found == common_.end()) return nullptr;
    repeated_ = mark(own_.size() + static_cast<size_t>(found - common_.begin()));
    return &*found;
  }
  // Whether the opcode itself takes an attribute of this name.
  [[nodiscard]] bool takes(std::string_view name) const {
    return std::any_of(own_.begin(), own_.end(), [&](const AttributeUse& use) { return use.grammar->name == name; });
  }
  // Whether the one found last had been found before.
  [[nodiscard]] bool repeated() const { return repeated_; }

  // A required attribute that has not been found; empty when there is none.
  [[nodiscard]] std::string_view missing() const {
    for (size_t i = 0; i < own_.size(); ++i)
      if (own_[i].presence == AttributeUse::Presence::Required && (seen_ >> i & 1) == 0) return own_[i].grammar->name;
    return {};
  }

  [[nodiscard]] std::string unknown(std::string_view name) const {
    return fmt::format("{} has no attribute {}{}", to_string(opcode_), name, suggestion(name, [&](auto consider) {
                         for (const AttributeUse& use : own_) consider(use.grammar->name);
                         for (const AttributeUse& use : common_) consider(use.grammar->name);
                       }));
  }

 private:
  bool mark(size_t bit) {
    const bool seen = (seen_ >> bit & 1) != 0;
    seen_ |= uint64_t{1} << bit;
    return seen;
  }

  Opcode opcode_;
  std::span<const AttributeUse> own_;
  std::span<const AttributeUse> common_;
  uint64_t seen_ = 0;
  bool repeated_ = false;
};

void ModuleReader::read_instruction() {
  Instruction instruction;
  instruction.position = scan_.position();
  const char* start = scan_.cursor();
  const bool is_root = scan_.accept_word("ROOT");
  const char* name_start = scan_.cursor();
  instruction.name = scan_.name("an instruction");
  scan_.expect('=', "after the name of an instruction");
  if (shape_starts(scan_)) instruction.shape = read_shared_shape();
  const InstructionIndex index = read_operation(std::move(instruction), name_start, false);
  if (!is_root || scan_.failed()) return;
  Body& body = *bodies_.back();
  if (body.has_root) return scan_.fail_at(start, "a computation has only one ROOT");
  body.has_root = true;
  body.computation.root = index;
}

InstructionIndex ModuleReader::read_operation(Instruction instruction, const char* name_start, bool nested) {
  const Scanner::Nesting nesting(scan_);
  const char* start = scan_.cursor();
  const StatedOpcode opcode = read_opcode();
  instruction.opcode = opcode.opcode;
  if (instruction.opcode == Opcode::Parameter) {
    scan_.expect('(', "before the number of a parameter");
    instruction.parameter_number = scan_.integer32("the number of a parameter");
    if (instruction.parameter_number < 0) scan_.fail_at(start, "the number of a parameter cannot be negative");
    Body& body = *bodies_.back();
    if (instruction.parameter_number >= body.parameter_bound) {
      body.parameter_bound = instruction.parameter_number + 1;
      body.last_parameter = start;
    }
    scan_.expect(')', "after the number of a parameter");
  } else if (instruction.opcode == Opcode::Constant) {
    if (!instruction.shape.is_valid()) infer_shape(instruction, start);  // fails
    scan_.expect('(', "before the value of a constant");
    instruction.literal = read_literal(scan_, instruction.shape);
    scan_.expect(')', "after the value of a constant");
  } else {
    read_operands(instruction);
  }
  if (scan_.failed()) return 0;
  if (name_start == nullptr) instruction.name = fmt::format("{}.anon", to_string(instruction.opcode));
  if (!opcode.wrapped || opcode.opcode != Opcode::AsyncStart) {
    read_attributes(instruction, nested);
  } else if (nested) {
    scan_.fail_at(start, "an async start cannot be inside the operands of another instruction");
  } else {
    read_wrapped_attributes(instruction, *opcode.wrapped);
  }
  if (!instruction.shape.is_valid()) infer_shape(instruction, start);
  return add_instruction(std::move(instruction), name_start);
}

// The shape that the text leaves out, as XLA allows for most opcodes.
void ModuleReader::infer_shape(Instruction& instruction, const char* start) {
  if (scan_.failed()) return;
  const std::string_view opcode = to_string(instruction.opcode);
  const bool calls_below = std::any_of(instruction.called.begin(), instruction.called.end(),
                                       [](ComputationIndex called) { return called >= unset_call; });
  if (leaves_shape_open(instruction.opcode) || calls_below)
    return scan_.fail_at(start, fmt::format("the shape of {} must be stated{}", opcode,
                                            calls_below ? ": the computation that it calls is further down" : ""));
  const Result<Shape> shape = hlo::infer_shape(module_, computation(), instruction);
  if (!shape) return scan_.fail_at(start, fmt::format("cannot infer the shape: {}", shape.error().message));
  if (!fits(*shape, inferable_parts_))
    return scan_.fail_at(start, "this shape is too large to infer: it must be stated");
  instruction.shape = with_default_layouts(*shape);
}

ModuleReader::StatedOpcode ModuleReader::read_opcode() {
  const char* start = scan_.cursor();
  const std::string_view word = scan_.word("a shape or an opcode");
  if (const auto opcode = parse_opcode(word)) return {*opcode, std::nullopt};
  constexpr std::pair<std::string_view, Opcode> async_suffixes[] = {
      {"-start", Opcode::AsyncStart}, {"-update", Opcode::AsyncUpdate}, {"-done", Opcode::AsyncDone}};
  for (const auto& [suffix, opcode] : async_suffixes) {
    if (!word.ends_with(suffix)) continue;
    const auto wrapped = parse_opcode(word.substr(0, word.size() - suffix.size()));
    if (wrapped && !has_own_async_form(*wrapped)) return {opcode, wrapped};
  }
  scan_.fail_at(start, scan_.peek() == '[' ? fmt::format("there is no element type {}", word)
                                           : fmt::format("there is no opcode {}{}", word, suggested_opcode(word)));
  return {};
}

void ModuleReader::read_operands(Instruction& instruction) {
  scan_.list('(', ')', "around the operands", [&] { instruction.operands.push_back(read_operand()); });
}

// [shape] name, or an instruction without a name: [shape] opcode(operands).
InstructionIndex ModuleReader::read_operand() {
  const char* start = scan_.cursor();
  Shape stated;
  if (scan_.peek() != '%' && shape_starts(scan_)) stated = read_shared_shape();
  if (scan_.peek() != '%') {
    const std::string_view word = scan_.peek_word();
    const bool is_nested = word.size() < scan_.remaining() && !word.empty() && *(word.data() + word.size()) == '(';
    if (is_nested) {
      Instruction nested;
      nested.position = scan_.position();
      nested.shape = stated;
      return read_operation(std::move(nested), nullptr, true);
    }
    if (makes_parameters_ && stated.is_valid() && word.empty()) return add_parameter(stated, "parameter", nullptr);
  }
  const char* name_start = scan_.cursor();
  const std::string_view name = scan_.name("an operand");
  const auto& names = bodies_.back()->names;
  const auto found = names.find(name);
  if (!found && makes_parameters_ && stated.is_valid()) return add_parameter(stated, name, name_start);
  if (!found) {
    scan_.fail_at(name_start, fmt::format("no instruction {} is above this one in its computation{}", name,
                                          suggestion(name, [&](auto consider) { names.for_each(consider); })));
    return 0;
  }
  const InstructionIndex operand = scan_.peek() == '#' ? read_element_suffixes(*found, name_start) : *found;
  if (scan_.failed()) return 0;
  const Shape& shape = computation().instructions[operand].shape;
  if (stated.is_valid() && !compatible(stated, shape))
    scan_.fail_at(start, fmt::format("{} has the shape {}, but {} is stated here", name, shape.to_text(false),
                                     stated.to_text(false)));
  return operand;
}

// name#0#1 is element 1 of element 0 of a tuple: short for get-tuple-element instructions, made once for each text.
InstructionIndex ModuleReader::read_element_suffixes(InstructionIndex tuple, const char* start) {
  while (scan_.accept('#')) {
    const int64_t element = scan_.integer("the number of a tuple element");
    if (scan_.failed()) return 0;
    const Shape shape = computation().instructions[tuple].shape;
    if (!shape.is_tuple() || element < 0 || static_cast<size_t>(element) >= shape.elements().size()) {
      scan_.fail_at(start, fmt::format("there is no element {} in the shape {}", element, shape.to_text(false)));
      return 0;
    }
    const char* past = scan_.cursor();
    while (past > start && !is_word_part(past[-1])) --past;  // without the blanks that follow
    const std::string_view text(start, static_cast<size_t>(past - start));
    if (const auto found = bodies_.back()->names.find(text)) {
      tuple = *found;
      continue;
    }
    Instruction get;
    get.opcode = Opcode::GetTupleElement;
    get.position = scan_.position();
    get.name = word_from(text.starts_with('%') ? text.substr(1) : text);
    get.shape = shape.elements()[static_cast<size_t>(element)];
    get.operands = {tuple};
    get.tuple_index = element;
    tuple = add_instruction(std::move(get), nullptr);
    bodies_.back()->names.add(text, tuple);
  }
  return tuple;
}

// For an operand of an instruction that stands alone.
InstructionIndex ModuleReader::add_parameter(const Shape& shape, std::string_view name, const char* name_start) {
  Instruction parameter;
  parameter.opcode = Opcode::Parameter;
  parameter.name = name;
  parameter.shape = shape;
  parameter.position = scan_.position();
  parameter.parameter_number = bodies_.back()->parameter_bound++;
  return add_instruction(std::move(parameter), name_start);
}

void ModuleReader::read_attributes(Instruction& instruction, bool nested) {
  Attributes wire;
  bool in_wire = preset_attributes(computation(), instruction, wire);
  std::string key = preset_key(computation(), instruction);
  AttributeSet set(instruction.opcode, common_attributes());
  AttributeReader in{scan_, computation(), instruction, wire, *this};
  const char* start = scan_.cursor();
  while (!nested && scan_.accept(',')) read_attribute(set, in, key, in_wire);
  if (scan_.failed()) return;
  if (const std::string_view missing = set.missing(); !missing.empty())
    return scan_.fail_at(start, fmt::format("{} needs the attribute {}{}", to_string(instruction.opcode), missing,
                                            nested ? ", which it cannot have inside the operands of another" : ""));
  if (std::find(instruction.called.begin(), instruction.called.end(), unset_call) != instruction.called.end())
    return scan_.fail_at(start, fmt::format("{} needs more computations", to_string(instruction.opcode)));
  if (in_wire) instruction.shared_attributes = share_attributes(key, wire);
}

// Adds to `key` the text of an attribute that lands in `in.wire`; clears it for good when that text is not enough to
// tell equal values.
void ModuleReader::read_attribute(AttributeSet& set, AttributeReader& in, std::string& key, bool& in_wire) {
  const char* start = scan_.cursor();
  const std::string_view name = scan_.word("the name of an attribute");
  const AttributeUse* use = set.find(name);
  if (scan_.failed()) return;
  if (use == nullptr) return scan_.fail_at(start, set.unknown(name));
  if (set.repeated()) return scan_.fail_at(start, fmt::format("the attribute {} is stated twice", name));
  scan_.expect('=', "after the name of an attribute");
  if (name == "metadata") return read_shared_metadata(in.instruction);
  hlo::read_attribute(*use, in);
  if (!use->grammar->in_wire) return;
  in_wire = true;
  if (use->grammar->depends_on_place) key.clear();
  if (key.empty()) return;
  key.append(start, scan_.cursor());
  while (key.back() <= ' ') key.pop_back();  // the blanks that follow
}

std::shared_ptr<const Attributes> ModuleReader::share_attributes(const std::string& key, Attributes& wire) {
  constexpr size_t longest_key = 512;
  if (key.empty() || key.size() > longest_key) return std::make_shared<Attributes>(std::move(wire));
  auto& shared = attributes_[key];
  if (!shared) shared = std::make_shared<Attributes>(std::move(wire));
  return shared;
}

// slice-start(x), slice={...}: an async-start of a computation that is one slice. Attributes of the slice go to it, the
// others to the async-start; what is said about the whole is said about both.
void ModuleReader::read_wrapped_attributes(Instruction& start, Opcode wrapped) {
  const char* where = scan_.cursor();
  if (start.shape.elements().size() < 2 || !start.shape.elements()[0].is_tuple())
    return scan_.fail_at(where, "the shape of an async start must be ((operands), result, state...)");
  Computation wrapper;
  wrapper.name = "async_wrapped";
  Instruction root;
  root.opcode = wrapped;
  root.name = to_string(wrapped);
  root.shape = start.shape.elements()[1];
  root.position = start.position;
  for (const InstructionIndex operand : start.operands) {
    Instruction parameter;
    parameter.parameter_number = static_cast<int64_t>(root.operands.size());
    parameter.name =
        parameter.parameter_number == 0 ? "async_param" : fmt::format("async_param.{}", parameter.parameter_number);
    parameter.shape = computation().instructions[operand].shape;
    parameter.position = start.position;
    parameter.id = ++next_id_;
    root.operands.push_back(static_cast<InstructionIndex>(wrapper.instructions.size()));
    wrapper.instructions.push_back(std::move(parameter));
  }
  Attributes root_wire;
  Attributes start_wire;
  AttributeSet root_set(wrapped, {});
  AttributeSet start_set(Opcode::AsyncStart, common_attributes());
  AttributeReader in_root{scan_, wrapper, root, root_wire, *this};
  AttributeReader in_start{scan_, computation(), start, start_wire, *this};
  preset_attributes(wrapper, root, root_wire);
  std::string no_key;
  bool in_wire = false;
  while (scan_.accept(',')) {
    const bool of_root = root_set.takes(scan_.peek_word());
    read_attribute(of_root ? root_set : start_set, of_root ? in_root : in_start, no_key, in_wire);
  }
  if (scan_.failed()) return;
  if (!start.called.empty()) return scan_.fail_at(where, "an async start with its operation has no calls=");
  if (const std::string_view missing = root_set.missing(); !missing.empty())
    return scan_.fail_at(where, fmt::format("{} needs the attribute {}", to_string(wrapped), missing));
  root.metadata = start.metadata;
  root_wire.set_backend_config(start_wire.backend_config());
  if (start_wire.has_frontend_attributes()) *root_wire.mutable_frontend_attributes() = start_wire.frontend_attributes();
  if (start_wire.has_statistics_viz()) *root_wire.mutable_statistics_viz() = start_wire.statistics_viz();
  if (start_wire.has_original_value()) *root_wire.mutable_original_value() = start_wire.original_value();
  start.shared_attributes = std::make_shared<Attributes>(std::move(start_wire));
  root.shared_attributes = std::make_shared<Attributes>(std::move(root_wire));
  root.id = ++next_id_;
  wrapper.execution_thread = start.attributes().async_execution_thread();
  wrapper.root = static_cast<InstructionIndex>(wrapper.instructions.size());
  wrapper.instructions.push_back(std::move(root));
  start.called = {add_computation(std::move(wrapper), {}, nullptr)};
}

Shape ModuleReader::read_shared_shape() {
  const std::string_view text = shape_extent(scan_);
  if (text.empty()) return read_shape(scan_);
  if (const auto found = shapes_.find(text); found != shapes_.end()) {
    scan_.skip_to(text.data() + text.size());
    return found->second;
  }
  Scanner after = scan_;
  after.skip_to(text.data() + text.size());
  Shape shape = read_shape(scan_);
  if (scan_.cursor() == after.cursor()) shapes_.emplace(text, shape);
  return shape;
}

void ModuleReader::read_shared_metadata(Instruction& instruction) {
  const std::string_view text = scan_.peek_braced();
  if (const auto found = metadata_.find(text); found != metadata_.end()) {
    instruction.metadata = found->second;
    return scan_.skip_to(text.data() + text.size());
  }
  Scanner after = scan_;
  if (!text.empty()) after.skip_to(text.data() + text.size());
  instruction.metadata = std::make_shared<proto::OpMetadata>(read_metadata(scan_));
  if (!text.empty() && scan_.cursor() == after.cursor()) metadata_.emplace(text, instruction.metadata);
}

InstructionIndex ModuleReader::add_instruction(Instruction instruction, const char* name_start) {
  Body& body = *bodies_.back();
  const auto index = static_cast<InstructionIndex>(body.computation.instructions.size());
  instruction.id = ++next_id_;
  if (name_start == nullptr) {
    body.unnamed.push_back(index);
  } else {
    const std::string_view name(name_start + (*name_start == '%' ? 1 : 0), instruction.name.size());
    if (!body.names.add(name, index))
      scan_.fail_at(name_start, fmt::format("there is an instruction {} above already", name));
  }
  body.computation.instructions.push_back(std::move(instruction));
  return index;
}

int64_t ModuleReader::read_instruction_id() {
  const char* start = scan_.cursor();
  const std::string_view name = scan_.name("the name of an instruction");
  const auto found = bodies_.back()->names.find(name);
  if (scan_.failed()) return 0;
  if (found) return computation().instructions[*found].id;
  scan_.fail_at(start, fmt::format("no instruction {} is above this one in its computation", name));
  return 0;
}

}  // namespace sapper::hlo
