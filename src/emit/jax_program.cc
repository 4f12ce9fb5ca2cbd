// HLO as Python over jax.lax: one line an instruction, one function a computation. Where a function of jax.lax does
// more than the HLO instruction (wraps negative indices, promotes types), its primitive is bound directly.
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <map>

#include "emit/emit.h"

namespace sapper::emit {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

// Operations on arrays alone: {0}, {1}, ... are the operands.
struct Plain {
  Opcode opcode;
  const char* python;
};
constexpr Plain plain[] = {
    {Opcode::Abs, "lax.abs({0})"},
    {Opcode::Acos, "lax.acos({0})"},
    {Opcode::Acosh, "lax.acosh({0})"},
    {Opcode::Add, "lax.add({0}, {1})"},
    {Opcode::And, "lax.bitwise_and({0}, {1})"},
    {Opcode::Asin, "lax.asin({0})"},
    {Opcode::Asinh, "lax.asinh({0})"},
    {Opcode::Atan2, "lax.atan2({0}, {1})"},
    {Opcode::Atanh, "lax.atanh({0})"},
    {Opcode::Cbrt, "lax.cbrt({0})"},
    {Opcode::Ceil, "lax.ceil({0})"},
    {Opcode::Clamp, "lax.clamp({0}, {1}, {2})"},
    {Opcode::Complex, "lax.complex({0}, {1})"},
    {Opcode::Copy, "{0}"},
    {Opcode::Cosh, "lax.cosh({0})"},
    {Opcode::Cosine, "lax.cos({0})"},
    {Opcode::CountLeadingZeros, "lax.clz({0})"},
    {Opcode::Divide, "lax.div({0}, {1})"},
    {Opcode::Erf, "lax.erf({0})"},
    {Opcode::Exponential, "lax.exp({0})"},
    {Opcode::ExponentialMinusOne, "lax.expm1({0})"},
    {Opcode::Floor, "lax.floor({0})"},
    {Opcode::Imag, "lax.imag({0})"},
    {Opcode::IsFinite, "lax.is_finite({0})"},
    {Opcode::Log, "lax.log({0})"},
    {Opcode::LogPlusOne, "lax.log1p({0})"},
    {Opcode::Logistic, "lax.logistic({0})"},
    {Opcode::Maximum, "lax.max({0}, {1})"},
    {Opcode::Minimum, "lax.min({0}, {1})"},
    {Opcode::Multiply, "lax.mul({0}, {1})"},
    {Opcode::Negate, "lax.neg({0})"},
    {Opcode::Not, "lax.bitwise_not({0})"},
    {Opcode::OptBarrier, "lax.optimization_barrier({0})"},
    {Opcode::Or, "lax.bitwise_or({0}, {1})"},
    {Opcode::Popcnt, "lax.population_count({0})"},
    {Opcode::Power, "lax.pow({0}, {1})"},
    {Opcode::Real, "lax.real({0})"},
    {Opcode::Remainder, "lax.rem({0}, {1})"},
    {Opcode::RoundNearestAfz, "lax.round({0}, lax.RoundingMethod.AWAY_FROM_ZERO)"},
    {Opcode::RoundNearestEven, "lax.round({0}, lax.RoundingMethod.TO_NEAREST_EVEN)"},
    {Opcode::Rsqrt, "lax.rsqrt({0})"},
    {Opcode::Select, "lax.select({0}, {1}, {2})"},
    {Opcode::ShiftLeft, "lax.shift_left({0}, {1})"},
    {Opcode::ShiftRightArithmetic, "lax.shift_right_arithmetic({0}, {1})"},
    {Opcode::ShiftRightLogical, "lax.shift_right_logical({0}, {1})"},
    {Opcode::Sign, "lax.sign({0})"},
    {Opcode::Sine, "lax.sin({0})"},
    {Opcode::Sinh, "lax.sinh({0})"},
    {Opcode::Sqrt, "lax.sqrt({0})"},
    {Opcode::Subtract, "lax.sub({0}, {1})"},
    {Opcode::Tan, "lax.tan({0})"},
    {Opcode::Tanh, "lax.tanh({0})"},
    {Opcode::Xor, "lax.bitwise_xor({0}, {1})"},
};

template <class List>
std::string tuple(const List& list) {
  return std::size(list) == 1 ? fmt::format("({},)", *std::begin(list)) : fmt::format("({})", fmt::join(list, ", "));
}

std::string shape_text(const Shape& shape) { return tuple(shape.dimensions()); }

std::string number(double value) {
  if (std::isnan(value)) return "np.nan";
  if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
  return fmt::format("{}", value);
}

// The elements as nested nowhere: a flat list, which is given its shape.
std::string constant(const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  std::vector<std::string> elements;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (hlo::is_complex(type))
      elements.push_back(
          fmt::format("complex({}, {})", number(literal.complex_at(i).real()), number(literal.complex_at(i).imag())));
    else if (hlo::is_float(type))
      elements.push_back(number(literal.real_at(i)));
    else if (type == ElementType::U64)
      elements.push_back(fmt::format("{}", static_cast<uint64_t>(literal.integer_at(i))));
    else if (type == ElementType::Pred)
      elements.emplace_back(literal.integer_at(i) != 0 ? "True" : "False");
    else
      elements.push_back(fmt::format("{}", literal.integer_at(i)));
  }
  return fmt::format("np.array([{}]).astype({}).reshape({})", fmt::join(elements, ", "), jax_dtype(type),
                     shape_text(literal.shape()));
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {}

