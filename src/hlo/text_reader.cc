#include "hlo/text_reader.h"

#include "hlo/text.h"
#include "hlo/text_header.h"
#include "hlo/text_shape.h"
#include "hlo/text_string.h"
#include "hlo/text_suggestion.h"
#include "hlo/text_utf8.h"

namespace sapper::hlo {
namespace {

// Post-order over the calls: called computations first, in the order of the text where that is free.
class CallOrder {
 public:
  explicit CallOrder(const Module& module) : module_(module), states_(module.computations.size()) {}

  // The new order, or the name of a computation that calls itself, directly or not.
  tl::expected<std::vector<ComputationIndex>, std::string> compute() {
    for (ComputationIndex root = 0; root < states_.size(); ++root) {
      if (!visit(root)) return tl::unexpected(module_.computations[cycle_].name);
    }
    return std::move(order_);
  }

 private:
  enum class State : uint8_t { New, Open, Done };
  struct Frame {
    ComputationIndex computation;
    size_t instruction = 0;
    size_t slot = 0;
  };

  // The next computation that the frame's computation calls.
  std::optional<ComputationIndex> next_called(Frame& frame) const {
    const auto& instructions = module_.computations[frame.computation].instructions;
    for (; frame.instruction < instructions.size(); ++frame.instruction, frame.slot = 0) {
      const auto& called = instructions[frame.instruction].called;
      if (frame.slot < called.size()) return called[frame.slot++];
    }
    return std::nullopt;
  }

  bool visit(ComputationIndex root) {
    if (states_[root] == State::Done) return true;
    std::vector<Frame> stack = {{root}};
    states_[root] = State::Open;
    while (!stack.empty()) {
      const auto next = next_called(stack.back());
      if (!next) {
        states_[stack.back().computation] = State::Done;
        order_.push_back(stack.back().computation);
        stack.pop_back();
      } else if (states_[*next] == State::Open) {
        cycle_ = *next;
        return false;
      } else if (states_[*next] == State::New) {
        states_[*next] = State::Open;
        stack.push_back({*next});
      }
    }
    return true;
  }

