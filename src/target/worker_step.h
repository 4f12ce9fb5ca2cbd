// Stepping inside of a worker: what was compiled is run as it is, then again with one of its kernels stepped.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "target/pjrt.h"
#include "target/worker.pb.h"

namespace sapper::target {

// `outputs` gets those of the run as it is. Unsupported: no code was dumped for the kernel, or it is not found in
// memory.
[[nodiscard]] Status step_kernel(const Device& device, const Executable& executable,
                                 std::span<const hlo::Literal> arguments, const proto::WorkerRequest& request,
                                 std::vector<hlo::Literal>* outputs, proto::WorkerReply* reply);

}  // namespace sapper::target