  Result<std::string> run() {
    std::string text;
    for (hlo::ComputationIndex c = 0; c < module_.computations.size(); ++c) {
      SAPPER_TRY(const std::string function, write(c));
      text += function + "\n\n";
    }
    text.pop_back();
    return text;
  }

 private:
  [[nodiscard]] std::string function_name(hlo::ComputationIndex c) const {
    return c == module_.entry ? "program" : fmt::format("computation_{}", c);
  }

  Result<std::string> write(hlo::ComputationIndex c) {
    computation_ = &module_.computations[c];
    std::vector<std::string> parameters;
    for (const hlo::InstructionIndex parameter : computation_->parameters()) parameters.push_back(name(parameter));
    std::string text =
        fmt::format("def {}({}):  # {}\n", function_name(c), fmt::join(parameters, ", "), computation_->name);
    for (hlo::InstructionIndex i = 0; i < computation_->instructions.size(); ++i) {
      const Instruction& instruction = computation_->instructions[i];
      if (instruction.opcode == Opcode::Parameter) continue;
      SAPPER_TRY(const std::string expression, expression_of(instruction));
      text += fmt::format("    {} = {}  # {}\n", name(i), expression, instruction.name);
    }
    return text + fmt::format("    return {}\n", name(computation_->root));
  }

  static std::string name(hlo::InstructionIndex i) { return fmt::format("v{}", i); }

  [[nodiscard]] const Shape& operand_shape(const Instruction& instruction, size_t k) const {
    return computation_->instructions[instruction.operands[k]].shape;
  }

  // Lists the operands from `first` on.
  static std::vector<std::string> names(const Instruction& instruction, size_t first = 0, size_t end = SIZE_MAX) {
    std::vector<std::string> all;
    for (size_t k = first; k < std::min(end, instruction.operands.size()); ++k)
      all.push_back(name(instruction.operands[k]));
    return all;
  }

  static tl::unexpected<Error> unsupported(const Instruction& instruction, const char* what) {
    return fail(hlo::error_at(
        ErrorKind::Unsupported, instruction,
        fmt::format("{}: jax.lax has no {}; --as cpp takes every program", to_string(instruction.opcode), what)));
  }

