// Running what was compiled: literals to device buffers, execution, and back.
#include <algorithm>
#include <array>
#include <cstddef>

#include "target/pjrt.h"
#include "target/pjrt_args.h"

namespace sapper::target {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

struct TypePair {
  ElementType ours;
  PJRT_Buffer_Type theirs;
};

constexpr std::array types = {
    TypePair{ElementType::Pred, PJRT_Buffer_Type_PRED},
    TypePair{ElementType::S2, PJRT_Buffer_Type_S2},
    TypePair{ElementType::S4, PJRT_Buffer_Type_S4},
    TypePair{ElementType::S8, PJRT_Buffer_Type_S8},
    TypePair{ElementType::S16, PJRT_Buffer_Type_S16},
    TypePair{ElementType::S32, PJRT_Buffer_Type_S32},
    TypePair{ElementType::S64, PJRT_Buffer_Type_S64},
    TypePair{ElementType::U2, PJRT_Buffer_Type_U2},
    TypePair{ElementType::U4, PJRT_Buffer_Type_U4},
    TypePair{ElementType::U8, PJRT_Buffer_Type_U8},
    TypePair{ElementType::U16, PJRT_Buffer_Type_U16},
    TypePair{ElementType::U32, PJRT_Buffer_Type_U32},
    TypePair{ElementType::U64, PJRT_Buffer_Type_U64},
    TypePair{ElementType::F16, PJRT_Buffer_Type_F16},
    TypePair{ElementType::F32, PJRT_Buffer_Type_F32},
    TypePair{ElementType::F64, PJRT_Buffer_Type_F64},
    TypePair{ElementType::BF16, PJRT_Buffer_Type_BF16},
    TypePair{ElementType::C64, PJRT_Buffer_Type_C64},
    TypePair{ElementType::C128, PJRT_Buffer_Type_C128},
    TypePair{ElementType::F8E5M2, PJRT_Buffer_Type_F8E5M2},
    TypePair{ElementType::F8E4M3FN, PJRT_Buffer_Type_F8E4M3FN},
    TypePair{ElementType::F8E4M3B11FNUZ, PJRT_Buffer_Type_F8E4M3B11FNUZ},
    TypePair{ElementType::F8E5M2FNUZ, PJRT_Buffer_Type_F8E5M2FNUZ},
    TypePair{ElementType::F8E4M3FNUZ, PJRT_Buffer_Type_F8E4M3FNUZ},
    TypePair{ElementType::F8E4M3, PJRT_Buffer_Type_F8E4M3},
    TypePair{ElementType::F8E3M4, PJRT_Buffer_Type_F8E3M4},
    TypePair{ElementType::F8E8M0FNU, PJRT_Buffer_Type_F8E8M0FNU},
    TypePair{ElementType::F4E2M1FN, PJRT_Buffer_Type_F4E2M1FN},
    TypePair{ElementType::Token, PJRT_Buffer_Type_TOKEN},
};

// A device buffer, freed at the end of its life.
class Buffer {
 public:
  Buffer(const Plugin& plugin, PJRT_Buffer* buffer) : plugin_(&plugin), buffer_(buffer) {}
  Buffer(Buffer&& other) noexcept : plugin_(other.plugin_), buffer_(std::exchange(other.buffer_, nullptr)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (buffer_ == nullptr) return;
    auto args = pjrt_args<PJRT_Buffer_Destroy_Args>();
    args.buffer = buffer_;
    (void)plugin_->check(plugin_->api().PJRT_Buffer_Destroy(&args));
  }

  [[nodiscard]] static Result<Buffer> from_literal(const Plugin& plugin, PJRT_Client* client, PJRT_Device* device,
                                                   const Literal& literal);
  // Row-major.
  [[nodiscard]] Result<Literal> to_literal() const;
  [[nodiscard]] PJRT_Buffer* get() const { return buffer_; }

