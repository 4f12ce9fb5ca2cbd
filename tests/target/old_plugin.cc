// A plugin as PJRT was before sapper's time: its PJRT_Api ends after the version.
#include <cstddef>

namespace {

struct OldApi {
  size_t struct_size = sizeof(OldApi);
  void* extension_start = nullptr;
  struct {
    size_t struct_size;
    void* extension_start;
    int major_version;
    int minor_version;
  } version = {32, nullptr, 0, 7};
};

const OldApi old_api;

}  // namespace

extern "C" const void* GetPjrtApi() { return &old_api; }