  Result<std::string> expression_of(const Instruction& it) {
    for (const Plain& one : plain) {
      if (one.opcode != it.opcode) continue;
      std::vector<std::string> operands = names(it);
      operands.resize(3);
      return fmt::format(fmt::runtime(one.python), operands[0], operands[1], operands[2]);
    }
    const auto& attributes = it.attributes();
    const std::vector<std::string> operands = names(it);
    switch (it.opcode) {
      case Opcode::Constant:
        if (!it.literal || !it.literal->shape().is_array()) return unsupported(it, "constant like this");
        return constant(*it.literal);
      case Opcode::Iota:
        return fmt::format("lax.broadcasted_iota({}, {}, {})", jax_dtype(it.shape.element_type()), shape_text(it.shape),
                           it.dimensions[0]);
      case Opcode::Convert:
        if (it.shape.element_type() == ElementType::Pred)
          return fmt::format("lax.ne({0}, lax.full_like({0}, 0))", operands[0]);
        return fmt::format("lax.convert_element_type({}, {})", operands[0], jax_dtype(it.shape.element_type()));
      case Opcode::BitcastConvert:
        return fmt::format("lax.bitcast_convert_type({}, {})", operands[0], jax_dtype(it.shape.element_type()));
      case Opcode::ReducePrecision:
        return fmt::format("lax.reduce_precision({}, {}, {})", operands[0], attributes.exponent_bits(),
                           attributes.mantissa_bits());
      case Opcode::Compare: return compare(it);
      case Opcode::Broadcast:
        return fmt::format("lax.broadcast_in_dim({}, {}, {})", operands[0], shape_text(it.shape), tuple(it.dimensions));
      case Opcode::Bitcast:
        if (operand_shape(it, 0).element_type() != it.shape.element_type()) return unsupported(it, "bitcast of types");
        [[fallthrough]];
      case Opcode::Reshape: return fmt::format("lax.reshape({}, {})", operands[0], shape_text(it.shape));
      case Opcode::Transpose: return fmt::format("lax.transpose({}, {})", operands[0], tuple(it.dimensions));
      case Opcode::Reverse: return fmt::format("lax.rev({}, {})", operands[0], tuple(it.dimensions));
      case Opcode::Concatenate:
        return fmt::format("lax.concatenate([{}], {})", fmt::join(operands, ", "), it.dimensions[0]);
      case Opcode::Slice: return slice(it);
      case Opcode::Pad: return pad(it);
      case Opcode::DynamicSlice:
        return fmt::format("lax.dynamic_slice_p.bind({}, slice_sizes={})", fmt::join(operands, ", "),
                           shape_text(it.shape));
      case Opcode::DynamicUpdateSlice:
        return fmt::format("lax.dynamic_update_slice_p.bind({})", fmt::join(operands, ", "));
      case Opcode::Dot: return dot(it);
      case Opcode::Convolution: return convolution(it);
      case Opcode::Gather: return gather(it);
      case Opcode::Scatter: return scatter(it);
      case Opcode::Reduce: return reduce(it);
      case Opcode::ReduceWindow: return reduce_window(it);
      case Opcode::Sort: return sort(it);
      case Opcode::Tuple: return tuple(operands);
      case Opcode::GetTupleElement: return fmt::format("{}[{}]", operands[0], it.tuple_index);
      case Opcode::Call:
      case Opcode::Fusion: return fmt::format("{}({})", function_name(it.called[0]), fmt::join(operands, ", "));
      case Opcode::While:
        return fmt::format("lax.while_loop({}, {}, {})", function_name(it.called[1]), function_name(it.called[0]),
                           operands[0]);
      case Opcode::Conditional: return conditional(it);
      case Opcode::Map:
        for (const Instruction& inner : module_.computations[it.called[0]].instructions)
          if (inner.opcode == Opcode::Constant) return unsupported(it, "map with constants in it");
        return fmt::format("{}({})", function_name(it.called[0]), fmt::join(operands, ", "));
      case Opcode::Cholesky: return fmt::format("lax.linalg.cholesky({}, symmetrize_input=False)", operands[0]);
      default: return unsupported(it, "such operation");
    }
  }

  Result<std::string> compare(const Instruction& it) {
    static const std::map<std::string, const char*> functions{{"EQ", "eq"}, {"NE", "ne"}, {"LT", "lt"},
                                                              {"LE", "le"}, {"GT", "gt"}, {"GE", "ge"}};
    if (it.attributes().comparison_type() == "TOTALORDER") return unsupported(it, "comparison by total order");
    return fmt::format("lax.{}({})", functions.at(it.attributes().comparison_direction()), fmt::join(names(it), ", "));
  }

