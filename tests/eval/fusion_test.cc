// Fused, lazy and in-place evaluation against evaluation instruction by instruction: the same bits, on random programs.
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

struct Typed {
  std::string name;
  std::string type;  // "f32"
  std::vector<int64_t> dims;
  [[nodiscard]] std::string shape() const { return fmt::format("{}[{}]", type, fmt::join(dims, ",")); }
};

// Grows a random program; every value may be used again.
class Program {
 public:
  Program() {
    for (const char* const type : {"f32", "bf16", "s32"}) {
      add({next(), type, {3, 2, 160}}, fmt::format("iota(), iota_dimension={}", *rc::gen::inRange(0, 3)));
      add({next(), type, {}}, "constant(3)");
    }
    for (int i = 0; i < 40; ++i) grow();
  }

  // What its reductions apply.
  [[nodiscard]] static std::string reducers() {
    std::string text;
    for (const char* const type : {"f32", "bf16", "s32"})
      for (const char* const operation : {"add", "maximum"})
        text +=
            fmt::format("{1}_{0} {{\na = {0}[] parameter(0)\nb = {0}[] parameter(1)\nROOT r = {0}[] {1}(a, b)\n}}\n",
                        type, operation);
    return text;
  }

  // Its results are the last few values: what comes before is free to disappear into fusions.
  [[nodiscard]] std::string body() const {
    std::vector<std::string> shapes;
    std::vector<std::string> names;
    for (size_t i = values_.size() - 3; i < values_.size(); ++i) {
      shapes.push_back(values_[i].shape());
      names.push_back(values_[i].name);
    }
    return fmt::format("{}ROOT root = ({}) tuple({})", text_, fmt::join(shapes, ", "), fmt::join(names, ", "));
  }

 private:
  std::string next() { return fmt::format("v{}", values_.size()); }

  void add(Typed value, const std::string& right) {
    text_ += fmt::format("{} = {} {}\n", value.name, value.shape(), right);
    values_.push_back(std::move(value));
  }

  Typed pick() { return *rc::gen::elementOf(values_); }

  std::optional<Typed> pick_like(const Typed& value) {
    std::vector<Typed> same;
    for (const Typed& other : values_)
      if (other.type == value.type && other.dims == value.dims) same.push_back(other);
    return *rc::gen::elementOf(same);
  }

