// Writes a report of an inspection made by hand to standard output, for tests/inspect/browser_test.py. With an
// argument: of so many instructions in a fusion.
#include <fmt/format.h>

#include <cstdlib>

#include "inspect/html.h"
#include "tests/inspect/inspections.h"

int main(int argc, char** argv) {
  using namespace sapper::inspect;
  const Inspection inspection = argc > 1 ? testing::large_inspection(std::atoi(argv[1])) : testing::small_inspection();
  fmt::print("{}", to_html(inspection));
}