  Result<std::string> slice(const Instruction& it) {
    std::vector<int64_t> starts;
    std::vector<int64_t> limits;
    std::vector<int64_t> strides;
    for (const auto& one : it.attributes().slice_dimensions()) {
      starts.push_back(one.start());
      limits.push_back(one.limit());
      strides.push_back(std::max<int64_t>(1, one.stride()));
    }
    return fmt::format("lax.slice({}, {}, {}, {})", names(it)[0], tuple(starts), tuple(limits), tuple(strides));
  }

  Result<std::string> pad(const Instruction& it) {
    std::vector<std::string> config;
    for (const auto& one : it.attributes().padding_config().dimensions())
      config.push_back(
          fmt::format("({}, {}, {})", one.edge_padding_low(), one.edge_padding_high(), one.interior_padding()));
    return fmt::format("lax.pad({}, {})", fmt::join(names(it), ", "), tuple(config));
  }

  Result<std::string> dot(const Instruction& it) {
    const auto& numbers = it.attributes().dot_dimension_numbers();
    return fmt::format("lax.dot_general({}, (({}, {}), ({}, {})), precision={}, preferred_element_type={})",
                       fmt::join(names(it), ", "), tuple(numbers.lhs_contracting_dimensions()),
                       tuple(numbers.rhs_contracting_dimensions()), tuple(numbers.lhs_batch_dimensions()),
                       tuple(numbers.rhs_batch_dimensions()), precision(it), jax_dtype(it.shape.element_type()));
  }

  static std::string precision(const Instruction& it) {
    const auto& config = it.attributes().precision_config();
    if (config.operand_precision_size() == 0) return "None";
    constexpr const char* names[] = {"DEFAULT", "HIGH", "HIGHEST"};
    const int one = std::clamp(static_cast<int>(config.operand_precision(0)), 0, 2);
    return fmt::format("lax.Precision.{}", names[one]);
  }

  // A window's numbers over the dimensions.
  struct WindowText {
    std::string sizes, strides, padding, base_dilation, window_dilation;
  };
  Result<WindowText> window(const Instruction& it) {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    std::vector<int64_t> base;
    std::vector<int64_t> dilation;
    std::vector<std::string> padding;
    for (const auto& one : it.attributes().window().dimensions()) {
      if (one.window_reversal()) return unsupported(it, "reversed window");
      sizes.push_back(one.size());
      strides.push_back(std::max<int64_t>(1, one.stride()));
      base.push_back(std::max<int64_t>(1, one.base_dilation()));
      dilation.push_back(std::max<int64_t>(1, one.window_dilation()));
      padding.push_back(fmt::format("({}, {})", one.padding_low(), one.padding_high()));
    }
    return WindowText{tuple(sizes), tuple(strides), tuple(padding), tuple(base), tuple(dilation)};
  }

  Result<std::string> convolution(const Instruction& it) {
    SAPPER_TRY(const WindowText text, window(it));
    const auto& numbers = it.attributes().convolution_dimension_numbers();
    const auto spec = [](int64_t first, int64_t second, const auto& spatial) {
      std::vector<int64_t> all{first, second};
      all.insert(all.end(), spatial.begin(), spatial.end());
      return tuple(all);
    };
    return fmt::format(
        "lax.conv_general_dilated({}, {}, {}, {}, {}, lax.ConvDimensionNumbers({}, {}, {}), {}, {}, {}, {})",
        fmt::join(names(it), ", "), text.strides, text.padding, text.base_dilation, text.window_dilation,
        spec(numbers.input_batch_dimension(), numbers.input_feature_dimension(), numbers.input_spatial_dimensions()),
        spec(numbers.kernel_output_feature_dimension(), numbers.kernel_input_feature_dimension(),
             numbers.kernel_spatial_dimensions()),
        spec(numbers.output_batch_dimension(), numbers.output_feature_dimension(), numbers.output_spatial_dimensions()),
        std::max<int64_t>(1, it.attributes().feature_group_count()),
        std::max<int64_t>(1, it.attributes().batch_group_count()), precision(it), jax_dtype(it.shape.element_type()));
  }