  const Module& module_;
  std::vector<State> states_;
  std::vector<ComputationIndex> order_;
  ComputationIndex cycle_ = 0;
};

}  // namespace

Result<Module> ModuleReader::read() {
  const bool has_header = scan_.accept_word("HloModule");
  if (has_header) read_header(scan_, module_);
  read_stack_frames(scan_, module_);
  if (!has_header && stands_alone()) {
    read_lone_instruction();
  } else {
    read_computations();
  }
  name_unnamed_computations();
  if (!scan_.failed()) resolve_pending_calls();
  if (scan_.failed()) return sapper::fail(scan_.take_error());
  mark_fusions();
  if (!has_header) module_.name = "module_" + module_.entry_computation().name;
  return std::move(module_);
}

// Whether the text is one instruction rather than a module, such as a line of a dump.
bool ModuleReader::stands_alone() const {
  Scanner ahead = scan_;
  if (ahead.peek() == '(' || ahead.accept_word("ROOT")) return true;
  const std::string_view word = ahead.name("a name");
  return ahead.peek() == '=' || (ahead.peek() == '[' && parse_element_type(word));
}

void ModuleReader::read_lone_instruction() {
  makes_parameters_ = true;
  Body body;
  body.computation.name = "entry";
  bodies_.push_back(&body);
  if (shape_starts(scan_)) {
    Instruction instruction;
    instruction.position = scan_.position();
    instruction.shape = read_shared_shape();
    read_operation(std::move(instruction), nullptr, false);
  } else {
    read_instruction();
  }
  bodies_.pop_back();
  if (!scan_.at_end()) scan_.expected("the end of the text after an instruction that stands alone");
  complete(body);
  if (scan_.failed()) return;
  module_.entry = add_computation(std::move(body.computation), {}, nullptr);
}

void ModuleReader::read_computations() {
  do {
    read_computation();
  } while (!scan_.at_end());
  // Without ENTRY the last computation is the entry.
  if (!has_entry_ && !module_.computations.empty())
    module_.entry = static_cast<ComputationIndex>(module_.computations.size() - 1);
}

void ModuleReader::read_computation() {
  const char* start = scan_.cursor();
  const bool is_entry = scan_.accept_word("ENTRY");
  if (is_entry && has_entry_) return scan_.fail_at(start, "a module has only one ENTRY computation");
  const char* name_start = scan_.cursor();
  const std::string_view name = scan_.name("the name of a computation");
  const char* signature_start = scan_.cursor();
  const Shape stated = read_signature();
  const ComputationIndex index = read_body(name, name_start);
  if (scan_.failed()) return;
  Computation& computation = module_.computations[index];
  const Shape& result = computation.root_instruction().shape;
  if (stated.is_valid() && !stated.same_dimensions(result))
    return scan_.fail_at(signature_start, fmt::format("the signature of {} says {}, but its root has the shape {}",
                                                      name, stated.to_text(false), result.to_text(false)));
  if (scan_.accept(',')) {
    if (!scan_.accept_word("execution_thread")) return scan_.expected("execution_thread=");
    scan_.expect('=', "after execution_thread");
    computation.execution_thread = read_utf8(scan_, "the name of a thread");
  }
  if (!is_entry) return;
  has_entry_ = true;
  module_.entry = index;
}

// ( x: f32[], y: s32[2] ) -> f32[2]: the result; the invalid shape when there is no signature.
Shape ModuleReader::read_signature() {
  if (scan_.peek() != '(') return {};
  scan_.list('(', ')', "in the parameters of a computation", [&] {
    scan_.name("the name of a parameter");
    scan_.accept(':');
    static_cast<void>(read_shared_shape());
  });
  scan_.expect("->", "before the result of a computation");
  return read_shared_shape();
}

ComputationIndex ModuleReader::read_body(std::string_view name, const char* where) {
  const Scanner::Nesting nesting(scan_);
  scan_.expect('{', "to start the instructions of a computation");
  Body body;
  body.computation.name = name;
  const size_t lines = scan_.lines_of_body();
  body.computation.instructions.reserve(lines);
  body.names.reserve(lines);
  bodies_.push_back(&body);
  while (!scan_.failed() && (scan_.peek() != '}' || body.computation.instructions.empty())) read_instruction();
  bodies_.pop_back();
  scan_.expect('}', "to end the instructions of a computation");
  complete(body);
  if (scan_.failed()) return 0;
  return add_computation(std::move(body.computation), name, where);
}

// Once all instructions are read.
void ModuleReader::complete(Body& body) {
  const size_t count = body.computation.instructions.size();
  if (body.parameter_bound > static_cast<int64_t>(count))
    scan_.fail_at(body.last_parameter,
                  fmt::format("parameter {} in a computation of {} instructions", body.parameter_bound - 1, count));
  if (scan_.failed()) return;
  if (!body.has_root) body.computation.root = static_cast<InstructionIndex>(count - 1);
  name_unnamed(body);
}

// `name` is a view of the text, at `where`, which is null for a computation that the text does not name.
ComputationIndex ModuleReader::add_computation(Computation computation, std::string_view name, const char* where) {
  const auto index = static_cast<ComputationIndex>(module_.computations.size());
  if (where == nullptr) {
    unnamed_computations_.push_back(index);
  } else if (!computations_.add(name, index)) {
    scan_.fail_at(where, fmt::format("there is a computation {} already", name));
  }
  module_.computations.push_back(std::move(computation));
  return index;
}

// Instructions that the text does not name get the first free name made from what they stand for.
void ModuleReader::name_unnamed(Body& body) {
  for (const InstructionIndex index : body.unnamed) {
    Instruction& instruction = body.computation.instructions[index];
    const std::string stem = instruction.name;
    // The table keeps a view of the name, which stays where it is.
    for (int i = 1; !body.names.add(instruction.name, index); ++i) instruction.name = fmt::format("{}.{}", stem, i);
  }
}

void ModuleReader::read_called(Instruction& instruction, size_t slot) {
  if (instruction.called.size() <= slot) instruction.called.resize(slot + 1, unset_call);
  if (scan_.peek() == '{') {
    instruction.called[slot] = read_body("inline", nullptr);
    return;
  }
  const char* where = scan_.cursor();
  const std::string_view name = scan_.name("the name of a computation, or a computation in braces");
  if (scan_.failed()) return;
  if (const auto found = computations_.find(name)) {
    instruction.called[slot] = *found;
    return;
  }
  instruction.called[slot] = first_pending_call + static_cast<ComputationIndex>(pending_.size());
  pending_.push_back({name, where});
}

void ModuleReader::resolve_pending_calls() {
  if (pending_.empty()) return;
  std::vector<ComputationIndex> resolved(pending_.size());
  for (size_t i = 0; i < pending_.size(); ++i) {
    const auto found = computations_.find(pending_[i].name);
    if (!found)
      return scan_.fail_at(
          pending_[i].where,
          fmt::format("there is no computation {}{}", pending_[i].name,
                      suggestion(pending_[i].name, [&](auto consider) { computations_.for_each(consider); })));
    resolved[i] = *found;
  }
  for (Computation& computation : module_.computations)
    for (Instruction& instruction : computation.instructions)
      for (ComputationIndex& called : instruction.called)
        if (called >= first_pending_call) called = resolved[called - first_pending_call];
  order_computations();
}

void ModuleReader::order_computations() {
  const auto order = CallOrder(module_).compute();
  if (!order)
    return scan_.fail_at(pending_.front().where, fmt::format("the computation {} calls itself", order.error()));
  std::vector<ComputationIndex> place(order->size());
  std::vector<Computation> computations;
  for (const ComputationIndex old : *order) {
    place[old] = static_cast<ComputationIndex>(computations.size());
    computations.push_back(std::move(module_.computations[old]));
  }
  for (Computation& computation : computations)
    for (Instruction& instruction : computation.instructions)
      for (ComputationIndex& called : instruction.called) called = place[called];
  module_.computations = std::move(computations);
  module_.entry = place[module_.entry];
}

void ModuleReader::name_unnamed_computations() {
  for (const ComputationIndex index : unnamed_computations_) {
    std::string& name = made_names_.emplace_back(module_.computations[index].name);
    const std::string stem = name;
    for (int i = 1; !computations_.add(name, index); ++i) name = fmt::format("{}.{}", stem, i);
    module_.computations[index].name = name;
  }
}

void ModuleReader::mark_fusions() {
  for (const Computation& computation : module_.computations)
    for (const Instruction& instruction : computation.instructions)
      if (instruction.opcode == Opcode::Fusion)
        for (const ComputationIndex called : instruction.called) module_.computations[called].is_fusion = true;
}

Result<Module> parse_text(std::string_view text) { return ModuleReader(text).read(); }

Result<Shape> parse_shape(std::string_view text) {
  Scanner scan(text);
  Shape shape = read_shape(scan);
  if (!scan.at_end()) scan.expected("the end of the text after the shape");
  if (scan.failed()) return fail(scan.take_error());
  return shape;
}

}  // namespace sapper::hlo
