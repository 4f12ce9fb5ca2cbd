#include "hlo/instruction_hash.h"

#include "hlo/message_hash.h"

namespace sapper::hlo {
namespace {

enum Domain : uint64_t { AttributesDomain = 18, ShapeDomain = 20, LiteralDomain };

void add_layout(const Layout& layout, Hasher& hasher) {
  hasher.add_all(layout.minor_to_major).add(static_cast<uint64_t>(layout.tiles.size()));
  for (const Tile& tile : layout.tiles) hasher.add_all(tile.dimensions);
  hasher.add(static_cast<uint64_t>(layout.element_size_in_bits))
      .add(static_cast<uint64_t>(layout.memory_space))
      .add(static_cast<uint64_t>(layout.tail_padding_alignment_in_elements))
      .add(static_cast<uint64_t>(layout.index_primitive_type))
      .add(static_cast<uint64_t>(layout.pointer_primitive_type))
      .add_all(layout.dim_level_types)
      .add_all(layout.dim_unique)
      .add_all(layout.dim_ordered)
      .add(static_cast<uint64_t>(layout.split_configs.size()));
  for (const SplitConfig& split : layout.split_configs)
    hasher.add(static_cast<uint64_t>(split.dimension)).add_all(split.split_indices);
  if (layout.physical_shape) add_shape(*layout.physical_shape, hasher);
  hasher.add(static_cast<uint64_t>(layout.dynamic_shape_metadata_prefix_bytes)).add(layout.unknown_fields);
}

// The trivial layout of a scalar says nothing: HLO text leaves it out.
bool says_nothing(const Shape& shape) {
  return shape.layout() == nullptr || (shape.rank() == 0 && *shape.layout() == Layout{});
}

// The hash of attributes that say nothing, which is that of an instruction without any.
Hash nothing() { return Hasher(AttributesDomain).add(Hash{}).add(Hash{}).add(Hash{}).add(std::string_view()).get(); }

}  // namespace

void add_shape(const Shape& shape, Hasher& hasher) {
  hasher.add(static_cast<uint64_t>(shape.element_type())).add_all(shape.dimensions());
  if (shape.is_array() && shape.is_dynamic())
    for (size_t i = 0; i < shape.rank(); ++i) hasher.add(shape.is_dynamic(i) ? 2U : 1U);
  hasher.add(static_cast<uint64_t>(shape.elements().size()));
  for (const Shape& element : shape.elements()) add_shape(element, hasher);
  if (says_nothing(shape)) {
    hasher.add(uint64_t{0});
  } else {
    add_layout(*shape.layout(), hasher.add(uint64_t{1}));
  }
}

Hash hash_shape(const Shape& shape) {
  Hasher hasher(ShapeDomain);
  add_shape(shape, hasher);
  return hasher.get();
}

Hash hash_literal(const Literal& literal) {
  Hasher hasher(LiteralDomain);
  add_shape(literal.shape(), hasher);
  hasher.add_bytes(literal.bytes()).add_all(literal.dynamic_sizes());
  for (const Literal& element : literal.elements()) hasher.add(hash_literal(element));
  return hasher.get();
}

Hash hash_attributes(const Module& module, const Attributes& attributes) {
  Hasher hasher(AttributesDomain);
  hasher.add(hash_message(attributes)).add(hash_unknown_fields(attributes.shape()));
  hasher.add(hash_unknown_fields(attributes.literal()));
  // A backend config may lie among the module's payloads.
  const proto::Payload& payload = attributes.backend_config_payload();
  const bool is_stored = payload.payload_source_case() == proto::Payload::kId && payload.id() >= 0 &&
                         payload.id() < module.attributes.payloads_size();
  hasher.add(is_stored ? module.attributes.payloads(static_cast<int>(payload.id())) : payload.value());
  const Hash hash = hasher.get();
  return hash == nothing() ? Hash{} : hash;
}

}  // namespace sapper::hlo
