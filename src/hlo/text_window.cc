#include "hlo/text_window.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace sapper::hlo {
namespace {

// Numbers joined by `inner`, groups of them by 'x': 3x3 is {{3}, {3}}, 0_1x2_2 is {{0, 1}, {2, 2}}.
std::vector<std::vector<int64_t>> read_groups(Scanner& scan, std::string_view what) {
  const char* start = scan.cursor();
  const std::string_view text =
      scan.run([](char c) { return (c >= '0' && c <= '9') || c == '-' || c == '_' || c == 'x'; });
  std::vector<std::vector<int64_t>> groups(1);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t value = 0;
    const auto [past, problem] = std::from_chars(at, end, value);
    const bool more = past < end && (*past == 'x' || *past == '_');
    if (problem != std::errc() || (past < end && !more)) {
      scan.fail_at(start, fmt::format("expected {}, found '{}'", what, text.substr(0, 60)));
      return {};
    }
    groups.back().push_back(value);
    if (past == end) return groups;
    if (*past == 'x') groups.emplace_back();
    at = past + 1;
  }
}

template <class Visit>
void append_joined(std::string& out, const proto::Window& window, Visit visit) {
  for (int i = 0; i < window.dimensions_size(); ++i) {
    if (i > 0) out += 'x';
    visit(window.dimensions(i));
  }
}

// The places of batch, feature and spatial dimensions in one part of dim_labels.
struct Labels {
  char batch;
  char feature;
  int64_t batch_dimension = -1;
  int64_t feature_dimension = -1;
  std::vector<int64_t> spatial;
};

bool parse_labels(std::string_view text, Labels& labels) {
  const auto is_spatial = [](char c) { return c >= '0' && c <= '9'; };
  labels.spatial.assign(static_cast<size_t>(std::count_if(text.begin(), text.end(), is_spatial)), -1);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (text[i] == '?') continue;
    const auto digit = static_cast<size_t>(text[i] - '0');
    int64_t* dimension = text[i] == labels.batch                                ? &labels.batch_dimension
                         : text[i] == labels.feature                            ? &labels.feature_dimension
                         : is_spatial(text[i]) && digit < labels.spatial.size() ? &labels.spatial[digit]
                                                                                : nullptr;
    if (dimension == nullptr || *dimension != -1) return false;
    *dimension = place;
  }
  labels.batch_dimension = std::max<int64_t>(labels.batch_dimension, 0);
  labels.feature_dimension = std::max<int64_t>(labels.feature_dimension, 0);
  return std::find(labels.spatial.begin(), labels.spatial.end(), -1) == labels.spatial.end();
}

using Integers = google::protobuf::RepeatedField<google::protobuf::int64>;

void append_labels(std::string& out, char batch, int64_t batch_dimension, char feature, int64_t feature_dimension,
                   const Integers& spatial) {
  std::vector<std::pair<int64_t, char>> labels = {{batch_dimension, batch}, {feature_dimension, feature}};
  for (int i = 0; i < spatial.size(); ++i) labels.emplace_back(spatial[i], static_cast<char>('0' + i));
  std::sort(labels.begin(), labels.end());
  int64_t next = 0;
  for (const auto& [dimension, label] : labels) {
    for (; next < dimension && next < 16; ++next) out += '?';
    out += label;
    ++next;
  }
}

}  // namespace

std::vector<int64_t> read_sizes(Scanner& scan, std::string_view what) {
  const char* start = scan.cursor();
  std::vector<int64_t> sizes;
  for (const auto& group : read_groups(scan, what)) {
    if (group.size() != 1) scan.fail_at(start, fmt::format("expected {}", what));
    sizes.push_back(group[0]);
  }
  return sizes;
}

