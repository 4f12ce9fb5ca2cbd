// A worker whose results are not the same twice. UNSTEADY says what becomes of them, a letter a run, from the start
// again at its end: the first output's first element is as it is (.) or off by 1 (a) or 2 (b); off by 1 beside another
// order of summation (s): the last output's first element is the next number.
#include <cmath>
#include <cstdlib>

#include "tests/target/worker_between.h"

namespace sapper {
namespace {

void disturb(std::span<hlo::Literal> outputs) {
  static size_t run = 0;
  const std::string letters = std::getenv("UNSTEADY");
  const char letter = letters[run++ % letters.size()];
  hlo::Literal &wrong = outputs.front(), &sum = outputs.back();
  if (letter != '.') wrong.set_real(0, wrong.real_at(0) + (letter == 'b' ? 2 : 1));
  if (letter == 's') sum.set_real(0, std::nextafter(static_cast<float>(sum.real_at(0)), INFINITY));
}

}  // namespace
}  // namespace sapper

int main(int argc, char** argv) {
  return argc == 3 ? sapper::target::run_worker_between(std::atoi(argv[2]), {.outputs = sapper::disturb}) : 2;
}
