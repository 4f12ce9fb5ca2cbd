// The reductions of fast_reduce.h against element by element folding, over random shapes.
#include "eval/fast_reduce.h"

#include <rapidcheck.h>

#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

const std::vector<Opcode> opcodes = {Opcode::Add, Opcode::Multiply, Opcode::Maximum, Opcode::Minimum,
                                     Opcode::And, Opcode::Or,       Opcode::Xor};
const std::vector<ElementType> types = {ElementType::F32, ElementType::BF16, ElementType::F64, ElementType::S32,
                                        ElementType::U8,  ElementType::S4,   ElementType::Pred};

struct ReduceCase {
  Opcode opcode;
  ElementType type;
  Dims dims;
  Dims over;
};

ReduceCase random_case() {
  ReduceCase test;
  test.opcode = *rc::gen::elementOf(opcodes);
  test.type = *rc::gen::elementOf(types);
  const auto rank = *rc::gen::inRange<size_t>(0, 5);
  for (size_t d = 0; d < rank; ++d) {
    test.dims.push_back(*rc::gen::weightedOneOf<int64_t>({{6, rc::gen::inRange<int64_t>(1, 6)},
                                                          {1, rc::gen::just<int64_t>(0)},
                                                          {1, rc::gen::inRange<int64_t>(30, 90)}}));
    if (*rc::gen::arbitrary<bool>()) test.over.push_back(static_cast<int64_t>(d));
  }
  return test;
}

// One step of the reduction in double (or int64), as wide as the result needs.
double step(Opcode opcode, double a, double b) {
  switch (opcode) {
    case Opcode::Add: return a + b;
    case Opcode::Multiply: return a * b;
    case Opcode::Maximum: return std::max(a, b);
    default: return std::min(a, b);
  }
}
int64_t integer_step(Opcode opcode, int64_t a, int64_t b, bool pred) {
  switch (opcode) {
    case Opcode::Add: return pred ? (a | b) : a + b;
    case Opcode::Multiply: return pred ? (a & b) : a * b;
    case Opcode::Maximum: return std::max(a, b);
    case Opcode::Minimum: return std::min(a, b);
    case Opcode::And: return a & b;
    case Opcode::Or: return a | b;
    default: return a ^ b;
  }
}

TEST(FastReduce, IsTheFoldOfItsElements) {
  rc::check([] {
    const ReduceCase test = random_case();
    const bool is_float = hlo::is_float(test.type);
    RC_PRE(!is_float || test.opcode == Opcode::Add || test.opcode == Opcode::Multiply ||
           test.opcode == Opcode::Maximum || test.opcode == Opcode::Minimum);
    const Shape operand_shape = Shape::array(test.type, test.dims);
    Literal operand(operand_shape);
    // Small exact values: sums are exact in any order; products are of powers of two.
    for (int64_t i = 0; i < operand.element_count(); ++i) {
      const int64_t value = (i * 7919 + 3) % 5 - 2;
      if (is_float) {
        operand.set_real(i, test.opcode == Opcode::Multiply ? (i % 3 == 0 ? -1.0 : 1.0) : static_cast<double>(value));
      } else {
        operand.set_integer(i, value);
      }
    }
    Literal init(Shape::scalar(test.type));
    is_float ? init.set_real(0, 2) : init.set_integer(0, 1);

    Dims kept;
    for (size_t d = 0; d < test.dims.size(); ++d)
      if (std::find(test.over.begin(), test.over.end(), static_cast<int64_t>(d)) == test.over.end())
        kept.push_back(test.dims[d]);

    hlo::Module module;
    ComputationBuilder reducer;
    const auto a = reducer.parameter(test.type);
    const auto b = reducer.parameter(test.type);
    reducer.add(test.opcode, test.type, {a, b});
    module.computations.push_back(reducer.build());
    hlo::Instruction instruction;
    instruction.opcode = Opcode::Reduce;
    instruction.operands = {0, 1};
    instruction.called = {0};
    instruction.dimensions = test.over;
    instruction.shape = Shape::array(test.type, kept);
    const auto reduce = FastReduce::make(module, instruction, operand_shape);
    RC_ASSERT(reduce.has_value());
    Literal got(instruction.shape);
    reduce->run({operand.bytes().data(), nullptr, {}}, init.bytes().data(), got.mutable_bytes().data());

    Literal expected(instruction.shape);
    std::vector<double> reals(static_cast<size_t>(got.element_count()), 2.0);
    std::vector<int64_t> integers(static_cast<size_t>(got.element_count()),
                                  integer_step(Opcode::Or, init.integer_at(0), 0, false));
    for (int64_t i = 0; i < operand.element_count(); ++i) {
      int64_t rest = i;
      Dims index(test.dims.size());
      for (size_t d = test.dims.size(); d-- > 0;) {
        index[d] = rest % test.dims[d];
        rest /= test.dims[d];
      }
      int64_t at = 0;
      for (size_t d = 0; d < test.dims.size(); ++d)
        if (std::find(test.over.begin(), test.over.end(), static_cast<int64_t>(d)) == test.over.end())
          at = at * test.dims[d] + index[d];
      const auto k = static_cast<size_t>(at);
      if (is_float) {
        reals[k] = step(test.opcode, reals[k], operand.real_at(i));
      } else {
        Literal wrapped(Shape::scalar(test.type));
        wrapped.set_integer(
            0, integer_step(test.opcode, integers[k], operand.integer_at(i), test.type == ElementType::Pred));
        integers[k] = wrapped.integer_at(0);
      }
    }
    for (int64_t i = 0; i < got.element_count(); ++i) {
      const auto k = static_cast<size_t>(i);
      is_float ? expected.set_real(i, reals[k]) : expected.set_integer(i, integers[k]);
    }
    RC_ASSERT(got == expected);
  });
}

}  // namespace
}  // namespace sapper::eval
