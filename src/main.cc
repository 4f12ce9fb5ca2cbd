#include "cli/cli.h"

int main(int argc, char** argv) { return sapper::cli::run(argc, argv); }
