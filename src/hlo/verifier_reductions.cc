// Rules of the operations that apply a scalar computation: map, reduce, reduce-window, select-and-scatter, sort, scan;
// and of topk.
#include <algorithm>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

bool is_scalar_like(const Shape& shape, ElementType type) {
  return shape.is_scalar() && interchangeable(shape.element_type(), type);
}

// Operands first .. first + count - 1 have the same dimensions.
Status check_same_dimensions(const Site& site, size_t first, size_t count) {
  for (size_t i = first + 1; i < first + count; ++i) {
    if (site.operand(i).dimensions() != site.operand(first).dimensions())
      return site.bad("operand shapes {} and {} differ", text(site.operand(first)), text(site.operand(i)));
  }
  return {};
}

// The called computation `called` has parameters for two elements of each of `count` operands and answers pred[].
Status check_comparator(const Site& site, size_t called, size_t count) {
  const Shape& result = site.result_of(called);
  if (!result.is_scalar() || result.element_type() != ElementType::Pred)
    return site.bad("computation '{}' returns {}, expected pred[]", site.called(called).name, text(result));
  if (site.parameter_count(called) != 2 * count)
    return site.bad("computation '{}' has {} parameters, expected {}", site.called(called).name,
                    site.parameter_count(called), 2 * count);
  for (size_t i = 0; i < 2 * count; ++i) {
    const ElementType type = site.operand(i / 2).element_type();
    if (!is_scalar_like(site.parameter(called, i), type))
      return site.bad("parameter {} of '{}' is {}, expected {}[]", i, site.called(called).name,
                      text(site.parameter(called, i)), to_string(type));
  }
  return {};
}

// n arrays of the same dimensions followed by n scalars. Gives n.
Result<size_t> check_arrays_and_inits(const Site& site) {
  if (site.operand_count() % 2 != 0)
    return site.bad("{} operands, expected n arrays and n initial values", site.operand_count());
  SAPPER_CHECKED(expect_arrays(site));
  const size_t count = site.operand_count() / 2;
  SAPPER_CHECKED(check_same_dimensions(site, 0, count));
  for (size_t i = count; i < 2 * count; ++i) SAPPER_CHECKED(expect_scalar(site, i));
  return count;
}

// One array where the reducer returns an array, else a tuple; add_dimensions(builder) adds the dimensions of each.
template <class AddDimensions>
Inferred fold_results(const Site& site, size_t count, AddDimensions add_dimensions) {
  const auto one = [&](const Shape& stated, size_t i) {
    ShapeBuilder builder(stated, accumulator(site, 0, i).element_type());
    add_dimensions(&builder);
    return builder.finish();
  };
  if (!site.result_of(0).is_tuple()) return one(site.stated(), 0);
  return tuple_of(site.stated(), count, [&](size_t i) { return one(stated_element(site.stated(), i), i); });
}

Status check_window_rank(const Site& site, const Shape& operand) {
  const auto& window = site.attributes().window().dimensions();
  if (static_cast<size_t>(window.size()) != operand.rank())
    return site.bad("window of {} dimensions, expected one for each of operand {}", window.size(), text(operand));
  Wide elements = 1;
  for (const auto& dimension : window)
    elements = std::min<Wide>(elements * std::max<int64_t>(dimension.size(), 1), largest_extent + Wide{1});
  if (elements > largest_extent) return site.bad("the window has too many elements");
  return {};
}

// The scanned dimension, which operands 0 .. inputs - 1 have in the same size.
Result<size_t> check_scanned(const Site& site, size_t inputs) {
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  if (dimensions.size() != 1) return site.bad("{} dimensions given, expected 1", dimensions.size());
  for (size_t i = 0; i < inputs; ++i) {
    if (dimensions[0] < 0 || dimensions[0] >= static_cast<int64_t>(site.operand(i).rank()))
      return site.bad("dimension {} is out of range for {}", dimensions[0], text(site.operand(i)));
    const auto dimension = static_cast<size_t>(dimensions[0]);
    if (site.operand(i).dimension(dimension) != site.operand(0).dimension(dimension))
      return site.bad("operands {} and {} differ in dimension {}", text(site.operand(0)), text(site.operand(i)),
                      dimension);
  }
  return static_cast<size_t>(dimensions[0]);
}