  void grow() {
    const Typed x = pick();
    const Typed y = *pick_like(x);
    const bool is_float = x.type != "s32";
    switch (*rc::gen::inRange(0, 14)) {
      case 0:
      case 1:
      case 2: {
        const std::string binary =
            *rc::gen::elementOf(std::vector<std::string>{"add", "subtract", "multiply", "maximum", "minimum"});
        return add({next(), x.type, x.dims}, fmt::format("{}({}, {})", binary, x.name, y.name));
      }
      case 3: {
        const std::string unary =
            is_float ? *rc::gen::elementOf(std::vector<std::string>{"tanh", "sine", "negate", "abs", "floor"})
                     : *rc::gen::elementOf(std::vector<std::string>{"negate", "abs", "not", "sign"});
        return add({next(), x.type, x.dims}, fmt::format("{}({})", unary, x.name));
      }
      case 4: {
        const std::string to = *rc::gen::elementOf(std::vector<std::string>{"f32", "bf16", "s32"});
        return add({next(), to, x.dims}, fmt::format("convert({})", x.name));
      }
      case 5: {
        const std::string condition = fmt::format("p{}", predicates_++);
        text_ += fmt::format("{} = pred[{}] compare({}, {}), direction=LT\n", condition, fmt::join(x.dims, ","), x.name,
                             y.name);
        return add({next(), x.type, x.dims}, fmt::format("select({}, {}, {})", condition, x.name, y.name));
      }
      case 6: {
        std::vector<int64_t> permutation(x.dims.size());
        for (size_t d = 0; d < permutation.size(); ++d)
          permutation[d] = static_cast<int64_t>((d + 1) % permutation.size());
        Typed result{next(), x.type, {}};
        for (const int64_t d : permutation) result.dims.push_back(x.dims[static_cast<size_t>(d)]);
        return add(result, fmt::format("transpose({}), dimensions={{{}}}", x.name, fmt::join(permutation, ",")));
      }
      case 7: {
        if (x.dims.size() > 2) return;
        Typed result{next(), x.type, x.dims};
        result.dims.insert(result.dims.begin(), 4);
        std::vector<int64_t> mapped(x.dims.size());
        for (size_t d = 0; d < mapped.size(); ++d) mapped[d] = static_cast<int64_t>(d + 1);
        return add(result, fmt::format("broadcast({}), dimensions={{{}}}", x.name, fmt::join(mapped, ",")));
      }
      case 8: {
        int64_t count = 1;
        for (const int64_t size : x.dims) count *= size;
        return add({next(), x.type, {count}}, fmt::format("reshape({})", x.name));
      }
      case 9: {
        if (x.dims.empty() || x.dims[0] < 2) return;
        Typed result{next(), x.type, x.dims};
        result.dims[0] = (x.dims[0] + 1) / 2;
        std::string ranges = fmt::format("[0:{}:2]", x.dims[0]);
        for (size_t d = 1; d < x.dims.size(); ++d) ranges += fmt::format(", [0:{}]", x.dims[d]);
        return add(result, fmt::format("slice({}), slice={{{}}}", x.name, ranges));
      }
      case 10: {
        if (x.dims.empty()) return;
        return add({next(), x.type, x.dims}, fmt::format("reverse({}), dimensions={{0}}", x.name));
      }
      case 11:
      case 12: {
        // Along one dimension; as it is, or everywhere along that dimension.
        if (x.dims.empty()) return;
        const auto over = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(x.dims.size())));
        Typed reduced{next(), x.type, x.dims};
        reduced.dims.erase(reduced.dims.begin() + static_cast<int64_t>(over));
        const std::string operation = *rc::gen::elementOf(std::vector<std::string>{"add", "maximum"});
        const std::string init = fmt::format("init{}", values_.size());
        text_ += fmt::format("{} = {}[] constant(1)\n", init, x.type);
        add(reduced,
            fmt::format("reduce({}, {}), dimensions={{{}}}, to_apply={}_{}", x.name, init, over, operation, x.type));
        if (*rc::gen::arbitrary<bool>()) return;
        std::vector<size_t> kept;
        for (size_t d = 0; d < x.dims.size(); ++d)
          if (d != over) kept.push_back(d);
        return add({next(), x.type, x.dims},
                   fmt::format("broadcast({}), dimensions={{{}}}", reduced.name, fmt::join(kept, ",")));
      }
      default: {
        if (x.dims.size() != 1 || x.dims[0] < 2) return;
        // An update in place when x dies here.
        Typed part{next(), x.type, {1}};
        add(part, fmt::format("slice({}), slice={{[0:1]}}", y.name));
        const std::string update = values_.back().name;
        return add({next(), x.type, x.dims}, fmt::format("dynamic-update-slice({}, {}, one)", x.name, update));
      }
    }
  }

  std::vector<Typed> values_;
  std::string text_ = "one = s32[] constant(1)\n";
  int predicates_ = 0;
};

TEST(Fusion, GivesTheSameBitsAsOneInstructionAtATime) {
  rc::check([] {
    const Program program;
    const std::string body = program.body();
    const hlo::Module module = entry_module(body, Program::reducers());
    Options traced;
    traced.trace = [](const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&) {};
    const auto fused = evaluate(module, {});
    const auto single = evaluate(module, {}, traced);
    RC_ASSERT(fused.has_value() && single.has_value());
    if (!(*fused == *single)) RC_FAIL(body + "\n" + hlo::to_text(*fused) + "\n" + hlo::to_text(*single));
  });
}

}  // namespace
}  // namespace sapper::eval
