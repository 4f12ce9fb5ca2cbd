// What holds for any graph: cuts do not depend on names nor on the order of instructions, and each piece computes what
// its source did.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/isolate/testing.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

const Shape row = Shape::array(ElementType::F32, {4});
const Shape number = Shape::scalar(ElementType::F32);

template <class T>
T any_of(const std::vector<T>& choices) {
  return choices[*rc::gen::inRange<size_t>(0, choices.size())];
}

// A computation as it is being written down.
class Writer {
 public:
  InstructionIndex add(Opcode opcode, const Shape& shape, std::vector<InstructionIndex> operands = {}) {
    Instruction made;
    made.opcode = opcode;
    made.name = fmt::format("i{}", computation.instructions.size());
    made.shape = shape;
    made.operands = std::move(operands);
    computation.instructions.push_back(std::move(made));
    if (shape == row) rows.push_back(computation.root = index());
    return index();
  }

  InstructionIndex any_row() { return any_of(rows); }
  [[nodiscard]] InstructionIndex index() const {
    return static_cast<InstructionIndex>(computation.instructions.size() - 1);
  }
  Instruction& last() { return computation.instructions.back(); }

  Computation computation;
  std::vector<InstructionIndex> rows;
};

InstructionIndex add_constant(Writer& writer) {
  hlo::Literal value(number);
  value.set_real(0, *rc::gen::inRange(0, 3));
  const InstructionIndex constant = writer.add(Opcode::Constant, number);
  writer.last().literal = std::make_shared<const hlo::Literal>(value);
  return constant;
}

// One more operation on rows.
void grow(Writer& writer, const std::vector<hlo::ComputationIndex>& callable) {
  switch (*rc::gen::inRange(0, callable.empty() ? 7 : 9)) {
    case 0:
    case 1: {
      const Opcode opcode = any_of<Opcode>({Opcode::Add, Opcode::Multiply, Opcode::Subtract, Opcode::Maximum});
      writer.add(opcode, row, {writer.any_row(), writer.any_row()});
      break;
    }
    case 2: writer.add(any_of<Opcode>({Opcode::Negate, Opcode::Abs, Opcode::Cosine}), row, {writer.any_row()}); break;
    case 3: writer.add(Opcode::Broadcast, row, {add_constant(writer)}); break;
    case 4: {  // the sum of a row in every place
      const InstructionIndex zero = add_constant(writer);
      const InstructionIndex sum = writer.add(Opcode::Reduce, number, {writer.any_row(), zero});
      writer.last().called = {0};
      writer.last().dimensions = {0};
      writer.add(Opcode::Broadcast, row, {sum});
      break;
    }
    case 5: {
      const InstructionIndex tuple =
          writer.add(Opcode::Tuple, Shape::tuple({row, row}), {writer.any_row(), writer.any_row()});
      writer.add(Opcode::GetTupleElement, row, {tuple});
      writer.last().tuple_index = *rc::gen::inRange(0, 2);
      break;
    }
    case 6: {
      writer.add(Opcode::Dot, row, {writer.any_row(), writer.any_row()});
      auto& numbers = *writer.last().edit_attributes().mutable_dot_dimension_numbers();
      numbers.add_lhs_batch_dimensions(0);
      numbers.add_rhs_batch_dimensions(0);
      break;
    }
    default:
      writer.add(Opcode::Call, row, {writer.any_row(), writer.any_row()});
      writer.last().called = {any_of(callable)};
  }
}

// Module of a few computations that call each other, on rows; computation 0 is a sum.
hlo::Module arbitrary_module() {
  hlo::Module module = parse(
      "HloModule m sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) } "
      "ENTRY e { a = f32[4] parameter(0) ROOT n = f32[4] negate(a) }");
  module.computations.resize(1);
  const int count = *rc::gen::inRange(1, 4);
  std::vector<hlo::ComputationIndex> callable;
  for (int c = 0; c < count; ++c) {
    Writer writer;
    for (int p = 0; p < 2; ++p) {
      writer.add(Opcode::Parameter, row);
      writer.last().parameter_number = p;
    }
    const int size = *rc::gen::inRange(2, 24);
    for (int i = 0; i < size; ++i) grow(writer, callable);
    writer.computation.name = fmt::format("c{}", c);
    module.entry = static_cast<hlo::ComputationIndex>(module.computations.size());
    callable.push_back(module.entry);
    module.computations.push_back(std::move(writer.computation));
  }
  return module;
}