 private:
  [[nodiscard]] Result<Shape> shape() const;
  const Plugin* plugin_;
  PJRT_Buffer* buffer_;
};

Result<Buffer> Buffer::from_literal(const Plugin& plugin, PJRT_Client* client, PJRT_Device* device,
                                    const Literal& literal) {
  const Shape& shape = literal.shape();
  const auto* type = std::ranges::find(types, shape.element_type(), &TypePair::ours);
  if (!shape.is_array() || type == types.end() || !literal.dynamic_sizes().empty())
    return fail(ErrorKind::Unsupported, "a value of shape {} cannot be passed to a PJRT plugin", shape.to_text(false));
  auto args = pjrt_args<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client;
  args.device = device;
  args.data = literal.bytes().data();
  args.type = type->theirs;
  args.dims = shape.dimensions().data();
  args.num_dims = shape.rank();
  args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
  SAPPER_CHECKED(plugin.check(plugin.api().PJRT_Client_BufferFromHostBuffer(&args)));
  Buffer buffer(plugin, args.buffer);
  SAPPER_CHECKED(plugin.await(args.done_with_host_buffer));
  return buffer;
}

Result<Shape> Buffer::shape() const {
  const PJRT_Api& api = plugin_->api();
  auto type_args = pjrt_args<PJRT_Buffer_ElementType_Args>();
  type_args.buffer = buffer_;
  SAPPER_CHECKED(plugin_->check(api.PJRT_Buffer_ElementType(&type_args)));
  const auto* type = std::ranges::find(types, type_args.type, &TypePair::theirs);
  if (type == types.end())
    return fail(ErrorKind::Unsupported, "an output has element type {} of PJRT, which sapper cannot read",
                static_cast<int>(type_args.type));
  if (type->ours == ElementType::Token) return Shape::token();

  auto dynamic = pjrt_args<PJRT_Buffer_DynamicDimensionIndices_Args>();
  dynamic.buffer = buffer_;
  SAPPER_CHECKED(plugin_->check(api.PJRT_Buffer_DynamicDimensionIndices(&dynamic)));
  if (dynamic.num_dynamic_dims != 0)
    return fail(ErrorKind::Unsupported, "an output has a dynamic shape, which sapper does not read from a device");
  auto dimensions = pjrt_args<PJRT_Buffer_Dimensions_Args>();
  dimensions.buffer = buffer_;
  SAPPER_CHECKED(plugin_->check(api.PJRT_Buffer_Dimensions(&dimensions)));
  return Shape::array(type->ours, {dimensions.dims, dimensions.dims + dimensions.num_dims});
}

// A literal holds sub-byte elements a byte each, extended; what XLA leaves in the upper bits is not defined.
void extend_narrow_elements(Literal& literal) {
  const ElementType type = literal.shape().element_type();
  const int unused = 8 - hlo::bit_width(type);
  if (unused <= 0) return;
  const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
  for (std::byte& element : literal.mutable_bytes()) {
    const auto high = static_cast<uint8_t>(std::to_integer<unsigned>(element) << unused);
    element = static_cast<std::byte>(is_signed ? static_cast<int8_t>(high) >> unused : high >> unused);
  }
}

Result<Literal> Buffer::to_literal() const {
  SAPPER_TRY(const Shape shape, this->shape());
  if (shape.is_token()) return Literal(shape);
  Literal literal = Literal::uninitialized(shape);
  std::vector<int64_t> minor_to_major(shape.rank());
  for (size_t i = 0; i < shape.rank(); ++i) minor_to_major[i] = static_cast<int64_t>(shape.rank() - 1 - i);
  auto layout = pjrt_args<PJRT_Buffer_MemoryLayout>();
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = pjrt_args<PJRT_Buffer_MemoryLayout_Tiled>();
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();

  auto args = pjrt_args<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer_;
  args.host_layout = &layout;
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Buffer_ToHostBuffer(&args)));  // the size
  if (args.dst_size > literal.bytes().size())
    return fail(ErrorKind::Unsupported, "an output of shape {} takes {} bytes on the host, not {}",
                shape.to_text(false), args.dst_size, literal.bytes().size());
  args.dst = literal.mutable_bytes().data();
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_Buffer_ToHostBuffer(&args)));
  SAPPER_CHECKED(plugin_->await(args.event));
  extend_narrow_elements(literal);
  return literal;
}

}  // namespace

Result<std::vector<Literal>> Device::execute(const Executable& executable, std::span<const Literal> arguments) const {
  std::vector<Buffer> inputs;
  std::vector<PJRT_Buffer*> input_handles;
  for (const Literal& argument : arguments) {
    SAPPER_TRY(Buffer buffer, Buffer::from_literal(*plugin_, client_, device_, argument));
    input_handles.push_back(buffer.get());
    inputs.push_back(std::move(buffer));
  }

  SAPPER_TRY(const size_t output_count, executable.output_count());
  std::vector<PJRT_Buffer*> output_handles(output_count);
  PJRT_Buffer* const* input_list = input_handles.data();
  PJRT_Buffer** output_list = output_handles.data();
  PJRT_Event* done = nullptr;
  auto options = pjrt_args<PJRT_ExecuteOptions>();
  auto args = pjrt_args<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable.loaded();
  args.options = &options;
  args.argument_lists = &input_list;
  args.num_devices = 1;
  args.num_args = input_handles.size();
  args.output_lists = &output_list;
  args.device_complete_events = &done;
  SAPPER_CHECKED(plugin_->check(plugin_->api().PJRT_LoadedExecutable_Execute(&args)));
  std::vector<Buffer> outputs;
  outputs.reserve(output_handles.size());
  for (PJRT_Buffer* handle : output_handles) outputs.emplace_back(*plugin_, handle);
  SAPPER_CHECKED(plugin_->await(done));

  std::vector<Literal> values;
  for (const Buffer& output : outputs) {
    SAPPER_TRY(Literal value, output.to_literal());
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace sapper::target