// `slice` is `shape` without one dimension.
bool is_slice(const Shape& slice, const Shape& shape, size_t dimension) {
  if (!slice.is_array() || slice.rank() + 1 != shape.rank() || slice.element_type() != shape.element_type())
    return false;
  for (size_t i = 0; i < slice.rank(); ++i)
    if (slice.dimension(i) != shape.dimension(i < dimension ? i : i + 1)) return false;
  return true;
}

}  // namespace

const Shape& accumulator(const Site& site, size_t called, size_t i) {
  const Shape& result = site.result_of(called);
  return result.is_tuple() ? result.elements()[i] : result;
}

Status check_reducer(const Site& site, size_t called, size_t count, size_t first_input, size_t first_accumulator) {
  const std::string& name = site.called(called).name;
  const Shape& result = site.result_of(called);
  if (site.parameter_count(called) != 2 * count)
    return site.bad("computation '{}' has {} parameters, expected {}", name, site.parameter_count(called), 2 * count);
  if (result.is_tuple() ? result.elements().size() != count : count != 1)
    return site.bad("computation '{}' returns {}, expected {} scalar(s)", name, text(result), count);
  for (size_t i = 0; i < count; ++i) {
    const Shape& of = accumulator(site, called, i);
    if (!of.is_scalar()) return site.bad("computation '{}' returns {}, expected scalars", name, text(result));
    const auto check = [&](const Shape& shape, std::string_view what, size_t number) -> Status {
      if (is_scalar_like(shape, of.element_type())) return {};
      return site.bad("{} {} is {} but computation '{}' accumulates in {}", what, number, text(shape), name, text(of));
    };
    SAPPER_CHECKED(check(site.parameter(called, i), "parameter", i));
    SAPPER_CHECKED(check(site.parameter(called, count + i), "parameter", count + i));
    for (const size_t operand : {first_input + i, first_accumulator + i}) {
      if (!interchangeable(site.operand(operand).element_type(), of.element_type()))
        return site.bad("operand {} is {} but computation '{}' accumulates in {}", operand, text(site.operand(operand)),
                        name, text(of));
    }
  }
  return {};
}

Result<int64_t> window_positions(const Site& site, int i, int64_t size) {
  const proto::WindowDimension& of = site.attributes().window().dimensions(i);
  const auto positive = [&](int64_t value) { return value > 0 && value <= largest_extent; };
  if (!positive(of.size()) || !positive(of.stride()) || !positive(of.base_dilation()) ||
      !positive(of.window_dilation()))
    return site.bad(
        "window dimension {} has size {}, stride {}, base dilation {}, window dilation {}: expected positive", i,
        of.size(), of.stride(), of.base_dilation(), of.window_dilation());
  const auto dilated = [](int64_t extent, int64_t dilation) -> Wide {
    return extent == 0 ? 0 : static_cast<Wide>(extent - 1) * dilation + 1;
  };
  const Wide base = dilated(size, of.base_dilation());
  const Wide window = dilated(of.size(), of.window_dilation());
  for (const Wide extent : {base, window, static_cast<Wide>(of.padding_low()), static_cast<Wide>(of.padding_high())})
    if (extent < -largest_extent || extent > largest_extent)
      return site.bad("window dimension {} is dilated or padded too far", i);
  const Wide padded = of.padding_low() + base + of.padding_high();
  return padded < window ? 0 : static_cast<int64_t>((padded - window) / of.stride() + 1);
}

