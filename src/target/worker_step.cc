#include "target/worker_step.h"

#include <filesystem>

#include "base/file.h"
#include "target/jit_code.h"
#include "target/stepper.h"
#include "target/tracer.h"

namespace sapper::target {
namespace {

// The function of the kernel in the object files of the folder.
Result<JitFunction> find_function(const std::string& folder, const std::string& kernel) {
  std::string names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".o") continue;
    SAPPER_TRY(const std::string object, read_file(entry.path()));
    SAPPER_TRY(std::vector<JitFunction> functions, read_object(object));
    for (JitFunction& function : functions) {
      if (function.name == kernel) return std::move(function);
      names += (names.empty() ? "" : ", ") + function.name;
    }
  }
  return fail(ErrorKind::Unsupported, "the compiler made no code named {}: {}", kernel,
              names.empty() ? "it made none at all" : "there is " + names);
}

SteppedFunction in_memory(const JitFunction& function) {
  SteppedFunction code{.copies = find_in_memory(function), .size = function.code.size()};
  if (!code.copies.empty()) code.memcpy_address = address_in_code(function, code.copies[0], "memcpy");
  return code;
}

}  // namespace

Status step_kernel(const Device& device, const Executable& executable, std::span<const hlo::Literal> arguments,
                   const proto::WorkerRequest& request, std::vector<hlo::Literal>* outputs, proto::WorkerReply* reply) {
  const proto::WorkerStepping& stepping = request.stepping();
  SAPPER_TRY(const JitFunction function, find_function(request.dump_folder(), stepping.kernel()));
  const SteppedFunction code = in_memory(function);
  if (code.copies.empty())
    return fail(ErrorKind::Unsupported, "the code of {} is not found in the compiler's process", stepping.kernel());
  std::vector<BytePatch> patches;
  for (const proto::WorkerBytePatch& patch : stepping.patches())
    patches.push_back({patch.offset(), static_cast<uint8_t>(patch.value())});
  SAPPER_CHECKED(patch_code(code, patches));

  SAPPER_TRY(*outputs, device.execute(executable, arguments));
  // Whether the run that is stepped gives other outputs.
  const auto differs_by = [&](auto arm) -> Result<bool> {
    auto watcher = arm(code, stepping.trace(), {.steps = stepping.step_limit(), .bytes = stepping.trace_bytes()});
    if (!watcher) return tl::unexpected(watcher.error());
    SAPPER_TRY(const std::vector<hlo::Literal> stepped, device.execute(executable, arguments));
    return stepped != *outputs;
  };
  std::string why;  // breakpoints cannot be
  if (!stepping.traced()) {
    const Result<bool> differs = differs_by(&Stepper::arm);
    if (differs && !*differs) return {};
    if (!differs && differs.error().kind != ErrorKind::Unsupported) return tl::unexpected(differs.error());
    if (!differs) why = differs.error().message + "; ";
    reply->set_stepped_differs(differs.has_value());
  }
  const Result<bool> differs = differs_by(&Tracer::start);
  if (differs) reply->set_stepped_differs(*differs);
  if (differs || reply->stepped_differs()) return {};
  return fail(differs.error().kind, "{}{}", why, differs.error().message);
}

}  // namespace sapper::target