CutOptions arbitrary_options() {
  return {.granularity = every_granularity[*rc::gen::inRange<size_t>(0, every_granularity.size())],
          .largest_region = *rc::gen::inRange<int64_t>(1, 12),
          .largest_computation = *rc::gen::inRange<int64_t>(1, 40)};
}

// The same computation with its instructions in another order and under other names.
Computation shuffled(const Computation& from) {
  const size_t size = from.instructions.size();
  std::vector<size_t> missing(size);  // operands that are not yet placed
  std::vector<std::vector<size_t>> users(size);
  std::vector<size_t> ready;
  for (size_t i = 0; i < size; ++i) {
    missing[i] = from.instructions[i].operands.size();
    for (const InstructionIndex operand : from.instructions[i].operands) users[operand].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  Computation to;
  to.name = "other_" + from.name;
  std::vector<InstructionIndex> moved(size);
  while (!ready.empty()) {
    const auto chosen = ready.begin() + *rc::gen::inRange<ptrdiff_t>(0, std::ssize(ready));
    const size_t at = *chosen;
    ready.erase(chosen);
    moved[at] = static_cast<InstructionIndex>(to.instructions.size());
    Instruction& copy = to.instructions.emplace_back(from.instructions[at]);
    copy.name = fmt::format("x{}", moved[at]);
    for (InstructionIndex& operand : copy.operands) operand = moved[operand];
    for (const size_t user : users[at])
      if (--missing[user] == 0) ready.push_back(user);
  }
  to.root = moved[from.root];
  return to;
}

RC_GTEST_PROP(CutProperty, DoesNotDependOnNamesNorOrder, ()) {
  const hlo::Module module = arbitrary_module();
  const CutOptions options = arbitrary_options();
  hlo::Module other = module;
  for (Computation& computation : other.computations) computation = shuffled(computation);
  RC_ASSERT(static_cast<bool>(hlo::verify(module)));
  RC_ASSERT(static_cast<bool>(hlo::verify(other)));
  RC_ASSERT(fingerprints(cut(module, options)) == fingerprints(cut(other, options)));
}

RC_GTEST_PROP(CutProperty, IsDeterministic, ()) {
  const hlo::Module module = arbitrary_module();
  const CutOptions options = arbitrary_options();
  const Cut once = cut(module, options);
  const Cut again = cut(module, options);
  RC_ASSERT(once.pieces.size() == again.pieces.size());
  for (size_t k = 0; k < once.pieces.size(); ++k)
    RC_ASSERT(hlo::to_text(once.pieces[k].module) == hlo::to_text(again.pieces[k].module));
}

RC_GTEST_PROP(CutProperty, PiecesComputeWhatTheirSourceDid, ()) {
  const hlo::Module module = arbitrary_module();
  const CutOptions options = arbitrary_options();
  const Comparison comparison = compare_values(module, options);
  RC_ASSERT(comparison.difference.empty());
  RC_CLASSIFY(comparison.compared > 0);
}

RC_GTEST_PROP(CutProperty, AccountsForEveryInstruction, ()) {
  const hlo::Module module = arbitrary_module();
  const Coverage coverage = cut(module, arbitrary_options()).coverage;
  RC_ASSERT(coverage.instructions == module.instruction_count());
  RC_ASSERT(covered(coverage) == coverage.instructions);
  RC_ASSERT(coverage.skipped.empty());
}

// What one module gives by itself, several give together.
RC_GTEST_PROP(CutProperty, MergingKeepsEveryOccurrence, ()) {
  const CutOptions options = arbitrary_options();
  const std::vector<Cut> cuts = {cut(arbitrary_module(), options), cut(arbitrary_module(), options)};
  std::set<std::string> expected;
  size_t occurrences = 0;
  Cut all;
  for (uint32_t m = 0; m < cuts.size(); ++m) {
    for (const Piece& piece : cuts[m].pieces) {
      expected.insert(piece.fingerprint);
      occurrences += piece.occurrences.size();
    }
    merge(all, cuts[m], m);
  }
  const std::vector<std::string> merged = fingerprints(all);
  RC_ASSERT(std::vector<std::string>(expected.begin(), expected.end()) == merged);
  size_t kept = 0;
  for (const Piece& piece : all.pieces) {
    kept += piece.occurrences.size();
    RC_ASSERT(std::ranges::is_sorted(piece.occurrences, {}, &Occurrence::module));
  }
  RC_ASSERT(kept == occurrences);
}

}  // namespace
}  // namespace sapper::isolate