Result<Inferred> infer_map(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  SAPPER_CHECKED(check_same_dimensions(site, 0, site.operand_count()));
  const Shape& first = site.operand(0);
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] != static_cast<int64_t>(i))
      return site.bad("dimensions must be all of those of the operands, in order");
  if (!dimensions.empty() && dimensions.size() != first.rank())
    return site.bad("{} dimensions given, expected all of those of {}", dimensions.size(), text(first));
  if (site.parameter_count(0) != site.operand_count())
    return site.bad("computation '{}' has {} parameters, expected {}", site.called(0).name, site.parameter_count(0),
                    site.operand_count());
  for (size_t i = 0; i < site.operand_count(); ++i) {
    if (!is_scalar_like(site.parameter(0, i), site.operand(i).element_type()))
      return site.bad("parameter {} of '{}' is {}, expected {}[]", i, site.called(0).name, text(site.parameter(0, i)),
                      to_string(site.operand(i).element_type()));
  }
  if (!site.result_of(0).is_scalar())
    return site.bad("computation '{}' returns {}, expected a scalar", site.called(0).name, text(site.result_of(0)));
  return with_element_type(site.stated(), first, site.result_of(0).element_type());
}

Result<Inferred> infer_reduce(const Site& site) {
  SAPPER_TRY(const size_t count, check_arrays_and_inits(site));
  const Shape& operand = site.operand(0);
  SAPPER_TRY(const DimensionSet reduced,
             dimension_set(site, "dimensions", site.instruction.dimensions, operand.rank()));
  SAPPER_CHECKED(check_reducer(site, 0, count, /*first_input=*/0, /*first_accumulator=*/count));
  return fold_results(site, count, [&](ShapeBuilder* builder) {
    for (size_t i = 0; i < operand.rank(); ++i)
      if (!reduced.contains(static_cast<int64_t>(i))) builder->add(operand.dimension(i), operand.is_dynamic(i));
  });
}

Result<Inferred> infer_reduce_window(const Site& site) {
  SAPPER_TRY(const size_t count, check_arrays_and_inits(site));
  const Shape& operand = site.operand(0);
  SAPPER_CHECKED(check_window_rank(site, operand));
  SAPPER_CHECKED(check_reducer(site, 0, count, /*first_input=*/0, /*first_accumulator=*/count));
  std::vector<int64_t> positions(operand.rank());
  for (size_t i = 0; i < operand.rank(); ++i) {
    SAPPER_TRY(positions[i], window_positions(site, static_cast<int>(i), operand.dimension(i)));
  }
  return fold_results(site, count, [&](ShapeBuilder* builder) {
    for (size_t i = 0; i < operand.rank(); ++i) builder->add(positions[i], operand.is_dynamic(i));
  });
}

// Operands: array, source (one value for each window), initial value.
Result<Inferred> infer_select_and_scatter(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  SAPPER_CHECKED(expect_scalar(site, 2));
  const Shape& operand = site.operand(0);
  const Shape& source = site.operand(1);
  SAPPER_CHECKED(check_window_rank(site, operand));
  SAPPER_CHECKED(check_comparator(site, 0, 1));
  SAPPER_CHECKED(check_reducer(site, 1, 1, /*first_input=*/1, /*first_accumulator=*/2));
  if (!site.result_of(1).is_scalar())
    return site.bad("computation '{}' returns {}, expected a scalar", site.called(1).name, text(site.result_of(1)));
  bool fits = source.rank() == operand.rank() && interchangeable(source.element_type(), operand.element_type());
  for (size_t i = 0; fits && i < operand.rank(); ++i) {
    SAPPER_TRY(const int64_t positions, window_positions(site, static_cast<int>(i), operand.dimension(i)));
    fits = positions == source.dimension(i);
  }
  if (!fits) return site.bad("source {} does not match the windows of operand {}", text(source), text(operand));
  return operand;
}

Result<Inferred> infer_sort(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  SAPPER_CHECKED(check_same_dimensions(site, 0, site.operand_count()));
  const Shape& first = site.operand(0);
  const std::vector<int64_t>& dimensions = site.instruction.dimensions;
  if (dimensions.size() != 1) return site.bad("{} dimensions given, expected 1", dimensions.size());
  if (dimensions[0] < 0 || dimensions[0] >= static_cast<int64_t>(first.rank()))
    return site.bad("dimension {} is out of range for {}", dimensions[0], text(first));
  SAPPER_CHECKED(check_comparator(site, 0, site.operand_count()));
  if (site.operand_count() == 1) return first;
  return tuple_of(site.stated(), site.operand_count(), [&](size_t i) { return Inferred(site.operand(i)); });
}

