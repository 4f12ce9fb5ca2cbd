// Reads the bundle forms of LLO text.
#include "llo/text_bundles.h"

#include <map>
#include <vector>

#include "llo/text_instruction.h"

namespace sapper::llo {

namespace {

constexpr std::string_view kKeyStart = "= control target key start";  // before what the labels mean
constexpr std::string_view kKeyEnd = "= control target key end";

class BundleReader {
 public:
  BundleReader(Scanner& scanner, Program& program) : scanner_(scanner), program_(program), instructions_(scanner) {}

  void read() {
    while (!scanner_.at_end()) {
      scanner_.skip_blanks();
      if (scanner_.peek() == '\n' || scanner_.at_end()) {
        scanner_.expect_end_of_line();
      } else if (scanner_.peek() == '=') {
        skip_key();
      } else {
        read_bundle();
      }
    }
    program_.form = instructions_.saw_physical() ? Form::PhysicalBundles : Form::ValueBundles;
  }

 private:
  void skip_key() {
    scanner_.expect(kKeyStart);
    do {
      scanner_.rest_of_line();
      if (scanner_.at_end()) scanner_.expected(kKeyEnd);
    } while (!scanner_.failed() && !scanner_.accept(kKeyEnd));
    scanner_.expect_end_of_line();
  }

  // 0x12 LB: > > { a ;; b } /* Start region 3 :: End region 2 */
  void read_bundle() {
    const auto index = static_cast<BundleIndex>(program_.bundles.size());
    Bundle bundle;
    bundle.line = scanner_.line();
    bundle.first = static_cast<InstructionIndex>(program_.instructions.size());
    const char* start = scanner_.cursor();
    const uint64_t address = scanner_.integer("a bundle's address");
    if (address > UINT32_MAX) scanner_.fail_at(start, "the bundle's address has more than 32 bits");
    bundle.address = static_cast<uint32_t>(address);
    scanner_.skip_blanks();
    bundle.label = scanner_.run(is_word);
    scanner_.skip_blanks();
    scanner_.expect(':', "':' after the bundle's address");
    scanner_.run([](char c) { return c == ' ' || c == '>'; });  // how deep it is in loops and predicated regions
    scanner_.expect('{', "'{' before the bundle's instructions");
    scanner_.skip_blanks();
    if (!scanner_.accept('}')) {
      read_instructions(index);
      scanner_.expect('}', "';;' or '}' after an instruction");
    }
    bundle.count = static_cast<uint32_t>(program_.instructions.size()) - bundle.first;
    for (scanner_.skip_blanks(); scanner_.peek() == '/'; scanner_.skip_blanks()) read_remark(bundle);
    scanner_.expect_end_of_line();
    finish(bundle);
  }

  void read_instructions(BundleIndex bundle) {
    do {
      scanner_.skip_blanks();
      Instruction& instruction = program_.instructions.emplace_back();
      instruction.bundle = bundle;
      instructions_.read(instruction);
    } while (scanner_.accept(";;"));
  }

  // Start region 3 :: End region 2 :: Start/End empty region 7
  void read_remark(const Bundle& bundle) {
    const char* start = scanner_.cursor();
    if (scanner_.peek_second() != '*') return scanner_.expected("a comment or the end of the line");
    std::string_view remark = scanner_.comment();
    if (remark.starts_with("entry bundle:") || remark.starts_with("exit bundle:")) return;
    while (!scanner_.failed()) {
      const size_t end = remark.find(" :: ");
      read_region_mark(remark.substr(0, end), bundle, start);
      if (end == std::string_view::npos) return;
      remark.remove_prefix(end + 4);
    }
  }

  void read_region_mark(std::string_view mark, const Bundle& bundle, const char* place) {
    Scanner words(mark);
    const bool starts = words.accept("Start");
    const bool ends = words.accept(starts ? "/End empty" : "End");
    words.expect(" region ");
    const uint32_t number = words.decimal("a number");
    words.expect_end_of_line();
    if (words.failed() || (!starts && !ends)) {
      return scanner_.fail_at(place, fmt::format("expected 'Start region N', 'End region N' or 'Start/End empty region "
                                                 "N', found '{}'",
                                                 mark));
    }
    if (starts) start_region(number, bundle, place);
    if (ends) end_region(number, static_cast<BundleIndex>(program_.bundles.size()));
  }

  void start_region(uint32_t number, const Bundle& bundle, const char* place) {
    const auto index = static_cast<RegionIndex>(program_.regions.size());
    if (!regions_.emplace(number, index).second) {
      return scanner_.fail_at(place, fmt::format("region {} starts twice: is this more than one program?", number));
    }
    Region& region = program_.regions.emplace_back();
    region.number = number;
    region.first = bundle.first;
    open_.push_back(index);
  }

  // The region of a whole program may end without a start.
  void end_region(uint32_t number, BundleIndex bundle) {
    const auto region = regions_.find(number);
    if (region != regions_.end()) program_.regions[region->second].end = bundle;
  }

  // The bundle's instructions are in the region that started last of those that had not ended before.
  void finish(Bundle bundle) {
    const RegionIndex region = open_.empty() ? 0 : open_.back();
    for (size_t i = bundle.first; i < program_.instructions.size(); ++i) program_.instructions[i].region = region;
    while (!open_.empty() && program_.regions[open_.back()].end) open_.pop_back();
    program_.bundles.push_back(bundle);
  }

  Scanner& scanner_;
  Program& program_;
  InstructionReader instructions_;
  std::map<uint32_t, RegionIndex> regions_;  // by number
  std::vector<RegionIndex> open_;            // in the order of their starts; ended ones may stand before open ones
};

}  // namespace

bool has_bundles(std::string_view text) {
  Scanner scanner(text);
  while (scanner.peek() == ' ' || scanner.peek() == '\n') scanner.accept(scanner.peek());
  return scanner.peek() == '=' || is_digit(scanner.peek());
}

void read_bundles(Scanner& scanner, Program& program) { BundleReader(scanner, program).read(); }

}  // namespace sapper::llo
