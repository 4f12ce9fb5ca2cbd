// Fused, lazy and in-place evaluation against evaluation instruction by instruction: the same bits, on random programs.
#include <rapidcheck.h>

#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

struct Typed {
  std::string name;
  std::string type;  // "f32"
  std::vector<int64_t> dims;
  [[nodiscard]] std::string shape() const {
    std::string text = type + "[";
    for (size_t d = 0; d < dims.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(dims[d]);
    return text + "]";
  }
};

std::string joined(const std::vector<int64_t>& list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(list[i]);
  return text;
}

// Grows a random program; every value may be used again.
class Program {
 public:
  Program() {
    const std::vector<int64_t> dims = {3, 5, 8};
    for (const std::string type : {"f32", "bf16", "s32"}) {
      add({next(), type, {3, 5, 8}}, "iota(), iota_dimension=" + std::to_string(*rc::gen::inRange(0, 3)));
      add({next(), type, {}}, "constant(3)");
    }
    for (int i = 0; i < 25; ++i) grow();
  }

  // The value of every instruction, in a tuple.
  [[nodiscard]] std::string body() const {
    std::string shapes;
    std::string names;
    // The last few values: what comes before is free to disappear into fusions.
    for (size_t i = values_.size() - 3; i < values_.size(); ++i) {
      shapes += (shapes.empty() ? "" : ", ") + values_[i].shape();
      names += (names.empty() ? "" : ", ") + values_[i].name;
    }
    return text_ + "ROOT root = (" + shapes + ") tuple(" + names + ")";
  }

 private:
  std::string next() { return "v" + std::to_string(values_.size()); }

  void add(Typed value, const std::string& right) {
    text_ += value.name + " = " + value.shape() + " " + right + "\n";
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
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
      case 1:
      case 2: {
        const std::string binary =
            *rc::gen::elementOf(std::vector<std::string>{"add", "subtract", "multiply", "maximum", "minimum"});
        return add({next(), x.type, x.dims}, binary + "(" + x.name + ", " + y.name + ")");
      }
      case 3: {
        const std::string unary =
            is_float ? *rc::gen::elementOf(std::vector<std::string>{"tanh", "sine", "negate", "abs", "floor"})
                     : *rc::gen::elementOf(std::vector<std::string>{"negate", "abs", "not", "sign"});
        return add({next(), x.type, x.dims}, unary + "(" + x.name + ")");
      }
      case 4: {
        const std::string to = *rc::gen::elementOf(std::vector<std::string>{"f32", "bf16", "s32"});
        return add({next(), to, x.dims}, "convert(" + x.name + ")");
      }
      case 5: {
        Typed condition{next(), "pred", x.dims};
        add(condition, "compare(" + x.name + ", " + y.name + "), direction=LT");
        const std::string predicate = values_.back().name;
        values_.pop_back();
        // Not to be used elsewhere: renamed out of the way of the next name.
        text_.replace(text_.rfind(predicate + " ="), predicate.size(), "p" + std::to_string(predicates_));
        const std::string renamed = "p" + std::to_string(predicates_++);
        return add({next(), x.type, x.dims}, "select(" + renamed + ", " + x.name + ", " + y.name + ")");
      }
      case 6: {
        std::vector<int64_t> permutation(x.dims.size());
        for (size_t d = 0; d < permutation.size(); ++d)
          permutation[d] = static_cast<int64_t>((d + 1) % permutation.size());
        Typed result{next(), x.type, {}};
        for (const int64_t d : permutation) result.dims.push_back(x.dims[static_cast<size_t>(d)]);
        return add(result, "transpose(" + x.name + "), dimensions={" + joined(permutation) + "}");
      }
      case 7: {
        if (x.dims.size() > 2) return;
        Typed result{next(), x.type, x.dims};
        result.dims.insert(result.dims.begin(), 4);
        std::vector<int64_t> mapped(x.dims.size());
        for (size_t d = 0; d < mapped.size(); ++d) mapped[d] = static_cast<int64_t>(d + 1);
        return add(result, "broadcast(" + x.name + "), dimensions={" + joined(mapped) + "}");
      }
      case 8: {
        int64_t count = 1;
        for (const int64_t size : x.dims) count *= size;
        return add({next(), x.type, {count}}, "reshape(" + x.name + ")");
      }
      case 9: {
        if (x.dims.empty() || x.dims[0] < 2) return;
        Typed result{next(), x.type, x.dims};
        result.dims[0] = (x.dims[0] + 1) / 2;
        std::string ranges = "[0:" + std::to_string(x.dims[0]) + ":2]";
        for (size_t d = 1; d < x.dims.size(); ++d) ranges += ", [0:" + std::to_string(x.dims[d]) + "]";
        return add(result, "slice(" + x.name + "), slice={" + ranges + "}");
      }
      case 10: {
        if (x.dims.empty()) return;
        return add({next(), x.type, x.dims}, "reverse(" + x.name + "), dimensions={0}");
      }
      default: {
        if (x.dims.size() != 1 || x.dims[0] < 2) return;
        // An update in place when x dies here.
        Typed part{next(), x.type, {1}};
        add(part, "slice(" + y.name + "), slice={[0:1]}");
        const std::string update = values_.back().name;
        return add({next(), x.type, x.dims}, "dynamic-update-slice(" + x.name + ", " + update + ", one)");
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
    const hlo::Module module = entry_module(body);
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
