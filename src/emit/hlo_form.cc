// --as hlo: a module and its data, for whoever has a test runner already.
#include "emit/emit.h"
#include "hlo/text.h"
#include "inputs/npz.h"

namespace sapper::emit {
namespace {

hlo::Literal tolerance_array(const Output& output) {
  hlo::Literal array(output.expected.shape().with_element_type(hlo::ElementType::F64));
  for (int64_t i = 0; i < array.element_count(); ++i)
    array.set_real(i, output.tolerance.size() == 1 ? output.tolerance[0] : output.tolerance[static_cast<size_t>(i)]);
  return array;
}

}  // namespace

Result<std::vector<File>> as_hlo(const Subject& subject) {
  inputs::Npz npz;
  for (size_t s = 0; s < subject.runs.size(); ++s) {
    const Run& run = subject.runs[s];
    const std::string prefix = subject.runs.size() == 1 ? "" : fmt::format("set{}_", s);
    for (size_t k = 0; k < run.arguments.size(); ++k)
      npz[fmt::format("{}in{}", prefix, k)] = inputs::to_npy(run.arguments[k]);
    for (size_t k = 0; k < run.outputs.size(); ++k) {
      npz[fmt::format("{}out{}", prefix, k)] = inputs::to_npy(run.outputs[k].expected);
      npz[fmt::format("{}tolerance{}", prefix, k)] = inputs::to_npy(tolerance_array(run.outputs[k]));
    }
  }
  return std::vector<File>{{subject.name + ".hlo", hlo::to_text(subject.one.module)},
                           {subject.name + ".npz", inputs::npz_bytes(npz)}};
}

}  // namespace sapper::emit
