#include "inspect/fix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "eval/evaluator.h"
#include "hlo/rewriter.h"
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

// --- the edit

// Writes the rounding of one instruction down, in the place of that instruction. What it adds is named after it.
class Rounding {
 public:
  // `names` are taken already.
  Rounding(hlo::Rewriter& to, std::set<std::string>& names, const Instruction& instruction)
      : to_(to), names_(names), instruction_(instruction), type_(instruction.shape.element_type()) {}

  // Of a convert from `wide`.
  InstructionIndex of_convert(ElementType wide) {
    return narrowed(instruction_, rounded(to_.moved(instruction_.operands[0]), wide));
  }

  // Of an operation on numbers of its own type: computed in f32.
  InstructionIndex of_arithmetic() {
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : to_.moved_operands(instruction_))
      operands.push_back(add(Opcode::Convert, ElementType::F32, ".operand", {operand}));
    Instruction narrow = instruction_;
    narrow.opcode = Opcode::Convert;
    narrow.shared_attributes = nullptr;
    return narrowed(narrow,
                    rounded(add(instruction_, ElementType::F32, ".wide", std::move(operands)), ElementType::F32));
  }

 private:
  // `value`, of type `wide`, rounded to the narrow format; it stays as wide as it is.
  InstructionIndex rounded(InstructionIndex value, ElementType wide) {
    const hlo::FloatFormat format = *hlo::float_format(type_);
    Instruction reduce{.opcode = Opcode::ReducePrecision};
    reduce.edit_attributes().set_exponent_bits(format.exponent_bits);
    reduce.edit_attributes().set_mantissa_bits(format.mantissa_bits);
    const InstructionIndex normal = add(std::move(reduce), wide, ".rounded", {value});
    // reduce-precision makes subnormal numbers zero. Where they are normal ones of the wide type, they are multiples of
    // the least.
    const double least_normal = hlo::least_normal(format);
    if (least_normal <= hlo::least_normal(*hlo::float_format(wide))) return normal;
    const double least = std::ldexp(least_normal, -format.mantissa_bits);
    const InstructionIndex scaled = add(Opcode::Multiply, wide, ".scaled", {value, splat(wide, 1 / least)});
    const InstructionIndex whole = add(Opcode::RoundNearestEven, wide, ".whole", {scaled});
    const InstructionIndex small = add(Opcode::Multiply, wide, ".small", {whole, splat(wide, least)});
    const InstructionIndex magnitude = add(Opcode::Abs, wide, ".magnitude", {value});
    Instruction less{.opcode = Opcode::Compare};
    less.edit_attributes().set_comparison_direction("LT");
    const InstructionIndex is_small =
        add(std::move(less), ElementType::Pred, ".is_small", {magnitude, splat(wide, least_normal)});
    return add(Opcode::Select, wide, ".chosen", {is_small, small, normal});
  }

  // `convert`, under the instruction's own name.
  InstructionIndex narrowed(Instruction convert, InstructionIndex rounded) {
    convert.id = -1;
    return to_.copy(std::move(convert), {rounded});
  }

  InstructionIndex splat(ElementType type, double value) {
    hlo::Literal literal(Shape::scalar(type));
    literal.set_real(0, value);
    Instruction constant{.opcode = Opcode::Constant};
    constant.name = free_name(".constant");
    constant.shape = literal.shape();
    constant.metadata = instruction_.metadata;
    constant.literal = std::make_shared<const hlo::Literal>(std::move(literal));
    return add(Opcode::Broadcast, type, ".constants", {to_.copy(std::move(constant), {})});
  }

  InstructionIndex add(Opcode opcode, ElementType type, const char* suffix, std::vector<InstructionIndex> operands) {
    return add(Instruction{.opcode = opcode}, type, suffix, std::move(operands));
  }

  // `made`, which has its opcode and attributes.
  InstructionIndex add(Instruction made, ElementType type, const char* suffix, std::vector<InstructionIndex> operands) {
    made.id = -1;
    made.name = free_name(suffix);
    made.shape = Shape::array(type, instruction_.shape.dimensions());
    made.metadata = instruction_.metadata;
    return to_.copy(std::move(made), std::move(operands));
  }

  std::string free_name(const char* suffix) {
    std::string name = instruction_.name + suffix;
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  hlo::Rewriter& to_;
  std::set<std::string>& names_;
  const Instruction& instruction_;
  ElementType type_;
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
    std::set<std::string> taken;
    for (const Instruction& instruction : computation.instructions) taken.insert(instruction.name);
    hlo::Rewriter rewriter(computation);
    computation = rewriter.run([&](const Instruction& instruction) {
      if (std::ranges::find(names, instruction.name) != names.end()) {
        const std::string why_not = obstacle(computation, instruction);
        if (why_not.empty()) {
          fixed.push_back(instruction.name);
          Rounding rounding(rewriter, taken, instruction);
          return instruction.opcode == Opcode::Convert
                     ? rounding.of_convert(computation.instructions[instruction.operands[0]].shape.element_type())
                     : rounding.of_arithmetic();
        }
        left.push_back(fmt::format("{}: {}", instruction.name, why_not));
      }
      Instruction same = instruction;
      same.id = -1;
      return rewriter.copy(std::move(same), rewriter.moved_operands(instruction));
    });
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
  deep.tolerance.reset();  // of a case: strict semantics have none
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
