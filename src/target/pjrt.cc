#include "target/pjrt.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <filesystem>

#include "target/pjrt_args.h"

namespace sapper::target {
namespace {

struct Slot {
  const char* name;
  size_t offset;
};

// Every function of the plugin that sapper calls. PJRT_Api grows at its end: an older plugin lacks later slots.
#define SLOT(name) \
  Slot { #name, offsetof(PJRT_Api, name) }
constexpr std::array needed_slots = {
    SLOT(PJRT_Error_Destroy),
    SLOT(PJRT_Error_Message),
    SLOT(PJRT_Error_GetCode),
    SLOT(PJRT_Plugin_Initialize),
    SLOT(PJRT_Event_Destroy),
    SLOT(PJRT_Event_Await),
    SLOT(PJRT_Client_Create),
    SLOT(PJRT_Client_PlatformVersion),
    SLOT(PJRT_Client_AddressableDevices),
    SLOT(PJRT_Client_Compile),
    SLOT(PJRT_Client_BufferFromHostBuffer),
    SLOT(PJRT_Executable_Destroy),
    SLOT(PJRT_Executable_NumOutputs),
    SLOT(PJRT_Executable_OptimizedProgram),
    SLOT(PJRT_LoadedExecutable_Destroy),
    SLOT(PJRT_LoadedExecutable_GetExecutable),
    SLOT(PJRT_LoadedExecutable_Execute),
    SLOT(PJRT_Buffer_Destroy),
    SLOT(PJRT_Buffer_ElementType),
    SLOT(PJRT_Buffer_Dimensions),
    SLOT(PJRT_Buffer_DynamicDimensionIndices),
    SLOT(PJRT_Buffer_ToHostBuffer),
    SLOT(PJRT_TopologyDescription_Create),
    SLOT(PJRT_TopologyDescription_PlatformVersion),
    SLOT(PJRT_Compile),
};
#undef SLOT

Status check_slots(const std::string& path, const PJRT_Api& api) {
  for (const Slot& slot : needed_slots) {
    const bool present = slot.offset + sizeof(void*) <= api.struct_size &&
                         *reinterpret_cast<void* const*>(reinterpret_cast<const char*>(&api) + slot.offset) != nullptr;
    if (!present)
      return fail(ErrorKind::BadInput, "{}: PJRT plugin of version {}.{} lacks {}: too old for sapper", path,
                  api.pjrt_api_version.major_version, api.pjrt_api_version.minor_version, slot.name);
  }
  return {};
}

const char* code_name(PJRT_Error_Code code) {
  constexpr std::array names = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return static_cast<size_t>(code) < names.size() ? names[code] : "UNKNOWN";
}

}  // namespace

Result<Plugin> Plugin::load(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return fail(ErrorKind::BadInput, "{}: no such plugin", path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(ErrorKind::BadInput, "{}: cannot be loaded as a plugin: {}", path, dlerror());
  const auto get_api = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr)
    return fail(ErrorKind::BadInput, "{}: a shared library, but not a PJRT plugin: it has no GetPjrtApi", path);
  const PJRT_Api* api = get_api();
  constexpr size_t version_end = offsetof(PJRT_Api, pjrt_api_version) + sizeof(PJRT_Api_Version);
  if (api == nullptr || api->struct_size < version_end)
    return fail(ErrorKind::BadInput, "{}: GetPjrtApi gives no usable PJRT_Api", path);
  if (api->pjrt_api_version.major_version != PJRT_API_MAJOR)
    return fail(ErrorKind::BadInput, "{}: PJRT plugin of version {}.{}; sapper speaks {}.x", path,
                api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version, PJRT_API_MAJOR);
  SAPPER_CHECKED(check_slots(path, *api));

  Plugin plugin(api);
  auto args = pjrt_args<PJRT_Plugin_Initialize_Args>();
  SAPPER_CHECKED(plugin.check(api->PJRT_Plugin_Initialize(&args)));
  return plugin;
}

std::pair<int, int> Plugin::version() const {
  return {api_->pjrt_api_version.major_version, api_->pjrt_api_version.minor_version};
}

Status Plugin::check(PJRT_Error* error) const {
  if (error == nullptr) return {};
  auto message = pjrt_args<PJRT_Error_Message_Args>();
  message.error = error;
  api_->PJRT_Error_Message(&message);
  auto code = pjrt_args<PJRT_Error_GetCode_Args>();
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  (void)check(api_->PJRT_Error_GetCode(&code));  // code stays UNKNOWN when this fails
  // What a plugin cannot find (the implementation of a custom call, say) is no fault of the program.
  const bool lacking = code.code == PJRT_Error_Code_NOT_FOUND;
  auto status = fail(lacking ? ErrorKind::Unsupported : ErrorKind::Rejected, "{}{}: {}",
                     lacking ? "the compiler lacks what the program needs: " : "", code_name(code.code),
                     std::string_view(message.message, message.message_size));
  auto destroy = pjrt_args<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  api_->PJRT_Error_Destroy(&destroy);
  return status;
}

Status Plugin::await(PJRT_Event* event) const {
  if (event == nullptr) return {};
  auto wait = pjrt_args<PJRT_Event_Await_Args>();
  wait.event = event;
  Status status = check(api_->PJRT_Event_Await(&wait));
  auto destroy = pjrt_args<PJRT_Event_Destroy_Args>();
  destroy.event = event;
  (void)check(api_->PJRT_Event_Destroy(&destroy));
  return status;
}

Executable::~Executable() {
  if (executable_ != nullptr) {
    auto args = pjrt_args<PJRT_Executable_Destroy_Args>();
    args.executable = executable_;
    (void)plugin_->check(plugin_->api().PJRT_Executable_Destroy(&args));
  }
  if (loaded_ != nullptr) {
    auto args = pjrt_args<PJRT_LoadedExecutable_Destroy_Args>();
    args.executable = loaded_;
    (void)plugin_->check(plugin_->api().PJRT_LoadedExecutable_Destroy(&args));
  }
}

Result<std::string> Executable::optimized_program() const {
  auto program = pjrt_args<PJRT_Program>();
  auto args = pjrt_args<PJRT_Executable_OptimizedProgram_Args>();
  args.executable = executable_;
  args.program = &program;
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Executable_OptimizedProgram(&args)));  // the size
  const std::string_view format(program.format, program.format_size);
  if (format != "hlo_with_config")
    return fail(ErrorKind::Unsupported, "the plugin gives its optimized program as \"{}\", not as HLO", format);
  std::string code(program.code_size, '\0');
  program.code = code.data();
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Executable_OptimizedProgram(&args)));
  return code;
}

