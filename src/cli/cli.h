// The command line: one file a command in this folder; main.cc calls run.
#pragma once

namespace sapper::cli {

// Exit codes: 0 agree, 1 mismatch found, 2 bad usage or input, 3 undetermined.
int run(int argc, char** argv);

}  // namespace sapper::cli