  Result<std::string> gather(const Instruction& it) {
    const auto& numbers = it.attributes().gather_dimension_numbers();
    SAPPER_TRY(const std::string indices, vectors_last(it, numbers.index_vector_dim()));
    return fmt::format(
        "lax.gather({}, {}, lax.GatherDimensionNumbers({}, {}, {}, {}, {}), {}, indices_are_sorted={}, mode='clip')",
        names(it)[0], indices, tuple(numbers.offset_dims()), tuple(numbers.collapsed_slice_dims()),
        tuple(numbers.start_index_map()), tuple(numbers.operand_batching_dims()),
        tuple(numbers.start_indices_batching_dims()), tuple(it.attributes().gather_slice_sizes()),
        it.attributes().indices_are_sorted() ? "True" : "False");
  }

  // The indices with their vectors in the last dimension, as jax.lax wants them.
  Result<std::string> vectors_last(const Instruction& it, int64_t vector) {
    const Shape& indices = operand_shape(it, 1);
    const auto rank = static_cast<int64_t>(indices.rank());
    if (vector == rank - 1) return names(it)[1];
    if (vector != rank) return unsupported(it, "index vectors in another dimension than the last");
    std::vector<int64_t> dimensions = indices.dimensions();
    dimensions.push_back(1);
    return fmt::format("lax.reshape({}, {})", names(it)[1], tuple(dimensions));
  }

  Result<std::string> scatter(const Instruction& it) {
    static const std::map<Opcode, const char*> functions{{Opcode::Add, "scatter_add"},
                                                         {Opcode::Multiply, "scatter_mul"},
                                                         {Opcode::Minimum, "scatter_min"},
                                                         {Opcode::Maximum, "scatter_max"}};
    const Computation& body = module_.computations[it.called[0]];
    const auto operation = hlo::single_operation(body);
    const bool overwrites =
        body.root_instruction().opcode == Opcode::Parameter && body.root_instruction().parameter_number == 1;
    if (it.operands.size() != 3 || (!overwrites && (!operation || !functions.contains(*operation))))
      return unsupported(it, "scatter that combines like this");
    const auto& numbers = it.attributes().scatter_dimension_numbers();
    SAPPER_TRY(const std::string indices, vectors_last(it, numbers.index_vector_dim()));
    return fmt::format(
        "lax.{}({}, {}, {}, lax.ScatterDimensionNumbers({}, {}, {}, {}, {}), indices_are_sorted={}, unique_indices={}, "
        "mode=lax.GatherScatterMode.FILL_OR_DROP)",
        overwrites ? "scatter" : functions.at(*operation), names(it)[0], indices, names(it)[2],
        tuple(numbers.update_window_dims()), tuple(numbers.inserted_window_dims()),
        tuple(numbers.scatter_dims_to_operand_dims()), tuple(numbers.input_batching_dims()),
        tuple(numbers.scatter_indices_batching_dims()), it.attributes().indices_are_sorted() ? "True" : "False",
        it.attributes().unique_indices() ? "True" : "False");
  }

  Result<std::string> reduce(const Instruction& it) {
    const size_t count = it.operands.size() / 2;
    if (count == 1)
      return fmt::format("lax.reduce({}, {}, {}, {})", names(it)[0], names(it)[1], function_name(it.called[0]),
                         tuple(it.dimensions));
    return fmt::format("tuple(lax.reduce({}, {}, lambda a, b: {}(*a, *b), {}))", tuple(names(it, 0, count)),
                       tuple(names(it, count)), function_name(it.called[0]), tuple(it.dimensions));
  }

