#include "hlo/text_shape.h"

#include <algorithm>

#include "hlo/proto.h"
#include "hlo/shape_limits.h"

namespace sapper::hlo {
namespace {

Shape read_shape(Scanner& scan, int depth);

// '(' item (',' item)* ')' between the letter of a layout property and the next.
template <class Item>
void in_parentheses(Scanner& scan, Item item) {
  scan.list('(', ')', "in a layout", item);
}

int64_t integer_in_parentheses(Scanner& scan, std::string_view what) {
  scan.expect('(', fmt::format("before the {} of a layout", what));
  const int64_t value = scan.integer(what);
  scan.expect(')', fmt::format("after the {} of a layout", what));
  return value;
}

ElementType unsigned_type_in_parentheses(Scanner& scan, std::string_view what) {
  scan.expect('(', fmt::format("before the {} of a layout", what));
  const auto type = parse_element_type(scan.peek_word());
  if (!type || element_class(*type) != ElementClass::Unsigned) {
    scan.expected("an unsigned integer type");
    return ElementType::Invalid;
  }
  scan.word(what);
  scan.expect(')', fmt::format("after the {} of a layout", what));
  return *type;
}

void read_level_types(Scanner& scan, Layout& layout) {
  in_parentheses(scan, [&] {
    constexpr std::string_view letters = "DCSH";  // in the order of the wire's numbers
    const std::string_view word = scan.peek_word();
    const size_t level = word.size() == 1 ? letters.find(word[0]) : std::string_view::npos;
    if (level == std::string_view::npos) return scan.expected("a level type (D, C, S or H)");
    scan.word("a level type");
    layout.dim_level_types.push_back(static_cast<int>(level));
    layout.dim_unique.push_back(!scan.accept('+'));
    layout.dim_ordered.push_back(!scan.accept('~'));
  });
}

void read_tiles(Scanner& scan, Layout& layout) {
  do {
    Tile& tile = layout.tiles.emplace_back();
    in_parentheses(scan, [&] {
      tile.dimensions.push_back(scan.accept('*') ? Tile::combine : scan.integer("a dimension of a tile"));
    });
  } while (scan.peek() == '(' && !scan.failed());
}

void read_split_configs(Scanner& scan, Layout& layout) {
  do {
    scan.expect('(', "before a split of a layout");
    SplitConfig& split = layout.split_configs.emplace_back();
    split.dimension = scan.integer("the dimension of a split");
    scan.list(':', ')', "in a split", [&] { split.split_indices.push_back(scan.integer("the index of a split")); });
  } while (scan.peek() == '(' && !scan.failed());
}

void read_layout_property(Scanner& scan, Layout& layout, int depth) {
  if (scan.accept('#')) {
    layout.index_primitive_type = unsigned_type_in_parentheses(scan, "index type");
  } else if (scan.accept('*')) {
    layout.pointer_primitive_type = unsigned_type_in_parentheses(scan, "pointer type");
  } else if (scan.accept_word("D")) {
    read_level_types(scan, layout);
  } else if (scan.accept_word("T")) {
    read_tiles(scan, layout);
  } else if (scan.accept_word("L")) {
    layout.tail_padding_alignment_in_elements = integer_in_parentheses(scan, "tail padding alignment");
  } else if (scan.accept_word("E")) {
    layout.element_size_in_bits = integer_in_parentheses(scan, "element size");
  } else if (scan.accept_word("S")) {
    layout.memory_space = integer_in_parentheses(scan, "memory space");
  } else if (scan.accept_word("SC")) {
    read_split_configs(scan, layout);
  } else if (scan.accept_word("P")) {
    scan.expect('(', "before the physical shape of a layout");
    layout.physical_shape = std::make_shared<Shape>(read_shape(scan, depth + 1));
    scan.expect(')', "after the physical shape of a layout");
  } else if (scan.accept_word("M")) {
    layout.dynamic_shape_metadata_prefix_bytes = integer_in_parentheses(scan, "metadata prefix size");
  } else {
    scan.expected("a layout property (D, T, L, #, *, E, S, SC, P or M) or '}'");
  }
}

std::shared_ptr<const Layout> read_layout(Scanner& scan, size_t rank, int depth) {
  const char* start = scan.cursor();
  auto layout = std::make_shared<Layout>();
  scan.expect('{', "to start a layout");
  if (scan.peek() != ':' && scan.peek() != '}') {
    do {
      layout->minor_to_major.push_back(scan.integer("a dimension number of a layout"));
    } while (scan.accept(','));
  }
  if (scan.accept(':'))
    while (scan.peek() != '}' && !scan.failed()) read_layout_property(scan, *layout, depth);
  scan.expect('}', "to end a layout");
  if (layout->minor_to_major.size() != rank) {
    scan.fail_at(start, fmt::format("the layout names {} dimensions, but the shape has {}",
                                    layout->minor_to_major.size(), rank));
  }
  std::vector<int64_t> sorted = layout->minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) scan.fail_at(start, "a layout must name each dimension once");
  return layout;
}

Shape read_tuple(Scanner& scan, int depth) {
  std::vector<Shape> elements;
  scan.list('(', ')', "in a tuple shape", [&] { elements.push_back(read_shape(scan, depth + 1)); });
  return Shape::tuple(std::move(elements));
}

Shape read_array(Scanner& scan, ElementType type, int depth) {
  std::vector<int64_t> dimensions;
  std::vector<bool> dynamic;
  scan.list('[', ']', "in a shape", [&] {
    const bool unbounded = scan.accept('?');
    dynamic.push_back(unbounded || scan.accept("<="));
    dimensions.push_back(unbounded ? Shape::unbounded : scan.integer("a dimension size"));
    if (!unbounded && dimensions.back() < 0) scan.fail("a dimension size cannot be negative");
  });
  if (dimensions.size() > max_rank) scan.fail(fmt::format("a shape cannot have more than {} dimensions", max_rank));
  // `{` may also open the body of a computation: then it is followed by a name.
  const char after_brace = scan.peek() == '{' ? scan.peek_second() : '\0';
  const bool has_layout = after_brace == ':' || (after_brace >= '0' && after_brace <= '9');
  auto layout = has_layout ? read_layout(scan, dimensions.size(), depth)
                           : std::make_shared<const Layout>(Layout::descending(dimensions.size()));
  if (scan.failed()) return {};
  return Shape::array(type, std::move(dimensions), std::move(dynamic), std::move(layout));
}

Shape read_shape(Scanner& scan, int depth) {
  if (depth > max_shape_nesting) scan.fail(fmt::format("a shape nests deeper than {} levels", max_shape_nesting));
  if (scan.failed()) return {};
  if (scan.peek() == '(') return read_tuple(scan, depth);
  const char* start = scan.cursor();
  const std::string_view word = scan.word("a shape");
  if (word == "b" && scan.accept('(')) {
    Shape of = read_shape(scan, depth + 1);
    scan.expect(')', "to end a buffer shape");
    return Shape::buffer(std::move(of));
  }
  const auto type = parse_element_type(word);
  if (type && is_array_type(*type)) return read_array(scan, *type, depth);
  if (type == ElementType::Token || type == ElementType::Opaque) {
    scan.expect('[', "after the type");
    scan.expect(']', "after the type: it has no dimensions");
    return *type == ElementType::Token ? Shape::token() : Shape::opaque();
  }
  scan.fail_at(start, fmt::format("expected a shape, found '{}', which is not an element type", word));
  return {};
}

// Past the `{...}` of a layout, which holds balanced parentheses and no braces.
const char* layout_end(const char* at, const char* end) {
  const char* close = std::find(at, end, '}');
  return close == end ? nullptr : close + 1;
}

}  // namespace

