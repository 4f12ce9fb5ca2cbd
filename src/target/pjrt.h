// A PJRT plugin: loading one, compiling with it, running what it compiled. Used in worker processes only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"

// pjrt_c_api.h, which comes with a plugin's wheel, is included by the .cc files only.
struct PJRT_Api;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_TopologyDescription;

namespace sapper::target {

// A loaded and initialized plugin. Never unloaded: compilers do not survive dlclose.
class Plugin {
 public:
  // BadInput: no such file, not a shared library, not a plugin, or one that is too old; Rejected: it will not
  // initialize.
  [[nodiscard]] static Result<Plugin> load(const std::string& path);

  [[nodiscard]] const PJRT_Api& api() const { return *api_; }
  [[nodiscard]] std::pair<int, int> version() const;
  // A PJRT call's outcome as a Status (Rejected), with the plugin's message whole; frees `error`.
  [[nodiscard]] Status check(PJRT_Error* error) const;
  // Waits for `event` and frees it.
  [[nodiscard]] Status await(PJRT_Event* event) const;

 private:
  explicit Plugin(const PJRT_Api* api) : api_(api) {}
  const PJRT_Api* api_;
};

// What a compile gives. `loaded` is null when it was ahead of time.
class Executable {
 public:
  Executable(const Plugin& plugin, PJRT_Executable* executable, PJRT_LoadedExecutable* loaded)
      : plugin_(&plugin), executable_(executable), loaded_(loaded) {}
  Executable(Executable&& other) noexcept
      : plugin_(other.plugin_),
        executable_(std::exchange(other.executable_, nullptr)),
        loaded_(std::exchange(other.loaded_, nullptr)) {}
  Executable& operator=(Executable&&) = delete;
  ~Executable();

  // Serialized HloModuleProtoWithConfig.
  [[nodiscard]] Result<std::string> optimized_program() const;
  [[nodiscard]] Result<size_t> output_count() const;
  [[nodiscard]] PJRT_LoadedExecutable* loaded() const { return loaded_; }

 private:
  const Plugin* plugin_;
  PJRT_Executable* executable_;
  PJRT_LoadedExecutable* loaded_;
};

// What programs are compiled for: a device of this machine, or a topology without one.
class Device {
 public:
  // The first device that the plugin finds. Unsupported when there is none.
  [[nodiscard]] static Result<Device> open(const Plugin& plugin);
  // Ahead of time for a topology such as "v5e:2x2".
  [[nodiscard]] static Result<Device> of_topology(const Plugin& plugin, const std::string& name);

  // `module`: serialized HloModuleProto; `options`: serialized CompileOptionsProto.
  [[nodiscard]] Result<Executable> compile(std::string_view module, std::string_view options) const;
  // The values of the outputs: those of the root tuple, or the one array. Not for topologies. (execute.cc)
  [[nodiscard]] Result<std::vector<hlo::Literal>> execute(const Executable& executable,
                                                          std::span<const hlo::Literal> arguments) const;
  // What the compiler says of its version.
  [[nodiscard]] Result<std::string> platform_version() const;

 private:
  explicit Device(const Plugin& plugin) : plugin_(&plugin) {}
  const Plugin* plugin_;
  PJRT_Client* client_ = nullptr;
  PJRT_Device* device_ = nullptr;
  PJRT_TopologyDescription* topology_ = nullptr;
};

}  // namespace sapper::target
