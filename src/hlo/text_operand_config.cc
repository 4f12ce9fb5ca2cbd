#include "hlo/text_operand_config.h"

#include <fmt/ranges.h>

#include "hlo/text_window.h"

namespace sapper::hlo {
namespace {

using Sparsity = proto::SparsityConfig::TensorSparsityConfig;
using Scaling = proto::BlockScalingConfig::TensorBlockScalingConfig;

// {name=value name=value}: `read` reads the value of a name, false for an unknown one.
template <class Read>
void read_properties(Scanner& scan, std::string_view what, Read read) {
  const Scanner::Nesting nesting(scan);
  scan.expect('{', fmt::format("to start a {}", what));
  while (scan.peek() != '}' && !scan.failed()) {
    const char* start = scan.cursor();
    const std::string_view name = scan.word(fmt::format("a property of a {}", what));
    scan.expect('=', "after the name of a property");
    if (!scan.failed() && !read(name)) scan.fail_at(start, fmt::format("a {} has no property {}", what, name));
  }
  scan.expect('}', fmt::format("to end a {}", what));
}

bool read_sparsity_property(Scanner& scan, std::string_view name, Sparsity* config) {
  if (name == "dimension") {
    config->set_dimension(scan.integer("a dimension number"));
  } else if (name == "stride") {
    config->set_stride(scan.integer("a stride"));
  } else if (name == "idx") {
    config->set_idx(scan.integer32("the number of an operand"));
  } else if (name == "sparsity") {
    const std::vector<int64_t> sizes = read_sizes(scan, "a sparsity such as 2x4");
    if (scan.failed()) return true;
    if (sizes.size() != 2) scan.fail("a sparsity is the number of non-zeros and the size of a block, such as 2x4");
    config->set_num_non_zero(sizes.front());
    config->set_block_size(sizes.back());
  } else {
    return false;
  }
  return true;
}

bool read_scaling_property(Scanner& scan, std::string_view name, Scaling* config) {
  if (name == "scale_idx") {
    config->set_scale_idx(scan.integer32("the number of an operand"));
  } else if (name == "zero_idx") {
    config->set_zero_idx(scan.integer32("the number of an operand"));
  } else if (name == "strides") {
    for (const int64_t stride : read_sizes(scan, "strides such as 1x32")) config->add_strides(stride);
  } else if (name == "steps") {
    for (const int64_t step : read_sizes(scan, "steps such as 1x32")) config->add_steps(step);
  } else {
    return false;
  }
  return true;
}

void append_one(std::string& out, const Sparsity& config) {
  fmt::format_to(std::back_inserter(out), "{{sparsity={}x{} dimension={} stride={} idx={}}}", config.num_non_zero(),
                 config.block_size(), config.dimension(), config.stride(), config.idx());
}

void append_one(std::string& out, const Scaling& config) {
  fmt::format_to(std::back_inserter(out), "{{scale_idx={}", config.scale_idx());
  if (config.has_zero_idx()) fmt::format_to(std::back_inserter(out), " zero_idx={}", config.zero_idx());
  if (config.strides_size() > 0)
    fmt::format_to(std::back_inserter(out), " strides={}", fmt::join(config.strides(), "x"));
  if (config.steps_size() > 0) fmt::format_to(std::back_inserter(out), " steps={}", fmt::join(config.steps(), "x"));
  out += '}';
}

template <class Config>
void append_sides(std::string& out, const Config& config) {
  out += '{';
  if (config.has_lhs()) {
    out += "lhs=";
    append_one(out, config.lhs());
  }
  if (config.has_rhs()) {
    out += config.has_lhs() ? " rhs=" : "rhs=";
    append_one(out, config.rhs());
  }
  out += '}';
}

// {lhs={...} rhs={...}}
template <class Config, class ReadProperty>
Config read_sides(Scanner& scan, std::string_view what, ReadProperty read_property) {
  Config config;
  read_properties(scan, what, [&](std::string_view side) {
    if (side != "lhs" && side != "rhs") return false;
    auto* of_side = side == "lhs" ? config.mutable_lhs() : config.mutable_rhs();
    read_properties(scan, what, [&](std::string_view name) { return read_property(scan, name, of_side); });
    return true;
  });
  return config;
}

}  // namespace

proto::SparsityConfig read_sparsity(Scanner& scan) {
  return read_sides<proto::SparsityConfig>(scan, "sparsity config", read_sparsity_property);
}
void append_sparsity(std::string& out, const proto::SparsityConfig& config) { append_sides(out, config); }

proto::BlockScalingConfig read_block_scaling(Scanner& scan) {
  return read_sides<proto::BlockScalingConfig>(scan, "block scaling config", read_scaling_property);
}
void append_block_scaling(std::string& out, const proto::BlockScalingConfig& config) { append_sides(out, config); }

}  // namespace sapper::hlo
