// Random programs for the soundness test, as HLO text: each step computes an f32[4,6] from those before it, and the
// root has them all. Where a contract lets a program be written otherwise (a rounding to a narrow type left out, a
// product kept exact), a step can be written so.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sapper::bounds::random_program {

constexpr int parameters = 3;

// Says for each step that could be written otherwise whether it is. The reference says no.
struct Rewriting {
  std::function<bool()> leaves_rounding_out = [] { return false; };
  std::function<bool()> contracts = [] { return false; };
};

constexpr std::string_view computations = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
add_bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
min { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] minimum(a, b) }
product { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] multiply(a, b) }
any { a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT r = pred[] or(a, b) }
second { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
lt { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
lt_pair { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
arg_max { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k) }
inner { a = f32[4,6] parameter(0)
  b = f32[4,6] parameter(1)
  e = f32[4,6] tanh(a)
  ROOT r = f32[4,6] subtract(e, b) }
few { s = (s32[], f32[4,6], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
step { s = (s32[], f32[4,6], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,6] get-tuple-element(s), index=1
  y = f32[4,6] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  m = f32[4,6] multiply(x, y)
  t = f32[4,6] logistic(m)
  ROOT r = (s32[], f32[4,6], f32[4,6]) tuple(next, t, x) }
below { s = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(8)
  more = pred[] compare(i, n), direction=LT
  x = f32[4,6] get-tuple-element(s), index=1
  low = f32[] constant(-inf)
  top = f32[] reduce(x, low), dimensions={0,1}, to_apply=max
  limit = f32[] constant(6)
  small = pred[] compare(top, limit), direction=LT
  ROOT c = pred[] and(more, small) }
grow { s = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,6] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4,6] add(x, x)
  ROOT r = (s32[], f32[4,6]) tuple(next, y) }
yes { a = f32[4,6] parameter(0)
  ROOT r = f32[4,6] negate(a) }
no { a = f32[4,6] parameter(0)
  ROOT r = f32[4,6] sine(a) }
)";

constexpr std::array<std::string_view, 32> unaries = {"exponential",
                                                      "exponential-minus-one",
                                                      "log",
                                                      "log-plus-one",
                                                      "logistic",
                                                      "tanh",
                                                      "sine",
                                                      "cosine",
                                                      "tan",
                                                      "sqrt",
                                                      "rsqrt",
                                                      "cbrt",
                                                      "erf",
                                                      "asin",
                                                      "acos",
                                                      "asinh",
                                                      "acosh",
                                                      "atanh",
                                                      "sinh",
                                                      "cosh",
                                                      "abs",
                                                      "negate",
                                                      "sign",
                                                      "floor",
                                                      "ceil",
                                                      "round-nearest-afz",
                                                      "round-nearest-even",
                                                      "exponential",
                                                      "log",
                                                      "tanh",
                                                      "sqrt",
                                                      "logistic"};
constexpr std::array<std::string_view, 12> binaries = {"add",       "subtract", "multiply", "divide",
                                                       "power",     "maximum",  "minimum",  "atan2",
                                                       "remainder", "add",      "subtract", "multiply"};

class Writer {
 public:
  explicit Writer(const Rewriting& rewriting) : rewriting_(rewriting) {}

  // A step is a number; what it means depends on it and on how many steps came before.
  std::string program(const std::vector<uint32_t>& steps) {
    for (int p = 0; p < parameters; ++p) values_.push_back(line("f32[4,6]", "parameter({})", p));
    const size_t inputs = values_.size();
    zero_ = line("f32[]", "constant(0)");
    one_ = line("f32[]", "constant(1)");
    low_ = line("f32[]", "constant(-inf)");
    rows_ = line("s32[4,1]", "constant({{{{1}},{{3}},{{1}},{{7}}}})");
    for (const uint32_t step : steps) values_.push_back(write(step));
    std::string operands, shapes;
    for (size_t i = inputs; i < values_.size(); ++i) {
      operands += (operands.empty() ? "" : ", ") + values_[i];
      shapes += shapes.empty() ? "f32[4,6]" : ", f32[4,6]";
    }
    return fmt::format("HloModule m\n{}\nENTRY main {{\n{}ROOT r = ({}) tuple({})\n}}\n", computations, body_, shapes,
                       operands);
  }

 private:
  template <class... Arguments>
  std::string line(std::string_view shape, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    std::string name = fmt::format("v{}", next_++);
    body_ += fmt::format("{} = {} {}\n", name, shape, fmt::format(text, std::forward<Arguments>(arguments)...));
    return name;
  }

  template <size_t n>
  std::string_view choose(const std::array<std::string_view, n>& names) {
    return names[take(n)];
  }
  uint32_t take(size_t n) {
    const uint32_t taken = bits_ % static_cast<uint32_t>(n);
    bits_ /= static_cast<uint32_t>(n);
    return taken;
  }
  // Later values are likelier: chains grow long.
  std::string value() {
    const size_t n = values_.size();
    return take(2) == 0 ? values_[take(n)] : values_[n - 1 - take(std::min<size_t>(n, 3))];
  }
  std::string rows_to_all(const std::string& rows) { return line("f32[4,6]", "broadcast({}), dimensions={{0}}", rows); }

  std::string write(uint32_t step) {
    bits_ = step * 2654435761U;
    const uint32_t kind = step % 41;
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return line("f32[4,6]", "{}({})", choose(unaries), value());
      case 5:
      case 6:
      case 7:
      case 8: {
        const std::string a = value(), b = value();
        return line("f32[4,6]", "{}({}, {})", choose(binaries), a, b);
      }
      case 9: return rows_to_all(line("f32[4]", "reduce({}, {}), dimensions={{1}}, to_apply=add", value(), zero_));
      case 10: {
        const std::string sums = line("f32[6]", "reduce({}, {}), dimensions={{0}}, to_apply=add", value(), one_);
        return line("f32[4,6]", "broadcast({}), dimensions={{1}}", sums);
      }
      case 11: return rows_to_all(line("f32[4]", "reduce({}, {}), dimensions={{1}}, to_apply=max", value(), low_));
      case 12: return rows_to_all(line("f32[4]", "reduce({}, {}), dimensions={{1}}, to_apply=product", value(), one_));
      case 13: {
        const std::string a = value(), b = value();
        const std::string d =
            line("f32[4,4]", "dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}", a, b);
        return line("f32[4,6]", "dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", d, value());
      }
      case 14: return narrow("bf16");
      case 15: return narrow("f16");
      case 16: return chosen("f32[4,6]", value(), value(), value());
      case 17: {
        const std::string whole = line("s32[4,6]", "convert({})", value());
        return line("f32[4,6]", "convert({})", take(2) == 0 ? whole : integers(whole));
      }
      case 18:
        return line("f32[4,6]", "reduce-window({}, {}), window={{size=1x6 pad=0_0x5_0}}, to_apply=add", value(), zero_);
      case 19: return line("f32[4,6]", "sort({}), dimensions={{1}}, is_stable=true, to_apply=lt", value());
      case 20: {
        const std::string key = value(), other = value();
        const std::string sorted = line("(f32[4,6], f32[4,6])",
                                        "sort({}, {}), dimensions={{1}}, is_stable=true, to_apply=lt_pair", key, other);
        return line("f32[4,6]", "get-tuple-element({}), index={}", sorted, take(2));
      }
      case 21: return arg_max();
      case 22: {
        const std::string taken =
            line("s32[4,1]", "convert({})", line("f32[4,1]", "slice({}), slice={{[0:4], [0:1]}}", value()));
        return line("f32[4,6]",
                    "gather({}, {}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
                    "index_vector_dim=1, slice_sizes={{1,6}}",
                    value(), taken);
      }
      case 23: {
        const std::string whole = line("s32[4,6]", "convert({})", value());
        const std::string i = scalar("s32", whole, 0), j = scalar("s32", whole, 1);
        const std::string part =
            line("f32[2,3]", "dynamic-slice({}, {}, {}), dynamic_slice_sizes={{2,3}}", value(), i, j);
        return line("f32[4,6]", "dynamic-update-slice({}, {}, {}, {})", value(), part, j, i);
      }
      case 24: return scattered("add");
      case 25: return scattered(take(2) == 0 ? "second" : "max");
      case 26: {
        const std::string i = line("s32[]", "constant(0)");
        const std::string t = line("(s32[], f32[4,6], f32[4,6])", "tuple({}, {}, {})", i, value(), value());
        const std::string w = line("(s32[], f32[4,6], f32[4,6])", "while({}), condition=few, body=step", t);
        return line("f32[4,6]", "get-tuple-element({}), index=1", w);
      }
      case 27: {
        const std::string i = line("s32[]", "constant(0)");
        const std::string t = line("(s32[], f32[4,6])", "tuple({}, {})", i, value());
        const std::string w = line("(s32[], f32[4,6])", "while({}), condition=below, body=grow", t);
        return line("f32[4,6]", "get-tuple-element({}), index=1", w);
      }
      case 28: return line("f32[4,6]", "call({}, {}), to_apply=inner", value(), value());
      case 29: return line("f32[4,6]", "fusion({}, {}), kind=kLoop, calls=inner", value(), value());
      case 30: {
        const std::string a = value();
        const std::string p = line("pred[]", "compare({}, {}), direction=GT", scalar("f32", a, 2), zero_);
        return line("f32[4,6]", "conditional({}, {}, {}), true_computation=yes, false_computation=no", p, value(),
                    value());
      }
      case 31: return line("f32[4,6]", "clamp({}, {}, {})", value(), value(), value());
      case 32: return narrow_sum();
      case 33: {
        const std::string p = line("pred[4,6]", "is-finite({})", value());
        const std::string q = line("pred[4,6]", "compare({}, {}), direction=LE", value(), value());
        const std::string both = line("pred[4,6]", "{}({}, {})", take(2) == 0 ? "and" : "xor", p, q);
        const std::string no = line("pred[]", "constant(false)");
        const std::string rows = line("pred[4]", "reduce({}, {}), dimensions={{1}}, to_apply=any", both, no);
        const std::string all = line("pred[4,6]", "broadcast({}), dimensions={{0}}", rows);
        return line("f32[4,6]", "select({}, {}, {})", all, value(), value());
      }
      case 34: {
        const std::string t = line("f32[6,4]", "transpose({}), dimensions={{1,0}}", value());
        const std::string r = line("f32[4,6]", "reshape({})", t);
        const std::string s = line("f32[4,3]", "slice({}), slice={{[0:4], [1:6:2]}}", r);
        const std::string c = line("f32[4,6]", "concatenate({}, {}), dimensions={{1}}", s, s);
        return line("f32[4,6]", "reverse({}), dimensions={{0}}", c);
      }
      case 35: return complex();
      case 36: return line("f32[4,6]", "reduce-precision({}), exponent_bits=8, mantissa_bits=10", value());
      case 37: {
        const std::string c = line("c64[4,4]", "fft({}), fft_type=RFFT, fft_length={{6}}", value());
        const std::string r = line("f32[4,4]", "{}({})", take(2) == 0 ? "real" : "imag", c);
        return line("f32[4,6]", "pad({}, {}), padding=0_0x1_1", r, zero_);
      }
      case 38: return softmax();
      case 39: return magnitude();
      default: return multiply_add();
    }
  }

  std::string chosen(std::string_view shape, const std::string& a, const std::string& b, const std::string& c) {
    constexpr std::array<std::string_view, 6> directions = {"LT", "LE", "GT", "GE", "EQ", "NE"};
    const std::string p = line("pred[4,6]", "compare({}, {}), direction={}", a, b, choose(directions));
    return line(shape, "select({}, {}, {})", p, c, a);
  }

  // Of a complex number, as XLA expands it.
  std::string magnitude() {
    const std::string a = line("f32[4,6]", "abs({})", value()), b = line("f32[4,6]", "abs({})", value());
    const std::string most = line("f32[4,6]", "maximum({}, {})", a, b),
                      least = line("f32[4,6]", "minimum({}, {})", a, b);
    const std::string quotient = line("f32[4,6]", "divide({}, {})", least, most);
    const std::string square = line("f32[4,6]", "multiply({}, {})", quotient, quotient);
    const std::string ones = line("f32[4,6]", "broadcast({}), dimensions={{}}", one_);
    const std::string root = line("f32[4,6]", "sqrt({})", line("f32[4,6]", "add({}, {})", ones, square));
    const std::string product = line("f32[4,6]", "multiply({}, {})", most, root);
    const std::string number = line("pred[4,6]", "compare({}, {}), direction=EQ", product, product);
    return line("f32[4,6]", "select({}, {}, {})", number, product, least);
  }

  std::string scalar(std::string_view type, const std::string& of, int column) {
    const std::string cut =
        line(fmt::format("{}[1,1]", type), "slice({}), slice={{[0:1], [{}:{}]}}", of, column, column + 1);
    return line(fmt::format("{}[]", type), "reshape({})", cut);
  }

  std::string integers(const std::string& a) {
    constexpr std::array<std::string_view, 9> operations = {
        "add", "subtract", "multiply", "divide", "remainder", "maximum", "shift-left", "shift-right-arithmetic", "and"};
    const std::string three = line("s32[]", "constant(3)");
    const std::string all = line("s32[4,6]", "broadcast({}), dimensions={{}}", three);
    return line("s32[4,6]", "{}({}, {})", choose(operations), a, all);
  }

  // An operation in a narrow type; left out, in f32.
  std::string narrow(std::string_view type) {
    const bool left_out = rewriting_.leaves_rounding_out();
    const std::string shape = fmt::format("{}[4,6]", left_out ? "f32" : type);
    const std::string a = line(shape, "convert({})", value());
    std::string r = a;
    switch (take(4)) {
      case 0: r = line(shape, "{}({})", choose(unaries), a); break;
      case 1: {
        const std::string b = line(shape, "convert({})", value());
        r = line(shape, "{}({}, {})", choose(binaries), a, b);
        break;
      }
      case 2: r = chosen(shape, a, line(shape, "convert({})", value()), line(shape, "convert({})", value())); break;
      default: break;
    }
    return line("f32[4,6]", "convert({})", r);
  }

  std::string narrow_sum() {
    const bool left_out = rewriting_.leaves_rounding_out();
    const std::string type = left_out ? "f32" : "bf16";
    const std::string a = line(type + "[4,6]", "convert({})", value());
    const std::string zero = line(type + "[]", "constant(0)");
    const std::string sum =
        line(type + "[4]", "reduce({}, {}), dimensions={{1}}, to_apply={}", a, zero, left_out ? "add" : "add_bf16");
    return rows_to_all(line("f32[4]", "convert({})", sum));
  }

  std::string arg_max() {
    const std::string iota = line("s32[4,6]", "iota(), iota_dimension=1");
    const std::string zero = line("s32[]", "constant(0)");
    const std::string both = line("(f32[4], s32[4])", "reduce({}, {}, {}, {}), dimensions={{1}}, to_apply=arg_max",
                                  value(), iota, low_, zero);
    if (take(2) == 0) return rows_to_all(line("f32[4]", "get-tuple-element({}), index=0", both));
    return rows_to_all(line("f32[4]", "convert({})", line("s32[4]", "get-tuple-element({}), index=1", both)));
  }

  std::string scattered(std::string_view combiner) {
    const std::string into = value(), updates = value();
    return line("f32[4,6]",
                "scatter({}, {}, {}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
                "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={}",
                into, rows_, updates, combiner);
  }

  std::string complex() {
    constexpr std::array<std::string_view, 4> operations = {"multiply", "add", "divide", "subtract"};
    const std::string a = line("c64[4,6]", "complex({}, {})", value(), value());
    const std::string b = line("c64[4,6]", "complex({}, {})", value(), value());
    std::string r = line("c64[4,6]", "{}({}, {})", choose(operations), a, b);
    if (take(3) == 0) r = line("c64[4,6]", "exponential({})", r);
    constexpr std::array<std::string_view, 3> parts = {"real", "imag", "abs"};
    return line("f32[4,6]", "{}({})", choose(parts), r);
  }

  std::string softmax() {
    const std::string p = line("pred[4,6]", "compare({}, {}), direction=LT", value(), value());
    const std::string lows = line("f32[4,6]", "broadcast({}), dimensions={{}}", low_);
    const std::string a = line("f32[4,6]", "select({}, {}, {})", p, lows, value());
    const std::string top = line("f32[4]", "reduce({}, {}), dimensions={{1}}, to_apply=max", a, low_);
    const std::string shifted = line("f32[4,6]", "subtract({}, {})", a, rows_to_all(top));
    const std::string e = line("f32[4,6]", "exponential({})", shifted);
    const std::string sum = line("f32[4]", "reduce({}, {}), dimensions={{1}}, to_apply=add", e, zero_);
    return line("f32[4,6]", "divide({}, {})", e, rows_to_all(sum));
  }

  // Contracted: the product is exact.
  std::string multiply_add() {
    const std::string a = value(), b = value(), c = value();
    if (!rewriting_.contracts()) return line("f32[4,6]", "add({}, {})", line("f32[4,6]", "multiply({}, {})", a, b), c);
    const std::string product =
        line("f64[4,6]", "multiply({}, {})", line("f64[4,6]", "convert({})", a), line("f64[4,6]", "convert({})", b));
    const std::string sum = line("f64[4,6]", "add({}, {})", product, line("f64[4,6]", "convert({})", c));
    return line("f32[4,6]", "convert({})", sum);
  }

  const Rewriting& rewriting_;
  std::string body_, zero_, one_, low_, rows_;
  std::vector<std::string> values_;
  int next_ = 0;
  uint32_t bits_ = 0;
};

}  // namespace sapper::bounds::random_program
