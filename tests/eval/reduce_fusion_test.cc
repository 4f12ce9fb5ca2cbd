// Reductions that compute what they reduce: the same bits as from memory, and nothing in memory that need not be.
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <random>

#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

struct Type {
  std::string name;
  std::vector<std::string> chain;  // operations on two values
  std::vector<std::string> reducers;
};

const std::vector<Type> types = {
    {"f32", {"add", "multiply", "divide", "atan2"}, {"add", "multiply", "maximum", "minimum"}},
    {"f64", {"add", "multiply", "subtract"}, {"add", "maximum"}},
    {"bf16", {"add", "multiply", "divide"}, {"add", "multiply", "maximum"}},
    {"f8e4m3fn", {"add", "multiply"}, {"add", "minimum"}},
    {"s8", {"add", "multiply", "xor"}, {"add", "maximum", "or"}},
    {"s4", {"add", "multiply"}, {"add", "minimum"}},
    {"u32", {"add", "multiply", "and"}, {"add", "multiply", "xor"}},
    {"pred", {"and", "or", "xor"}, {"and", "or", "xor"}},
};

std::string reducer(const std::string& type, const std::string& operation) {
  return fmt::format("reducer {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT r = {0}[] {1}(a, b)\n}}\n",
                     type, operation);
}

// A chain over parameters, a scalar, and views, that ends in a reduction over some dimensions.
struct Program {
  std::string body;
  std::string before;
};

