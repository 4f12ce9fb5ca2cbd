#include "hlo/text_utf8.h"

#include "hlo/wire.h"

namespace sapper::hlo {
namespace {

std::string checked(Scanner& scan, const char* start, std::string text) {
  if (!scan.failed() && !is_utf8(text)) scan.fail_at(start, "this string is not UTF-8");
  return text;
}

}  // namespace

std::string read_utf8(Scanner& scan, std::string_view what) {
  const char* start = scan.cursor();
  return checked(scan, start, scan.string(what));
}

std::string read_utf8_or_object(Scanner& scan) {
  if (scan.peek() != '{') return read_utf8(scan, "a string or an object in braces");
  const char* start = scan.cursor();
  return checked(scan, start, std::string(scan.braced()));
}

}  // namespace sapper::hlo