// The k largest (or smallest) of the last dimension and their indices.
Result<Inferred> infer_topk(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const int64_t k = site.attributes().k();
  if (operand.rank() == 0) return site.bad("operand is {}, expected at least 1 dimension", text(operand));
  const size_t last = operand.rank() - 1;
  if (k < 0 || k > operand.dimension(last))
    return site.bad("k is {}, expected at most the last dimension of {}", k, text(operand));
  return tuple_of(site.stated(), 2, [&](size_t element) {
    ShapeBuilder builder(stated_element(site.stated(), element),
                         element == 0 ? operand.element_type() : ElementType::S32);
    for (size_t i = 0; i < last; ++i) builder.add(operand.dimension(i), operand.is_dynamic(i));
    builder.add(k);
    return builder.finish();
  });
}

// Operands are the scanned arrays and then num_carries initial carries; the computation takes one slice of each array,
// without the scanned dimension, and the carries, and returns slices of the outputs and the next carries.
Result<Inferred> infer_scan(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const auto operands = static_cast<int64_t>(site.operand_count());
  const int64_t num_carries = site.attributes().num_carries();
  if (num_carries < 0 || num_carries >= operands)
    return site.bad("num_carries is {}, expected fewer than the {} operands", num_carries, operands);
  const auto carries = static_cast<size_t>(num_carries);
  const size_t inputs = site.operand_count() - carries;
  SAPPER_TRY(const size_t dimension, check_scanned(site, inputs));
  if (site.parameter_count(0) != site.operand_count())
    return site.bad("computation '{}' has {} parameters, expected {}", site.called(0).name, site.parameter_count(0),
                    site.operand_count());
  for (size_t i = 0; i < inputs; ++i) {
    if (!is_slice(site.parameter(0, i), site.operand(i), dimension))
      return site.bad("parameter {} of '{}' is {}, expected {} without dimension {}", i, site.called(0).name,
                      text(site.parameter(0, i)), text(site.operand(i)), dimension);
  }
  const Shape& result = site.result_of(0);
  const size_t results = result.is_tuple() ? result.elements().size() : 1;
  if (results < carries)
    return site.bad("computation '{}' returns {}, expected at least {} carries", site.called(0).name, text(result),
                    carries);
  const size_t outputs = results - carries;
  for (size_t i = 0; i < carries; ++i) {
    const Shape& init = site.operand(inputs + i);
    if (!compatible(site.parameter(0, inputs + i), init) || !compatible(accumulator(site, 0, outputs + i), init))
      return site.bad("carry {} starts as {} but computation '{}' takes {} and returns {}", i, text(init),
                      site.called(0).name, text(site.parameter(0, inputs + i)),
                      text(accumulator(site, 0, outputs + i)));
  }
  for (size_t i = 0; i < outputs; ++i) {
    const Shape& slice = accumulator(site, 0, i);
    if (!slice.is_array() || slice.rank() < dimension)
      return site.bad("output {} of '{}' is {}, expected an array of at least {} dimensions", i, site.called(0).name,
                      text(slice), dimension);
  }
  const auto output = [&](const Shape& stated, size_t i) -> Inferred {
    const Shape& slice = accumulator(site, 0, i);
    if (i >= outputs) return slice;
    ShapeBuilder builder(stated, slice.element_type());
    for (size_t d = 0; d <= slice.rank(); ++d) {
      if (d == dimension) builder.add(site.operand(0).dimension(dimension), site.operand(0).is_dynamic(dimension));
      if (d < slice.rank()) builder.add(slice.dimension(d), slice.is_dynamic(d));
    }
    return builder.finish();
  };
  if (!result.is_tuple()) return output(site.stated(), 0);
  return tuple_of(site.stated(), results, [&](size_t i) { return output(stated_element(site.stated(), i), i); });
}

}  // namespace sapper::hlo::verifier
