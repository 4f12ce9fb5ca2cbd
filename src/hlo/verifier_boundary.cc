// The module's boundary: what the module says about its entry computation's parameters and result.
#include <map>
#include <set>

#include "hlo/verifier_rules.h"
#include "hlo/verifier_structure.h"

namespace sapper::hlo::verifier {
namespace {

tl::unexpected<Error> bad(const Module& module, std::string_view message) {
  return fail(ErrorKind::BadInput, "module '{}': {}", module.name, message);
}

Status check_entry_layout(const Module& module, const Parameters& parameters) {
  if (!module.has_entry_layout) return {};
  const Computation& entry = module.entry_computation();
  if (module.entry_parameter_layouts.size() != parameters.size())
    return bad(module, fmt::format("entry_computation_layout has {} parameters, expected {}",
                                   module.entry_parameter_layouts.size(), parameters.size()));
  const auto check = [&](const Shape& shape, const Shape& stated, std::string_view what) -> Status {
    if (const auto defect = shape_defect(shape))
      return bad(module, fmt::format("entry_computation_layout of {}: {}", what, *defect));
    if (!compatible(shape, stated))
      return bad(module, fmt::format("entry_computation_layout states {} for {}, expected {}", text(shape), what,
                                     text(stated)));
    return {};
  };
  for (size_t i = 0; i < parameters.size(); ++i)
    SAPPER_CHECKED(check(module.entry_parameter_layouts[i], entry.instructions[parameters[i]].shape,
                         fmt::format("parameter {}", i)));
  return check(module.entry_result_layout, entry.root_instruction().shape, "the result");
}

// The part of entry parameter `number` at `index` exists.
Status check_parameter_part(const Module& module, const Parameters& parameters, std::string_view what, int64_t number,
                            std::span<const int64_t> index) {
  if (number < 0 || number >= static_cast<int64_t>(parameters.size()))
    return bad(module, fmt::format("{} names parameter {} of {}", what, number, parameters.size()));
  const Shape& shape = module.entry_computation().instructions[parameters[static_cast<size_t>(number)]].shape;
  if (subshape(shape, index) == nullptr)
    return bad(module, fmt::format("{} names a part of parameter {} that {} does not have", what, number, text(shape)));
  return {};
}

Status check_aliasing(const Module& module, const Parameters& parameters) {
  using Index = std::vector<int64_t>;
  std::set<Index> outputs;
  std::set<std::pair<int64_t, Index>> inputs;
  const auto index = [](std::span<const int64_t> of) { return Index(of.begin(), of.end()); };
  for (const auto& entry : module.attributes.input_output_alias().entries()) {
    const auto output = span_of(entry.output_shape_index());
    const auto input = span_of(entry.parameter_shape_index());
    SAPPER_CHECKED(check_parameter_part(module, parameters, "input_output_alias", entry.parameter_number(), input));
    const Shape& result = module.entry_computation().root_instruction().shape;
    if (subshape(result, output) == nullptr)
      return bad(module,
                 fmt::format("input_output_alias names a part of the result that {} does not have", text(result)));
    if (!outputs.insert(index(output)).second || !inputs.emplace(entry.parameter_number(), index(input)).second)
      return bad(module, "input_output_alias names a part of the result or of a parameter twice");
  }
  return {};
}

}  // namespace

Status check_boundary(const Module& module, const Parameters& parameters) {
  SAPPER_CHECKED(check_entry_layout(module, parameters));
  SAPPER_CHECKED(check_aliasing(module, parameters));
  for (const auto& donor : module.attributes.buffer_donor().entries())
    SAPPER_CHECKED(check_parameter_part(module, parameters, "buffer_donor", donor.parameter_number(),
                                        span_of(donor.parameter_shape_index())));
  for (const auto& prefetch : module.attributes.cross_program_prefetches())
    SAPPER_CHECKED(check_parameter_part(module, parameters, "cross_program_prefetch", prefetch.parameter(),
                                        span_of(prefetch.index())));
  return {};
}

}  // namespace sapper::hlo::verifier