bool shape_starts(const Scanner& scan) {
  if (scan.peek() == '(') return true;
  const std::string_view word = scan.peek_word();
  if (word == "b") return scan.peek_second() == '(';
  const auto type = parse_element_type(word);
  return type && *type != ElementType::Tuple && *type != ElementType::Buffer;
}

Shape read_shape(Scanner& scan) { return read_shape(scan, 0); }

void append_wire_shape(std::string& out, const proto::ShapeProto& wire) {
  const Result<Shape> shape = from_proto(wire);
  out += shape ? shape->to_text() : "opaque[]";
}

std::string_view shape_extent(const Scanner& scan) {
  const char* const begin = scan.cursor();
  const char* const end = begin + scan.remaining();
  const char* at = begin;
  if (at == end) return {};
  if (*at == '(') {
    int open = 0;
    for (; at < end; ++at) {
      if (*at == '\n') return {};
      if (*at == '(') ++open;
      if (*at == ')' && --open == 0) return {begin, static_cast<size_t>(at + 1 - begin)};
    }
    return {};
  }
  while (at < end && is_word_part(*at)) ++at;
  if (at == end || *at != '[') return {};
  while (at < end && *at != ']' && *at != '\n') ++at;
  if (at == end || *at != ']') return {};
  ++at;
  if (end - at > 1 && *at == '{' && (at[1] == ':' || (at[1] >= '0' && at[1] <= '9'))) {
    at = layout_end(at, end);
    if (at == nullptr) return {};
  }
  const std::string_view text(begin, static_cast<size_t>(at - begin));
  return text.find('\n') == std::string_view::npos ? text : std::string_view();
}

}  // namespace sapper::hlo
