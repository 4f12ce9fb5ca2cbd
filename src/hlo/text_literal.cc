#include "hlo/text_literal.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "hlo/text_number.h"
#include "hlo/text_shape.h"

namespace sapper::hlo {
namespace {

// Reads the elements of one array in order into its bytes.
class ArrayReader {
 public:
  ArrayReader(Scanner& scan, const Shape& shape)
      : scan_(scan),
        shape_(shape),
        type_(shape.element_type()),
        component_(is_complex(type_) ? component_type(type_) : type_),
        bytes_(host_bytes(component_)) {}

  // Null when the array is elided.
  std::optional<Literal> read() {
    const int64_t count = shape_.element_count();
    if (accept_elision()) return count == 0 ? std::optional(Literal(shape_)) : std::nullopt;
    // Each element takes at least a byte of text: a longer array cannot follow.
    if (static_cast<uint64_t>(count) > scan_.remaining()) {
      scan_.fail(fmt::format("expected {} elements of {}, found the end of the text", count, shape_.to_text(false)));
      return std::nullopt;
    }
    literal_ = Literal::uninitialized(shape_);
    next_ = literal_.mutable_bytes().data();
    read_dimension(0);
    if (scan_.failed()) return std::nullopt;
    return std::move(literal_);
  }

 private:
  // {...} stands for a value left out, which is known all the same when it has no elements.
  bool accept_elision() {
    if (scan_.peek() != '{') return false;
    Scanner ahead = scan_;
    if (!ahead.accept('{') || !ahead.accept("...")) return false;
    scan_.accept('{');
    scan_.accept("...");
    scan_.expect('}', "after ...");
    return true;
  }

  void read_dimension(size_t dimension) {
    if (dimension == shape_.rank()) return read_element();
    scan_.expect('{', fmt::format("to start dimension {} of a literal {}", dimension, shape_.to_text(false)));
    const int64_t size = shape_.dimension(dimension);
    for (int64_t i = 0; i < size && !scan_.failed(); ++i) {
      if (i > 0 && !scan_.accept(',')) return expected_comma(dimension, i);
      read_dimension(dimension + 1);
    }
    if (!scan_.accept('}'))
      scan_.expected(fmt::format("'}}' after the {} elements of dimension {} of a literal {}",
                                 shape_.dimension(dimension), dimension, shape_.to_text(false)));
  }

  void expected_comma(size_t dimension, int64_t seen) {
    scan_.expected(fmt::format("',': dimension {} of a literal {} has {} elements, but only {} are here", dimension,
                               shape_.to_text(false), shape_.dimension(dimension), seen));
  }

  void read_element() {
    if (is_complex(type_)) {
      scan_.expect('(', "to start a complex number");
      read_float();
      scan_.expect(',', "between the parts of a complex number");
      read_float();
      scan_.expect(')', "to end a complex number");
    } else if (is_float(type_)) {
      read_float();
    } else if (scan_.peek() == 't' || scan_.peek() == 'f') {
      const char* start = scan_.cursor();
      const bool value = scan_.boolean("a number, true or false");
      if (type_ != ElementType::Pred) scan_.fail_at(start, fmt::format("{} elements are numbers", to_string(type_)));
      store(value ? 1 : 0);
    } else {
      read_integer();
    }
  }

  void read_float() {
    const char* start = scan_.cursor();
    const std::string_view number = scan_.number("a number");
    if (number.empty()) return;
    const std::optional<uint64_t> bits = parse_float_bits(component_, number);
    if (!bits) return scan_.fail_at(start, fmt::format("{} is out of the range of {}", number, to_string(component_)));
    store(*bits);
  }

  void read_integer() {
    const char* start = scan_.cursor();
    const int64_t value = scan_.integer("an integer");
    if (scan_.failed()) return;
    const bool is_signed = element_class(type_) == ElementClass::Signed;
    const int width = type_ == ElementType::Pred ? 1 : bit_width(type_);
    const uint64_t ones = ~uint64_t{0} >> (64 - width);
    const auto high = static_cast<int64_t>(is_signed ? ones >> 1 : ones);  // of u64: -1
    const bool fits =
        width == 64 ? !is_signed || *start == '-' || value >= 0 : value <= high && value >= (is_signed ? -high - 1 : 0);
    if (!fits || (!is_signed && *start == '-' && value != 0))
      return scan_.fail_at(
          start, fmt::format("{} is out of the range of {}",
                             std::string_view(start, static_cast<size_t>(scan_.cursor() - start)), to_string(type_)));
    store(static_cast<uint64_t>(value));
  }

  void store(uint64_t bits) {
    if (scan_.failed()) return;
    std::memcpy(next_, &bits, static_cast<size_t>(bytes_));
    next_ += bytes_;
  }

