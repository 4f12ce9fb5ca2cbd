#include "eval/sort_key.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sapper::eval {
namespace {

using Register = ScalarProgram::Register;
using Step = ScalarProgram::Step;

// Parameters 2k and 2k + 1 of a comparator are operand k on its left and on its right.
class Sides {
 public:
  explicit Sides(const ScalarProgram& comparator) : comparator_(comparator) {
    for (const Step& step : comparator.steps()) steps_.emplace(step.result, &step);
  }

  // Whether `right` is from right-hand operands what `left` is from left-hand ones.
  bool mirror(Register left, Register right) {
    const auto [known, is_new] = known_.try_emplace({left, right}, false);
    if (!is_new) return known->second;
    const bool result = compare(left, right);
    known_[{left, right}] = result;
    return result;
  }

  // The operands that register `left` depends on.
  std::vector<size_t> operands_of(Register left) const {
    std::vector<size_t> operands;
    std::vector<Register> pending{left};
    std::vector<bool> seen(left + 1, false);  // a step's operands have lower numbers
    while (!pending.empty()) {
      const Register r = pending.back();
      pending.pop_back();
      if (seen[r]) continue;
      seen[r] = true;
      if (r < comparator_.parameter_count()) operands.push_back(r / 2);
      if (const auto step = steps_.find(r); step != steps_.end()) {
        pending.insert(pending.end(), step->second->operands, step->second->operands + step->second->operand_count);
      }
    }
    return operands;
  }

 private:
  bool compare(Register left, Register right) {
    if (left < comparator_.parameter_count()) return left % 2 == 0 && right == left + 1;
    const auto left_step = steps_.find(left);
    const auto right_step = steps_.find(right);
    if (left_step == steps_.end() || right_step == steps_.end()) return same_constant(left, right);
    const Step& a = *left_step->second;
    const Step& b = *right_step->second;
    const bool same_operation = a.operation.function == b.operation.function &&
                                a.operation.detail == b.operation.detail && a.operation.narrow == b.operation.narrow &&
                                a.operand_count == b.operand_count &&
                                comparator_.register_type(left) == comparator_.register_type(right);
    if (!same_operation) return false;
    for (uint32_t o = 0; o < a.operand_count; ++o) {
      if (!mirror(a.operands[o], b.operands[o])) return false;
    }
    return true;
  }

  bool same_constant(Register left, Register right) const {
    const auto a = comparator_.constant(left);
    const auto b = comparator_.constant(right);
    return !a.empty() && comparator_.register_type(left) == comparator_.register_type(right) &&
           std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  const ScalarProgram& comparator_;
  std::map<Register, const Step*> steps_;
  std::map<std::pair<Register, Register>, bool> known_;
};

}  // namespace

std::optional<SortKey> find_sort_key(const ScalarProgram& comparator) {
  if (comparator.output_count() != 1 || comparator.steps().empty()) return std::nullopt;
  const Step& root = comparator.steps().back();
  if (root.result != comparator.output(0) || root.instruction->opcode != hlo::Opcode::Compare) return std::nullopt;

  const hlo::Attributes& attributes = root.instruction->attributes();
  const bool less = attributes.comparison_direction() == "LT";
  if (!less && attributes.comparison_direction() != "GT") return std::nullopt;
  const hlo::ElementType type = comparator.register_type(root.operands[0]);
  if (hlo::is_complex(type)) return std::nullopt;

  Sides sides(comparator);
  const bool in_order = sides.mirror(root.operands[0], root.operands[1]);
  if (!in_order && !sides.mirror(root.operands[1], root.operands[0])) return std::nullopt;
  const Register key = root.operands[in_order ? 0 : 1];
  const bool total = attributes.comparison_type() == "TOTALORDER" || attributes.comparison_order() == "TOTAL";
  return SortKey{comparator.computing(key), sides.operands_of(key), type, total ? FloatOrder::Total : FloatOrder::Plain,
                 less != in_order};
}

}  // namespace sapper::eval
