// main for test programs that compile for real: they serve as their own workers (PoolOptions::worker_program left
// empty).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "target/compiler.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "worker") return sapper::target::run_worker(std::atoi(argv[2]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
