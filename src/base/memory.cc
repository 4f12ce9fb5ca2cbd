#include "base/memory.h"

#include <malloc.h>
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

void keep_freed_memory() {
  static const bool once = mallopt(M_MMAP_THRESHOLD, 32 << 20) != 0 && mallopt(M_TRIM_THRESHOLD, 256 << 20) != 0;
  static_cast<void>(once);
}

}  // namespace sapper
