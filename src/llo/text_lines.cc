// Reads the SSA form of LLO text.
#include "llo/text_lines.h"

#include <algorithm>

#include "llo/text_instruction.h"
#include "llo/text_operand.h"

namespace sapper::llo {

namespace {

class LineReader {
 public:
  LineReader(Scanner& scanner, Program& program) : scanner_(scanner), program_(program), instructions_(scanner) {}

  void read() {
    while (!scanner_.at_end()) {
      const char* start = scanner_.cursor();
      scanner_.skip_blanks();
      read_line(static_cast<size_t>(scanner_.cursor() - start));
    }
    check_numbers();
  }

 private:
  struct OpenRegion {
    size_t indentation = 0;
    RegionIndex region = 0;
  };

  void read_line(size_t indentation) {
    switch (scanner_.peek()) {
      case '%': return read_instruction(indentation);
      case '$': return read_region(indentation);
      case '#': return read_allocation(indentation);
      case '_':  // an empty region
        scanner_.accept('_');
        return scanner_.expect_end_of_line();
      case '/':  // a remark
        scanner_.expect("//");
        scanner_.rest_of_line();
        return;
      case 'l':  // loop: start=0, step=1, limit=6: what the regions and the instructions below say again
        scanner_.expect("loop:");
        scanner_.rest_of_line();
        return;
      case '\n':
      case '\0': return scanner_.expect_end_of_line();
      default: scanner_.expected("an instruction, a region or an allocation");
    }
  }

  // Nesting is by indentation: what stands no deeper than a region's label is not in the region.
  RegionIndex region_at(size_t indentation) {
    while (!open_.empty() && open_.back().indentation >= indentation) open_.pop_back();
    return open_.empty() ? 0 : open_.back().region;
  }

  void read_instruction(size_t indentation) {
    Instruction& instruction = program_.instructions.emplace_back();
    instruction.region = region_at(indentation);
    instructions_.read(instruction);
    scanner_.expect_end_of_line();
  }

  // $region14 (PrimaryCoreRegion): #{fusion.1} parent=3 ([sym:post-main]) // loop_header
  void read_region(size_t indentation) {
    region_at(indentation);
    open_.push_back({indentation, static_cast<RegionIndex>(program_.regions.size())});
    places_.push_back(scanner_.cursor());
    Region& region = program_.regions.emplace_back();
    region.first = static_cast<InstructionIndex>(program_.instructions.size());
    scanner_.expect("$region");
    region.number = scanner_.decimal("the region's number");
    read_mark(region);
    scanner_.expect(':', "':' after the region's number");
    if (scanner_.accept(" #{")) {
      region.hlo = scanner_.run([](char c) { return c != '}' && c != '\n'; });
      scanner_.expect('}', "'}' after the HLO instruction");
    }
    if (scanner_.accept(" parent=")) region.parent = scanner_.decimal("the parent's number");
    read_mark(region);
    if (scanner_.accept(" // ")) region.kind = scanner_.run(is_word);
    scanner_.expect_end_of_line();
  }

  void read_mark(Region& region) {
    if (!scanner_.accept(" (")) return;
    region.mark = scanner_.run([](char c) { return c != ')' && c != '\n'; });
    scanner_.expect(')', "')' after the region's mark");
  }

  // #allocation1 [shape = 's32[]', space=sflag, size = 0x4, offset = 0, fixed_abs, tag = 'dummy']
  void read_allocation(size_t indentation) {
    Allocation& allocation = program_.allocations.emplace_back();
    allocation.line = scanner_.line();
    allocation.region = region_at(indentation);
    allocation.name = read_allocation_name(scanner_);
    scanner_.expect(" [");
    do {
      scanner_.skip_blanks();
      read_allocation_field(allocation);
    } while (scanner_.accept(','));
    scanner_.expect(']', "',' or ']' after what an allocation has");
    scanner_.expect_end_of_line();
  }

  void read_allocation_field(Allocation& allocation) {
    const char* start = scanner_.cursor();
    const std::string_view key = scanner_.run(is_word);
    if (key == "scoped") {
      allocation.scoped = true;
    } else if (key == "fixed_abs") {
      allocation.fixed = true;
    } else {
      scanner_.skip_blanks();
      scanner_.expect('=', "'=' after the name of what an allocation has");
      scanner_.skip_blanks();
      if (key == "shape") {
        allocation.shape = quoted();
      } else if (key == "tag") {
        allocation.tag = quoted();
      } else if (key == "size") {
        const uint64_t size = scanner_.integer("the size");
        if (size != UINT64_MAX) allocation.size = size;
      } else if (key == "offset") {
        allocation.offset = scanner_.integer("the offset");
      } else if (key == "space") {
        read_space(allocation);
      } else {
        scanner_.fail_at(start, fmt::format("an allocation has no '{}'", key));
      }
    }
  }

  void read_space(Allocation& allocation) {
    const char* start = scanner_.cursor();
    const std::string_view name = scanner_.run(is_word);
    const auto space = space_of(name);
    if (!space) scanner_.fail_at(start, fmt::format("'{}' is no memory space", name));
    allocation.space = space.value_or(Space::Vmem);
  }

  // 'text', which may have quotes in it: it ends with a quote before a comma or a bracket.
  std::string_view quoted() {
    scanner_.expect('\'', "a quoted text");
    const char* start = scanner_.cursor();
    const auto inside = [](char c) { return c != '\'' && c != '\n'; };
    for (scanner_.run(inside); scanner_.peek() == '\''; scanner_.run(inside)) {
      const std::string_view text(start, static_cast<size_t>(scanner_.cursor() - start));
      scanner_.accept('\'');
      if (scanner_.peek() == ',' || scanner_.peek() == ']') return text;
    }
    scanner_.expected("a quote at the text's end");
    return {};
  }

  // No two regions have one number.
  void check_numbers() {
    if (scanner_.failed()) return;
    std::vector<RegionIndex> by_number(program_.regions.size());
    for (RegionIndex i = 0; i < by_number.size(); ++i) by_number[i] = i;
    std::stable_sort(by_number.begin(), by_number.end(), [this](RegionIndex a, RegionIndex b) {
      return program_.regions[a].number < program_.regions[b].number;
    });
    const auto twice = std::adjacent_find(by_number.begin(), by_number.end(), [this](RegionIndex a, RegionIndex b) {
      return program_.regions[a].number == program_.regions[b].number;
    });
    if (twice == by_number.end()) return;
    scanner_.fail_at(places_[twice[1]], fmt::format("region {} stands twice", program_.regions[*twice].number));
  }

  Scanner& scanner_;
  Program& program_;
  InstructionReader instructions_;
  std::vector<OpenRegion> open_;     // innermost last
  std::vector<const char*> places_;  // of the regions in the text
};

}  // namespace

void read_lines(Scanner& scanner, Program& program) {
  program.form = Form::Ssa;
  LineReader(scanner, program).read();
}

}  // namespace sapper::llo
