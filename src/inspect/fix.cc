#include "inspect/fix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "eval/evaluator.h"
#include "hlo/verifier.h"
#include "inspect/kernel_graph.h"
#include "inspect/report.h"
#include "numerics/compare.h"

namespace sapper::inspect {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

bool is_narrow_float(ElementType type) {
  return hlo::is_float(type) && type != ElementType::F32 && type != ElementType::F64;
}

// --- the edit

// Copies a computation instruction by instruction, with what is put between them.
class Copy {
 public:
  explicit Copy(const Computation& from) : from_(from), place_(from.instructions.size()) {
    for (const Instruction& instruction : from.instructions) names_.insert(instruction.name);
  }

  InstructionIndex add(Instruction instruction) {
    instruction.id = -1;
    instructions_.push_back(std::move(instruction));
    return static_cast<InstructionIndex>(instructions_.size() - 1);
  }

  InstructionIndex add(Opcode opcode, ElementType type, const Instruction& like, const std::string& suffix,
                       std::vector<InstructionIndex> operands) {
    Instruction made;
    made.opcode = opcode;
    made.name = free_name(like.name + suffix);
    made.shape = Shape::array(type, like.shape.dimensions());
    made.operands = std::move(operands);
    made.metadata = like.metadata;
    return add(std::move(made));
  }

  // `value` rounded to the format of `type`; it stays as wide as it is.
  InstructionIndex rounded(InstructionIndex value, ElementType type, const Instruction& like) {
    const ElementType wide = instructions_[value].shape.element_type();
    const hlo::FloatFormat format = *hlo::float_format(type);
    const InstructionIndex normal = add(Opcode::ReducePrecision, wide, like, ".rounded", {value});
    instructions_[normal].edit_attributes().set_exponent_bits(format.exponent_bits);
    instructions_[normal].edit_attributes().set_mantissa_bits(format.mantissa_bits);
    // reduce-precision makes subnormal numbers zero. Where they are normal ones of the wide type, they are multiples of
    // the least.
    if (hlo::least_normal(format) <= hlo::least_normal(*hlo::float_format(wide))) return normal;
    const double least = std::ldexp(hlo::least_normal(format), -format.mantissa_bits);
    const InstructionIndex scaled = add(Opcode::Multiply, wide, like, ".scaled", {value, splat(wide, 1 / least, like)});
    const InstructionIndex whole = add(Opcode::RoundNearestEven, wide, like, ".whole", {scaled});
    const InstructionIndex small = add(Opcode::Multiply, wide, like, ".small", {whole, splat(wide, least, like)});
    const InstructionIndex magnitude = add(Opcode::Abs, wide, like, ".magnitude", {value});
    const InstructionIndex is_small = add(Opcode::Compare, ElementType::Pred, like, ".is_small",
                                          {magnitude, splat(wide, hlo::least_normal(format), like)});
    instructions_[is_small].edit_attributes().set_comparison_direction("LT");
    return add(Opcode::Select, wide, like, ".chosen", {is_small, small, normal});
  }

  // The instruction as it is, over the copies of its operands.
  Instruction moved(InstructionIndex index) const {
    Instruction instruction = from_.instructions[index];
    for (InstructionIndex& operand : instruction.operands) operand = place_[operand];
    return instruction;
  }

  void set_place(InstructionIndex index, InstructionIndex place) { place_[index] = place; }

  Computation finish() && {
    Computation computation = from_;
    computation.root = place_[from_.root];
    computation.instructions = std::move(instructions_);
    computation.listed_order.clear();
    return computation;
  }

 private:
  InstructionIndex splat(ElementType type, double value, const Instruction& like) {
    hlo::Literal literal(Shape::scalar(type));
    literal.set_real(0, value);
    const InstructionIndex constant = add(Opcode::Constant, type, like, ".constant", {});
    instructions_[constant].shape = Shape::scalar(type);
    instructions_[constant].literal = std::make_shared<const hlo::Literal>(std::move(literal));
    return add(Opcode::Broadcast, type, like, ".constants", {constant});
  }

