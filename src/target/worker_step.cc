#include "target/worker_step.h"

#include <filesystem>

#include "base/file.h"
#include "target/jit_code.h"
#include "target/stepper.h"

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
  SAPPER_TRY(Stepper stepper,
             Stepper::arm(code, stepping.trace(), {.steps = stepping.step_limit(), .bytes = stepping.trace_bytes()}));
  const auto stepped = device.execute(executable, arguments);
  stepper.disarm();
  if (!stepped) return tl::unexpected(stepped.error());
  reply->set_stepped_differs(*stepped != *outputs);
  return {};
}

}  // namespace sapper::target