proto::Window read_window(Scanner& scan) {
  // The properties that a window writes, each at most once, as 2x2 or (pad) 0_1x0_1.
  enum Property { Size, Stride, Pad, LhsDilate, RhsDilate, RhsReversal, Count };
  constexpr std::array<std::string_view, Count> names = {"size",       "stride",     "pad",
                                                         "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  std::array<std::vector<std::vector<int64_t>>, Count> values;
  proto::Window window;
  scan.expect('{', "to start a window");
  while (scan.peek() != '}' && !scan.failed()) {
    const char* start = scan.cursor();
    const std::string_view name = scan.word("a window property");
    const auto* const property = std::find(names.begin(), names.end(), name);
    if (property == names.end()) {
      scan.fail_at(start, fmt::format("unknown window property '{}': expected {}", name, fmt::join(names, ", ")));
      return window;
    }
    scan.expect('=', "after a window property");
    const auto index = static_cast<size_t>(property - names.begin());
    if (!values[index].empty()) scan.fail_at(start, fmt::format("the window property '{}' is stated twice", name));
    values[index] = read_groups(scan, index == Pad ? "a padding such as 0_0x1_1" : "sizes such as 3x3");
    const size_t width = index == Pad ? 2 : 1;
    for (const auto& group : values[index])
      if (group.size() != width) scan.fail_at(start, fmt::format("'{}' needs {} numbers a dimension", name, width));
  }
  scan.expect('}', "to end a window");
  for (const auto& value : values)
    if (!value.empty() && value.size() != values[Size].size())
      scan.fail("the properties of a window must have as many dimensions as 'size'");
  if (scan.failed()) return window;
  const auto value = [&](Property property, size_t i, size_t j, int64_t otherwise) {
    return values[property].empty() ? otherwise : values[property][i][j];
  };
  for (size_t i = 0; i < values[Size].size(); ++i) {
    auto* dimension = window.add_dimensions();
    dimension->set_size(values[Size][i][0]);
    dimension->set_stride(value(Stride, i, 0, 1));
    dimension->set_padding_low(value(Pad, i, 0, 0));
    dimension->set_padding_high(value(Pad, i, 1, 0));
    dimension->set_base_dilation(value(LhsDilate, i, 0, 1));
    dimension->set_window_dilation(value(RhsDilate, i, 0, 1));
    dimension->set_window_reversal(value(RhsReversal, i, 0, 0) == 1);
  }
  return window;
}

void append_window(std::string& out, const proto::Window& window) {
  using Dimension = proto::WindowDimension;
  const auto append_property = [&](std::string_view name, auto differs, auto append) {
    if (!std::any_of(window.dimensions().begin(), window.dimensions().end(), differs)) return;
    out += name;
    append_joined(out, window, append);
  };
  const auto append_integer = [&](int64_t value) { out += std::to_string(value); };
  out += '{';
  append_property(
      "size=", [](const Dimension&) { return true; }, [&](const Dimension& d) { append_integer(d.size()); });
  append_property(
      " stride=", [](const Dimension& d) { return d.stride() != 1; },
      [&](const Dimension& d) { append_integer(d.stride()); });
  append_property(
      " pad=", [](const Dimension& d) { return d.padding_low() != 0 || d.padding_high() != 0; },
      [&](const Dimension& d) {
        append_integer(d.padding_low());
        out += '_';
        append_integer(d.padding_high());
      });
  append_property(
      " lhs_dilate=", [](const Dimension& d) { return d.base_dilation() != 1; },
      [&](const Dimension& d) { append_integer(d.base_dilation()); });
  append_property(
      " rhs_dilate=", [](const Dimension& d) { return d.window_dilation() != 1; },
      [&](const Dimension& d) { append_integer(d.window_dilation()); });
  append_property(
      " rhs_reversal=", [](const Dimension& d) { return d.window_reversal(); },
      [&](const Dimension& d) { append_integer(d.window_reversal() ? 1 : 0); });
  out += '}';
}

proto::ConvolutionDimensionNumbers read_dim_labels(Scanner& scan) {
  proto::ConvolutionDimensionNumbers numbers;
  const char* start = scan.cursor();
  const std::string_view text = scan.run([](char c) { return is_word_part(c) || c == '?' || c == '>'; });
  const size_t underscore = text.find('_');
  const size_t arrow = text.find("->");
  Labels input{'b', 'f', -1, -1, {}};
  Labels kernel{'i', 'o', -1, -1, {}};
  Labels output{'b', 'f', -1, -1, {}};
  const bool valid = underscore != std::string_view::npos && arrow != std::string_view::npos && underscore < arrow &&
                     parse_labels(text.substr(0, underscore), input) &&
                     parse_labels(text.substr(underscore + 1, arrow - underscore - 1), kernel) &&
                     parse_labels(text.substr(arrow + 2), output) && input.spatial.size() == kernel.spatial.size() &&
                     input.spatial.size() == output.spatial.size();
  if (!valid) {
    scan.fail_at(start,
                 fmt::format("expected dimension labels such as b01f_01io->b01f, found '{}'", text.substr(0, 60)));
    return numbers;
  }
  numbers.set_input_batch_dimension(input.batch_dimension);
  numbers.set_input_feature_dimension(input.feature_dimension);
  numbers.set_kernel_input_feature_dimension(kernel.batch_dimension);
  numbers.set_kernel_output_feature_dimension(kernel.feature_dimension);
  numbers.set_output_batch_dimension(output.batch_dimension);
  numbers.set_output_feature_dimension(output.feature_dimension);
  for (const int64_t dimension : input.spatial) numbers.add_input_spatial_dimensions(dimension);
  for (const int64_t dimension : kernel.spatial) numbers.add_kernel_spatial_dimensions(dimension);
  for (const int64_t dimension : output.spatial) numbers.add_output_spatial_dimensions(dimension);
  return numbers;
}

void append_dim_labels(std::string& out, const proto::ConvolutionDimensionNumbers& numbers) {
  append_labels(out, 'b', numbers.input_batch_dimension(), 'f', numbers.input_feature_dimension(),
                numbers.input_spatial_dimensions());
  out += '_';
  append_labels(out, 'i', numbers.kernel_input_feature_dimension(), 'o', numbers.kernel_output_feature_dimension(),
                numbers.kernel_spatial_dimensions());
  out += "->";
  append_labels(out, 'b', numbers.output_batch_dimension(), 'f', numbers.output_feature_dimension(),
                numbers.output_spatial_dimensions());
}

proto::PaddingConfig read_padding(Scanner& scan) {
  proto::PaddingConfig padding;
  const char* start = scan.cursor();
  for (const auto& group : read_groups(scan, "a padding such as 0_0x1_1_2")) {
    if (group.size() != 2 && group.size() != 3) {
      scan.fail_at(start, "each dimension of a padding needs low_high or low_high_interior");
      return padding;
    }
    auto* dimension = padding.add_dimensions();
    dimension->set_edge_padding_low(group[0]);
    dimension->set_edge_padding_high(group[1]);
    dimension->set_interior_padding(group.size() == 3 ? group[2] : 0);
  }
  return padding;
}

void append_padding(std::string& out, const proto::PaddingConfig& padding) {
  const bool interior = std::any_of(padding.dimensions().begin(), padding.dimensions().end(),
                                    [](const auto& dimension) { return dimension.interior_padding() != 0; });
  for (int i = 0; i < padding.dimensions_size(); ++i) {
    const auto& dimension = padding.dimensions(i);
    fmt::format_to(std::back_inserter(out), "{}{}_{}", i > 0 ? "x" : "", dimension.edge_padding_low(),
                   dimension.edge_padding_high());
    if (interior) fmt::format_to(std::back_inserter(out), "_{}", dimension.interior_padding());
  }
}

void read_slice(Scanner& scan, SliceDimensions* dimensions) {
  scan.list('{', '}', "in slice ranges", [&] {
    auto* dimension = dimensions->Add();
    scan.expect('[', "to start a slice range");
    dimension->set_start(scan.integer("the start of a slice range"));
    scan.expect(':', "in a slice range [start:limit:stride]");
    dimension->set_limit(scan.integer("the limit of a slice range"));
    dimension->set_stride(scan.accept(':') ? scan.integer("the stride of a slice range") : 1);
    scan.expect(']', "to end a slice range");
  });
}

void append_slice(std::string& out, const SliceDimensions& dimensions) {
  const bool strided =
      std::any_of(dimensions.begin(), dimensions.end(), [](const auto& dimension) { return dimension.stride() != 1; });
  out += '{';
  for (int i = 0; i < dimensions.size(); ++i) {
    const auto& dimension = dimensions[i];
    fmt::format_to(std::back_inserter(out), "{}[{}:{}", i > 0 ? ", " : "", dimension.start(), dimension.limit());
    if (strided) fmt::format_to(std::back_inserter(out), ":{}", dimension.stride());
    out += ']';
  }
  out += '}';
}

}  // namespace sapper::hlo