Result<size_t> Executable::output_count() const {
  auto args = pjrt_args<PJRT_Executable_NumOutputs_Args>();
  args.executable = executable_;
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Executable_NumOutputs(&args)));
  return args.num_outputs;
}

Result<Device> Device::open(const Plugin& plugin) {
  const PJRT_Api& api = plugin.api();
  Device device(plugin);
  auto create = pjrt_args<PJRT_Client_Create_Args>();
  if (Status status = plugin.check(api.PJRT_Client_Create(&create)); !status)
    return fail(ErrorKind::Unsupported, "no device: {}", status.error().message);
  device.client_ = create.client;
  auto list = pjrt_args<PJRT_Client_AddressableDevices_Args>();
  list.client = device.client_;
  SAPPER_CHECKED(plugin.check(api.PJRT_Client_AddressableDevices(&list)));
  if (list.num_addressable_devices == 0) return fail(ErrorKind::Unsupported, "no device: the plugin lists none");
  device.device_ = list.addressable_devices[0];
  return device;
}

Result<Device> Device::of_topology(const Plugin& plugin, const std::string& name) {
  Device device(plugin);
  auto args = pjrt_args<PJRT_TopologyDescription_Create_Args>();
  args.topology_name = name.data();
  args.topology_name_size = name.size();
  SAPPER_CHECKED(plugin.check(plugin.api().PJRT_TopologyDescription_Create(&args)));
  device.topology_ = args.topology;
  return device;
}

Result<Executable> Device::compile(std::string_view module, std::string_view options) const {
  const PJRT_Api& api = plugin_->api();
  constexpr std::string_view format = "hlo";
  auto program = pjrt_args<PJRT_Program>();
  program.code = const_cast<char*>(module.data());  // PJRT_Program serves for output too; a compile only reads
  program.code_size = module.size();
  program.format = format.data();
  program.format_size = format.size();

  if (topology_ != nullptr) {
    auto args = pjrt_args<PJRT_Compile_Args>();
    args.topology = topology_;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    SAPPER_CHECKED(plugin_->check(api.PJRT_Compile(&args)));
    return Executable(*plugin_, args.executable, nullptr);
  }
  auto args = pjrt_args<PJRT_Client_Compile_Args>();
  args.client = client_;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  SAPPER_CHECKED(plugin_->check(api.PJRT_Client_Compile(&args)));
  auto get = pjrt_args<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = args.executable;
  Status status = plugin_->check(api.PJRT_LoadedExecutable_GetExecutable(&get));
  Executable executable(*plugin_, get.executable, args.executable);
  SAPPER_CHECKED(std::move(status));
  return executable;
}

Result<std::string> Device::platform_version() const {
  if (topology_ != nullptr) {
    auto args = pjrt_args<PJRT_TopologyDescription_PlatformVersion_Args>();
    args.topology = topology_;
    SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_TopologyDescription_PlatformVersion(&args)));
    return std::string(args.platform_version, args.platform_version_size);
  }
  auto args = pjrt_args<PJRT_Client_PlatformVersion_Args>();
  args.client = client_;
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Client_PlatformVersion(&args)));
  return std::string(args.platform_version, args.platform_version_size);
}

}  // namespace sapper::target