  std::string free_name(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  const Computation& from_;
  std::vector<InstructionIndex> place_;
  std::vector<Instruction> instructions_;
  std::set<std::string> names_;
};

// Why the rounding of `instruction` cannot be written down; empty: it can.
std::string obstacle(const Computation& computation, const Instruction& instruction) {
  if (!instruction.shape.is_array() || !is_narrow_float(instruction.shape.element_type()))
    return "its result is no narrow float";
  if (instruction.opcode == Opcode::Convert) {
    const ElementType from = computation.instructions[instruction.operands[0]].shape.element_type();
    return hlo::is_float(from) ? "" : "it converts no float";
  }
  if (!is_elementwise(instruction)) return "it is not computed element by element";
  for (const InstructionIndex operand : instruction.operands)
    if (computation.instructions[operand].shape.element_type() != instruction.shape.element_type())
      return "it takes several types";
  return "";
}

void copy_rounded(Copy& copy, InstructionIndex index, Instruction instruction) {
  const ElementType type = instruction.shape.element_type();
  if (instruction.opcode == Opcode::Convert) {
    instruction.operands[0] = copy.rounded(instruction.operands[0], type, instruction);
    return copy.set_place(index, copy.add(std::move(instruction)));
  }
  Instruction wide = instruction;
  wide.name += ".wide";
  wide.shape = Shape::array(ElementType::F32, instruction.shape.dimensions());
  for (InstructionIndex& operand : wide.operands)
    operand = copy.add(Opcode::Convert, ElementType::F32, instruction, ".operand", {operand});
  const InstructionIndex rounded = copy.rounded(copy.add(std::move(wide)), type, instruction);
  Instruction narrow = instruction;
  narrow.opcode = Opcode::Convert;
  narrow.operands = {rounded};
  narrow.shared_attributes = nullptr;
  copy.set_place(index, copy.add(std::move(narrow)));
}

// --- which instructions

// Names as the compiler changes them: narrow.1, narrow.clone.2.
std::string without_suffix(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return "";
  const std::string suffix = name.substr(dot + 1);
  const bool is_number = !suffix.empty() && suffix.find_first_not_of("0123456789") == std::string::npos;
  return is_number || suffix == "clone" ? name.substr(0, dot) : "";
}

// The instruction of the program that the kernel's `instruction` is; empty: it cannot be told.
std::string source_of(const Module& module, const Instruction& instruction) {
  const auto alike = [&](const Instruction& other) {
    return other.opcode == instruction.opcode && other.shape.is_array() &&
           other.shape.element_type() == instruction.shape.element_type() &&
           other.shape.element_count() == instruction.shape.element_count();
  };
  std::vector<std::string> all;
  hlo::for_each_instruction(module, [&](const Computation&, const Instruction& other) {
    if (alike(other)) all.push_back(other.name);
  });
  for (std::string name = instruction.name; !name.empty(); name = without_suffix(name))
    if (std::ranges::find(all, name) != all.end()) return name;
  return all.size() == 1 ? all.front() : "";
}

// The roundings that the kernel leaves out, by the program's names.
std::vector<std::string> unrounded(const Module& module, const Inspection& inspection, std::vector<std::string>& left) {
  std::vector<std::string> names;
  for (const InspectedInstruction& inspected : inspection.instructions) {
    if (inspected.standing != Standing::Explained || inspected.liberty != Liberty::NotRounded) continue;
    const Instruction& instruction =
        inspection.module.computations[inspected.computation].instructions[inspected.instruction];
    const std::string name = source_of(module, instruction);
    if (name.empty())
      left.push_back(fmt::format("{}: no instruction of the program is known to be it", instruction.name));
    else if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

Result<bool> mean_the_same(const Module& a, const Module& b, const std::string& path, const InspectOptions& options) {
  SAPPER_TRY(const std::vector<check::InputSet> sets,
             check::inputs_for(a, check::inputs_path(options.check.inputs, path), options.check.input_set,
                               options.check.sampling));
  for (const check::InputSet& set : sets) {
    SAPPER_TRY(const hlo::Literal first, eval::evaluate(a, set.arguments, options.check.evaluation));
    SAPPER_TRY(const hlo::Literal second, eval::evaluate(b, set.arguments, options.check.evaluation));
    if (!numerics::same_bits(first, second)) return false;
  }
  return true;
}

size_t kernels_of(const check::Report& report) {
  return report.kernels ? static_cast<size_t>(report.kernels->kernels) : 0;
}

}  // namespace

Module with_explicit_roundings(const Module& module, const std::vector<std::string>& names,
                               std::vector<std::string>& fixed, std::vector<std::string>& left) {
  Module result = module;
  for (Computation& computation : result.computations) {
    Copy copy(computation);
    for (InstructionIndex i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      const bool is_named = std::ranges::find(names, instruction.name) != names.end();
      const std::string why_not = is_named ? obstacle(computation, instruction) : "";
      if (is_named && !why_not.empty()) left.push_back(fmt::format("{}: {}", instruction.name, why_not));
      if (is_named && why_not.empty()) {
        fixed.push_back(instruction.name);
        copy_rounded(copy, i, copy.moved(i));
      } else {
        copy.set_place(i, copy.add(copy.moved(i)));
      }
    }
    computation = std::move(copy).finish();
  }
  return result;
}

bool Fix::holds() const {
  const bool rounds = std::ranges::none_of(after.instructions, [](const InspectedInstruction& inspected) {
    return inspected.liberty == Liberty::NotRounded || inspected.standing == Standing::Diverges;
  });
  return left.empty() && same_meaning && rounds && kernels_before == kernels_after &&
         strict_check.verdict == check::Verdict::Agree;
}

Result<Fix> fix_kernel(target::CompilerPool& pool, const Module& module, const std::string& path,
                       const InspectOptions& options) {
  Fix fix;
  InspectOptions look = options;
  look.check.strict = true;  // what is left out is wrong by it: finds the kernel
  SAPPER_TRY(fix.before, inspect_kernel(pool, module, path, look));
  std::vector<std::string> names = unrounded(module, fix.before, fix.left);
  if (names.empty() && fix.left.empty()) {  // strictly it diverges there; by policy it is a liberty
    look.check.strict = false;
    look.kernel = fix.before.kernel;
    SAPPER_TRY(fix.before, inspect_kernel(pool, module, path, look));
    names = unrounded(module, fix.before, fix.left);
  }
  if (names.empty() && fix.left.empty())
    return fail(ErrorKind::BadInput, "{}: kernel {} leaves out no rounding; another one is named by --kernel", path,
                fix.before.kernel);
  fix.module = with_explicit_roundings(module, names, fix.fixed, fix.left);
  SAPPER_CHECKED(hlo::verify(fix.module));
  SAPPER_TRY(fix.same_meaning, mean_the_same(module, fix.module, path, options));

  check::CheckOptions deep = options.check;
  const bool is_tpu = deep.target.platform == target::Platform::Tpu;
  if (is_tpu) deep.level = check::Level::Llo;
  fix.kernels_before = kernels_of(check::check_module(pool, module, path, deep));
  deep.strict = true;
  fix.strict_check = check::check_module(pool, fix.module, path, deep);
  fix.kernels_after = kernels_of(fix.strict_check);

  auto after = inspect_kernel(pool, fix.module, path, look);
  if (!after && after.error().kind == ErrorKind::BadInput) {  // the compiler named it anew
    look.kernel.clear();
    after = inspect_kernel(pool, fix.module, path, look);
  }
  SAPPER_TRY(fix.after, std::move(after));
  return fix;
}

std::string to_text(const Fix& fix) {
  std::string text = fmt::format("{}: {}\n", fix.before.kernel, headline(fix.before));
  for (const std::string& name : fix.fixed) text += fmt::format("  {}: its rounding is written down\n", name);
  for (const std::string& reason : fix.left) text += fmt::format("  not fixed: {}\n", reason);
  text += fmt::format("  reference: {} for both programs on these inputs\n",
                      fix.same_meaning ? "the same bits" : "NOT the same bits");
  text += fmt::format("  compiled anew, by strict semantics: {}{}\n", check::to_string(fix.strict_check.verdict),
                      fix.strict_check.reason.empty() ? "" : ": " + fix.strict_check.reason);
  text += fmt::format("  kernel {}: {}; {} of {} result elements are not the reference's (before: {} of {})\n",
                      fix.after.kernel, headline(fix.after), fix.after.output_differing, fix.after.output_elements,
                      fix.before.output_differing, fix.before.output_elements);
  if (fix.kernels_before + fix.kernels_after != 0)
    text += fmt::format("  kernels: {}, before {}\n", fix.kernels_after, fix.kernels_before);
  return text;
}

}  // namespace sapper::inspect
