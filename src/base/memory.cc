#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace sapper {

int64_t physical_memory_bytes() {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream file("/sys/fs/cgroup/memory.max");
  int64_t container = 0;
  return file >> container ? std::min(machine, container) : machine;  // "max" when there is no limit
}

}  // namespace sapper