  Scanner& scan_;
  const Shape& shape_;
  ElementType type_;
  ElementType component_;
  int bytes_;
  Literal literal_;
  std::byte* next_ = nullptr;
};

// Reads a value whose arrays are read by `read_leaf`, which gives nullopt for an elided one.
template <class ReadLeaf>
std::optional<Literal> read_tuple(Scanner& scan, ReadLeaf read_element) {
  std::vector<Literal> elements;
  bool elided = false;
  scan.list('(', ')', "in a tuple literal", [&] {
    std::optional<Literal> element = read_element(elements.size());
    if (!element) {
      elided = true;
      element.emplace();
    }
    elements.push_back(std::move(*element));
  });
  if (elided || scan.failed()) return std::nullopt;
  return Literal::tuple(std::move(elements));
}

std::optional<Literal> read_value(Scanner& scan, const Shape& shape) {
  const Scanner::Nesting nesting(scan);
  if (scan.failed()) return std::nullopt;
  if (shape.is_array()) return ArrayReader(scan, shape).read();
  if (!shape.is_tuple()) {
    scan.fail(fmt::format("a literal cannot have the shape {}", shape.to_text(false)));
    return std::nullopt;
  }
  const char* start = scan.cursor();
  const size_t size = shape.elements().size();
  size_t seen = 0;
  auto value = read_tuple(scan, [&](size_t i) -> std::optional<Literal> {
    if (++seen <= size) return read_value(scan, shape.elements()[i]);
    scan.fail(fmt::format("the tuple {} has only {} elements", shape.to_text(false), size));
    return std::nullopt;
  });
  if (seen < size)
    scan.fail_at(start, fmt::format("the tuple {} has {} elements, but {} are here", shape.to_text(false), size, seen));
  return value;
}

std::optional<Literal> read_shaped_value(Scanner& scan) {
  const Scanner::Nesting nesting(scan);
  if (scan.failed()) return std::nullopt;
  if (scan.peek() == '(') return read_tuple(scan, [&](size_t) { return read_shaped_value(scan); });
  return read_value(scan, read_shape(scan));
}

std::shared_ptr<const Literal> shared(std::optional<Literal> literal) {
  return literal ? std::make_shared<const Literal>(std::move(*literal)) : nullptr;
}

// Writes the elements of one array.
class ArrayWriter {
 public:
  ArrayWriter(std::string& out, const Literal& literal)
      : out_(out), shape_(literal.shape()), type_(shape_.element_type()), literal_(literal) {}

  void write() {
    // An array without elements may still take many braces: then it is elided.
    if (literal_.element_count() == 0 && braces() > max_empty_braces) {
      out_ += "{...}";
    } else {
      write_dimension(0);
    }
  }

 private:
  static constexpr int64_t max_empty_braces = 1000;

  // How many empty rows an array without elements has.
  [[nodiscard]] int64_t braces() const {
    const auto& dimensions = shape_.dimensions();
    const auto zero = std::find(dimensions.begin(), dimensions.end(), 0);
    return element_count({dimensions.begin(), zero});
  }

  void write_dimension(size_t dimension) {
    if (dimension == shape_.rank()) return write_element(next_++);
    const bool row = shape_.rank() == 1;
    out_ += row ? "{" : "{ ";
    for (int64_t i = 0; i < shape_.dimension(dimension); ++i) {
      if (i > 0) out_ += ", ";
      write_dimension(dimension + 1);
    }
    out_ += row ? "}" : " }";
  }

  void write_element(int64_t i) {
    if (is_complex(type_)) {
      out_ += '(';
      write_float(component_type(type_), 2 * i);
      out_ += ", ";
      write_float(component_type(type_), 2 * i + 1);
      out_ += ')';
    } else if (is_float(type_)) {
      write_float(type_, i);
    } else if (type_ == ElementType::Pred && shape_.rank() == 0) {
      out_ += literal_.integer_at(i) != 0 ? "true" : "false";
    } else if (type_ == ElementType::U64) {
      fmt::format_to(std::back_inserter(out_), "{}", static_cast<uint64_t>(literal_.integer_at(i)));
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", literal_.integer_at(i));
    }
  }

  void write_float(ElementType type, int64_t i) {
    const int bytes = host_bytes(type);
    uint64_t bits = 0;
    std::memcpy(&bits, literal_.bytes().data() + i * bytes, static_cast<size_t>(bytes));
    append_float(out_, type, bits);
  }

  std::string& out_;
  const Shape& shape_;
  ElementType type_;
  const Literal& literal_;
  int64_t next_ = 0;
};

void append_value(std::string& out, const Literal& literal, bool with_shapes) {
  const Shape& shape = literal.shape();
  if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i > 0) out += ", ";
      append_value(out, literal.elements()[i], with_shapes);
    }
    out += ')';
    return;
  }
  if (with_shapes) {
    // Without a layout, `{` after the shape would start one.
    out += shape.is_array() ? shape.with_layout(std::make_shared<Layout>(Layout::descending(shape.rank()))).to_text()
                            : shape.to_text();
    out += ' ';
  }
  if (shape.is_array()) ArrayWriter(out, literal).write();
}

}  // namespace

void append_elided(std::string& out, const Shape& shape) {
  if (!shape.is_tuple()) {
    out += "{...}";
    return;
  }
  out += '(';
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    if (i > 0) out += ", ";
    append_elided(out, shape.elements()[i]);
  }
  out += ')';
}

std::shared_ptr<const Literal> read_literal(Scanner& scan, const Shape& shape) {
  return shared(read_value(scan, shape));
}

std::shared_ptr<const Literal> read_shaped_literal(Scanner& scan) { return shared(read_shaped_value(scan)); }

void append_literal(std::string& out, const Literal& literal) { append_value(out, literal, false); }

void append_shaped_literal(std::string& out, const Literal& literal) { append_value(out, literal, true); }

}  // namespace sapper::hlo