  Result<std::string> reduce_window(const Instruction& it) {
    if (it.operands.size() != 2) return unsupported(it, "reduce-window of several arrays");
    SAPPER_TRY(const WindowText text, window(it));
    return fmt::format("lax.reduce_window({}, {}, {}, {}, {}, {}, {}, {})", names(it)[0], names(it)[1],
                       function_name(it.called[0]), text.sizes, text.strides, text.padding, text.base_dilation,
                       text.window_dilation);
  }

  Result<std::string> sort(const Instruction& it) {
    const Computation& body = module_.computations[it.called[0]];
    const Instruction& root = body.root_instruction();
    const auto is_parameter = [&](size_t k, int64_t wanted) {
      const Instruction& operand = body.instructions[root.operands[k]];
      return operand.opcode == Opcode::Parameter && operand.parameter_number == wanted;
    };
    const bool ascending = root.opcode == Opcode::Compare && root.attributes().comparison_direction() == "LT" &&
                           is_parameter(0, 0) && is_parameter(1, 1);
    if (!ascending || hlo::is_float(operand_shape(it, 0).element_type()))
      return unsupported(it, "sort by such a comparator");
    const std::string sorted = fmt::format("lax.sort({}, dimension={}, is_stable={}, num_keys=1)", tuple(names(it)),
                                           it.dimensions[0], it.attributes().is_stable() ? "True" : "False");
    return it.operands.size() == 1 ? sorted + "[0]" : "tuple(" + sorted + ")";
  }

  Result<std::string> conditional(const Instruction& it) {
    std::vector<std::string> branches;
    for (size_t k = 0; k < it.called.size(); ++k)
      branches.push_back(fmt::format("lambda: {}({})", function_name(it.called[k]), name(it.operands[k + 1])));
    if (operand_shape(it, 0).element_type() == ElementType::Pred)
      return fmt::format("lax.cond({}, {})", names(it)[0], fmt::join(branches, ", "));
    return unsupported(it, "conditional by an index (an index out of range takes another branch)");
  }

  const Module& module_;
  const Computation* computation_ = nullptr;
};

}  // namespace

std::string jax_dtype(ElementType type) {
  static const std::map<ElementType, const char*> names{
      {ElementType::Pred, "jnp.bool_"},
      {ElementType::S2, "jnp.int2"},
      {ElementType::S4, "jnp.int4"},
      {ElementType::S8, "jnp.int8"},
      {ElementType::S16, "jnp.int16"},
      {ElementType::S32, "jnp.int32"},
      {ElementType::S64, "jnp.int64"},
      {ElementType::U2, "jnp.uint2"},
      {ElementType::U4, "jnp.uint4"},
      {ElementType::U8, "jnp.uint8"},
      {ElementType::U16, "jnp.uint16"},
      {ElementType::U32, "jnp.uint32"},
      {ElementType::U64, "jnp.uint64"},
      {ElementType::F16, "jnp.float16"},
      {ElementType::BF16, "jnp.bfloat16"},
      {ElementType::F32, "jnp.float32"},
      {ElementType::F64, "jnp.float64"},
      {ElementType::C64, "jnp.complex64"},
      {ElementType::C128, "jnp.complex128"},
      {ElementType::F8E5M2, "jnp.float8_e5m2"},
      {ElementType::F8E4M3FN, "jnp.float8_e4m3fn"},
      {ElementType::F8E4M3B11FNUZ, "jnp.float8_e4m3b11fnuz"},
      {ElementType::F8E5M2FNUZ, "jnp.float8_e5m2fnuz"},
      {ElementType::F8E4M3FNUZ, "jnp.float8_e4m3fnuz"},
      {ElementType::F8E4M3, "jnp.float8_e4m3"},
      {ElementType::F8E3M4, "jnp.float8_e3m4"},
      {ElementType::F8E8M0FNU, "jnp.float8_e8m0fnu"},
      {ElementType::F4E2M1FN, "jnp.float4_e2m1fn"},
  };
  const auto name = names.find(type);
  return name == names.end() ? fmt::format("jnp.dtype('{}')", to_string(type)) : name->second;
}

Result<std::string> jax_program(const Module& module) { return Writer(module).run(); }

}  // namespace sapper::emit