Program random_program() {
  const Type type = *rc::gen::elementOf(types);
  // One dimension long enough to be read in runs, or in several pieces.
  const int64_t run = *rc::gen::elementOf(std::vector<int64_t>{128, 200, 1500, 40'000});
  std::vector<int64_t> dims{run};
  std::vector<int64_t> over, kept_dims;
  for (int64_t rank = *rc::gen::inRange(0, 4); rank > 0; --rank) dims.insert(dims.begin(), *rc::gen::inRange(1, 5));
  if (*rc::gen::inRange(0, 4) == 0) dims.push_back(*rc::gen::inRange(1, 3));
  for (size_t d = 0; d < dims.size(); ++d)
    *rc::gen::arbitrary<bool>() ? over.push_back(static_cast<int64_t>(d)) : kept_dims.push_back(dims[d]);

  const std::string shape = fmt::format("{}[{}]", type.name, fmt::join(dims, ","));
  const std::string part = fmt::format("{}[{}]", type.name, dims.back());
  std::string body = fmt::format(
      "p = {0} parameter(0)\nrow = {1} parameter(1)\nscalar = {2}[] parameter(2)\ninit = {2}[] parameter(3)\n"
      "v0 = {0} broadcast(row), dimensions={{{3}}}\nv1 = {0} broadcast(scalar), dimensions={{}}\n"
      "v2 = {0} reverse(p), dimensions={{0}}\nv3 = {0} copy(p)\n",
      shape, part, type.name, dims.size() - 1);
  int values = 4;
  if (type.name != "pred" && type.name != "f8e4m3fn")
    body += fmt::format("v{} = {} iota(), iota_dimension=0\n", values++, shape);
  const auto pick = [&] { return fmt::format("v{}", *rc::gen::inRange(0, values)); };
  for (int steps = *rc::gen::inRange(0, 6); steps > 0; --steps) {
    const std::string a = pick(), b = pick();
    body += fmt::format("v{} = {} {}({}, {})\n", values++, shape, *rc::gen::elementOf(type.chain), a, b);
  }
  const std::string operand = *rc::gen::arbitrary<bool>() ? pick() : fmt::format("v{}", values - 1);
  const std::string result = fmt::format("{}[{}]", type.name, fmt::join(kept_dims, ","));
  body += fmt::format("r = {} reduce({}, init), dimensions={{{}}}, to_apply=reducer\n", result, operand,
                      fmt::join(over, ","));
  // Beside it another value: what is reduced, or not.
  body +=
      fmt::format("ROOT root = ({}, {}) tuple(r, {})", result, shape, *rc::gen::arbitrary<bool>() ? operand : pick());
  return {body, reducer(type.name, *rc::gen::elementOf(type.reducers))};
}

TEST(ReduceFusion, GivesTheSameBitsAsFromMemory) {
  std::mt19937 random(0);
  rc::check([&] {
    const Program program = random_program();
    const hlo::Module module = entry_module(program.body, program.before);
    std::vector<hlo::Literal> arguments;
    for (const hlo::InstructionIndex parameter : module.entry_computation().parameters()) {
      hlo::Literal& argument = arguments.emplace_back(module.entry_computation().instructions[parameter].shape);
      const bool is_float = hlo::is_float(argument.shape().element_type());
      std::uniform_real_distribution<double> reals(-4, 4);
      for (int64_t i = 0; i < argument.element_count(); ++i)
        is_float ? argument.set_real(i, reals(random)) : argument.set_integer(i, static_cast<int64_t>(random() % 7));
    }
    Options traced;
    traced.trace = [](const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&) {};
    const auto fused = evaluate(module, arguments);
    const auto single = evaluate(module, arguments, traced);
    RC_ASSERT(fused.has_value() && single.has_value());
    if (!same_value(*fused, *single)) RC_FAIL(program.before + program.body);
  });
}

constexpr int64_t matrix = int64_t{300} * 200 * 4;  // bytes

// Of a program on a matrix x that outlives it: nothing can be written over x.
int64_t matrices_beside_x(const std::string& body, const std::string& result_shapes, const std::string& results) {
  const std::string program = fmt::format(
      "x = f32[300,200] parameter(0)\nzero = f32[] constant(0)\n{}\nROOT root = (f32[300,200], {}) tuple(x, {})\n",
      body, result_shapes, results);
  return least_memory_bytes(entry_module(program, reducer("f32", "add"))) / matrix - 1;
}

const std::string rows = "\nr = f32[300] reduce(y, zero), dimensions={1}, to_apply=reducer";
const std::string columns = "\nc = f32[200] reduce(y, zero), dimensions={0}, to_apply=reducer";

TEST(ReduceFusion, TakesNoMemoryForWhatItReduces) {
  for (const std::string y :
       {"s = f32[300,200] sine(x)\ny = f32[300,200] multiply(s, x)", "y = f32[300,200] reverse(x), dimensions={0}",
        "y = f32[300,200] iota(), iota_dimension=0"}) {
    EXPECT_EQ(matrices_beside_x(y + rows, "f32[300]", "r"), 0) << y;
    EXPECT_EQ(matrices_beside_x(y + columns, "f32[200]", "c"), 0) << y;
  }
}

// Nobody computes a value twice, or in short runs.
TEST(ReduceFusion, LeavesInMemoryWhatOthersNeed) {
  const std::string y = "y = f32[300,200] sine(x)";
  EXPECT_EQ(matrices_beside_x(y + rows, "f32[300], f32[300,200]", "r, y"), 1);
  EXPECT_EQ(matrices_beside_x(y + rows + columns, "f32[300], f32[200]", "r, c"), 1);
  EXPECT_EQ(matrices_beside_x("z = f32[6000,10] reshape(x)\ny = f32[6000,10] sine(z)\n"
                              "r = f32[6000] reduce(y, zero), dimensions={1}, to_apply=reducer",
                              "f32[6000]", "r"),
            1);
}

// One step computes what is reduced, reduces it and writes it.
TEST(ReduceFusion, WritesWhatOthersNeed) {
  for (const std::string type : {"f32", "bf16"}) {
    for (const int kept : {0, 1}) {
      const std::string body = fmt::format(
          "x = {0}[150,150] iota(), iota_dimension={2}\nzero = {0}[] constant(0)\ny = {0}[150,150] sine(x)\n"
          "r = {0}[150] reduce(y, zero), dimensions={{{2}}}, to_apply=reducer\n"
          "b = {0}[150,150] broadcast(r), dimensions={{{1}}}\nROOT q = {0}[150,150] divide(y, b)",
          type, kept, 1 - kept);
      Options traced;
      traced.trace = [](const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&) {};
      const std::string before = reducer(type, "add");
      expect_same(value_of(body, {}, before), value_of(body, {}, before, traced));
    }
  }
}

// The init value may be what the chain reads.
TEST(ReduceFusion, StartsFromWhatItReads) {
  const std::string body =
      "x = f32[] parameter(0)\nw = f32[256] broadcast(x), dimensions={}\ny = f32[256] add(w, w)\n"
      "ROOT r = f32[] reduce(y, x), dimensions={0}, to_apply=reducer";
  expect_same(value_of(body, {constant("f32[] 1.5")}, reducer("f32", "add")), constant("f32[] 769.5"));
}

}  // namespace
}  // namespace sapper::eval
