// Tiled layouts: a tile T(a,b) splits each of the most minor dimensions d into ceil(d / tile) tiles and the positions
// within one, positions more minor than tiles; further tiles split the result again. Elements of fewer than 8 bits, or
// of more than one per byte, are packed from the low bits up. 64-bit numbers are two arrays of words one after the
// other: the low halves of integers first, the real parts of c64, the leading halves of f64, which is a pair of f32
// (what the kernels of X64SplitLow, X64SplitHigh and X64Combine copy).
#include "llo/tiling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "base/assert.h"
#include "llo/memory.h"
#include "numerics/float_pair.h"

namespace sapper::llo {
namespace {

using hlo::ElementType;
using Index = std::vector<int64_t>;

// A bijection of the elements to positions in memory, with holes (padding) in between.
struct Tiling {
  std::vector<int64_t> order;    // logical dimensions from major to minor
  std::vector<hlo::Tile> tiles;  // each as deep as applied
  std::vector<Index> extents;    // of the physical array before each tile, and after the last
  int64_t positions = 1;         // elements with padding
  int bits = 0;                  // of an element, or of its half
  bool halves = false;           // 64-bit elements, in two planes
  std::vector<int64_t> logical_extents;

  [[nodiscard]] int64_t position(const Index& logical) const;
  [[nodiscard]] std::optional<Index> logical(int64_t position) const;
};

Result<int> element_bits(const hlo::Shape& shape) {
  const ElementType type = shape.element_type();
  const int stored = 8 * hlo::host_bytes(type);
  if (stored > 64) {
    return fail(ErrorKind::Unsupported, "{}: no layout of {} in TPU memory is modelled", shape.to_text(),
                hlo::to_string(type));
  }
  const int64_t stated = shape.layout() != nullptr ? shape.layout()->element_size_in_bits : 0;
  if (stated == 0) return stored;
  if (stated == stored || stated == hlo::bit_width(type) || (stated == 1 && type == ElementType::Pred)) {
    return static_cast<int>(stated);
  }
  return fail(ErrorKind::Unsupported, "{}: elements of {} bits", shape.to_text(), stated);
}

Result<Tiling> tiling_of(const hlo::Shape& shape) {
  if (!shape.is_array()) return fail(ErrorKind::Unsupported, "{}: only arrays lie in memory", shape.to_text());
  if (shape.is_dynamic()) return fail(ErrorKind::Unsupported, "{}: dynamic dimensions in memory", shape.to_text());
  Tiling tiling;
  SAPPER_TRY(tiling.bits, element_bits(shape));
  if (tiling.bits == 64) {
    tiling.halves = true;
    tiling.bits = 32;
  }
  tiling.logical_extents = shape.dimensions();
  const hlo::Layout* layout = shape.layout();
  const hlo::Layout plain = hlo::Layout::descending(shape.rank());
  if (layout == nullptr) layout = &plain;
  if (!layout->split_configs.empty() || layout->physical_shape || layout->dynamic_shape_metadata_prefix_bytes != 0) {
    return fail(ErrorKind::Unsupported, "{}: this layout is not modelled", shape.to_text());
  }
  SAPPER_ASSERT(layout->minor_to_major.size() == shape.rank());
  tiling.order.assign(layout->minor_to_major.rbegin(), layout->minor_to_major.rend());
  Index extent;
  for (const int64_t dimension : tiling.order) extent.push_back(shape.dimension(static_cast<size_t>(dimension)));
  for (const hlo::Tile& tile : layout->tiles) {
    const size_t depth = tile.dimensions.size();
    if (std::ranges::any_of(tile.dimensions, [](int64_t size) { return size <= 0; })) {
      return fail(ErrorKind::Unsupported, "{}: a tile that combines dimensions", shape.to_text());
    }
    constexpr int64_t largest_tile = 1 << 16;  // in one dimension; TPUs have tiles of thousands of elements
    if (std::ranges::any_of(tile.dimensions, [](int64_t size) { return size > largest_tile; })) {
      return fail(ErrorKind::Unsupported, "{}: a tile larger than any TPU's", shape.to_text());
    }
    // A tile deeper than the array sees more major dimensions of size one.
    if (extent.size() < depth) extent.insert(extent.begin(), depth - extent.size(), 1);
    tiling.tiles.push_back(tile);
    tiling.extents.push_back(extent);
    for (size_t i = 0; i < depth; ++i) {
      int64_t& whole = extent[extent.size() - depth + i];
      whole = (whole + tile.dimensions[i] - 1) / tile.dimensions[i];
    }
    extent.insert(extent.end(), tile.dimensions.begin(), tile.dimensions.end());
  }
  tiling.extents.push_back(extent);
  constexpr int64_t limit = int64_t{1} << 40;
  for (const int64_t size : extent) {
    if (size != 0 && tiling.positions > limit / size) {
      return fail(ErrorKind::Resource, "{} is too large for TPU memory", shape.to_text());
    }
    tiling.positions *= size;
  }
  const int64_t alignment = std::max<int64_t>(1, layout->tail_padding_alignment_in_elements);
  if (alignment > limit) return fail(ErrorKind::Resource, "{} is too large for TPU memory", shape.to_text());
  tiling.positions = (tiling.positions + alignment - 1) / alignment * alignment;
  return tiling;
}

int64_t Tiling::position(const Index& logical) const {
  Index index;
  for (const int64_t dimension : order) index.push_back(logical[static_cast<size_t>(dimension)]);
  for (size_t level = 0; level < tiles.size(); ++level) {
    index.insert(index.begin(), extents[level].size() - index.size(), 0);
    const std::vector<int64_t>& tile = tiles[level].dimensions;
    const size_t first = index.size() - tile.size();
    for (size_t i = 0; i < tile.size(); ++i) {
      index.push_back(index[first + i] % tile[i]);
      index[first + i] /= tile[i];
    }
  }
  int64_t result = 0;
  for (size_t i = 0; i < index.size(); ++i) result = result * extents.back()[i] + index[i];
  return result;
}

std::optional<Index> Tiling::logical(int64_t position) const {
  Index index(extents.back().size());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = position % extents.back()[i];
    position /= extents.back()[i];
  }
  if (position != 0) return std::nullopt;  // padding at the tail
  for (size_t level = tiles.size(); level-- > 0;) {
    const std::vector<int64_t>& tile = tiles[level].dimensions;
    const size_t first = index.size() - 2 * tile.size();
    for (size_t i = 0; i < tile.size(); ++i) {
      int64_t& whole = index[first + i];
      whole = whole * tile[i] + index[first + tile.size() + i];
      if (whole >= extents[level][first + i]) return std::nullopt;
    }
    index.resize(index.size() - tile.size());
    // Dimensions of size one that only the tile saw.
    const size_t stated = level > 0 ? extents[level - 1].size() + tiles[level - 1].dimensions.size() : order.size();
    index.erase(index.begin(), index.begin() + static_cast<int64_t>(index.size() - stated));
  }
  Index result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = index[i];
  return result;
}

// What position a coordinate adds, by dimension: tiles split each dimension by itself, so that positions are sums.
std::vector<Index> position_tables(const Tiling& tiling) {
  std::vector<Index> tables;
  Index index(tiling.logical_extents.size(), 0);
  for (size_t dimension = 0; dimension < index.size(); ++dimension) {
    Index& table = tables.emplace_back();
    for (int64_t i = 0; i < tiling.logical_extents[dimension]; ++i) {
      index[dimension] = i;
      table.push_back(tiling.position(index));
    }
    index[dimension] = 0;
  }
  return tables;
}

// Calls visit(element, position) for every element in row-major order.
template <class Visit>
void for_each_position(const Tiling& tiling, int64_t elements, const Visit& visit) {
  if (elements == 0) return;
  const std::vector<Index> tables = position_tables(tiling);
  if (tables.empty()) return visit(int64_t{0}, int64_t{0});
  const Index& row = tables.back();
  Index index(tables.size() - 1, 0);
  for (int64_t element = 0; element < elements;) {
    int64_t start = 0;
    for (size_t i = 0; i < index.size(); ++i) start += tables[i][static_cast<size_t>(index[i])];
    for (const int64_t offset : row) visit(element++, start + offset);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < tiling.logical_extents[i]) break;
      index[i] = 0;
    }
  }
}

// Of all elements, or of their low halves.
uint64_t plane_bytes(const Tiling& tiling) {
  return (static_cast<uint64_t>(tiling.positions) * static_cast<uint64_t>(tiling.bits) + 7) / 8;
}

uint64_t byte_size(const Tiling& tiling) { return plane_bytes(tiling) * (tiling.halves ? 2 : 1); }

template <class T>
void scatter(const Tiling& tiling, const hlo::Literal& value, std::span<std::byte> memory,
             std::span<std::byte> written) {
  const T* elements = value.data<T>().data();
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    std::memcpy(memory.data() + position * static_cast<int64_t>(sizeof(T)), elements + element, sizeof(T));
    if (!written.empty()) std::memset(written.data() + position * static_cast<int64_t>(sizeof(T)), 0xff, sizeof(T));
  });
}

template <class T>
void gather(const Tiling& tiling, std::span<const std::byte> memory, hlo::Literal& value) {
  T* elements = value.mutable_data<T>().data();
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    std::memcpy(elements + element, memory.data() + position * static_cast<int64_t>(sizeof(T)), sizeof(T));
  });
}

using Halves = std::array<uint32_t, 2>;
constexpr size_t half_bytes = sizeof(uint32_t);

Halves halves_of(ElementType type, const std::byte* element) {
  if (type != ElementType::F64) {
    Halves halves;
    std::memcpy(halves.data(), element, sizeof halves);
    return halves;
  }
  double number = 0;
  std::memcpy(&number, element, sizeof number);
  const auto [leading, rest] = numerics::as_pair(number);
  return {std::bit_cast<uint32_t>(leading), std::bit_cast<uint32_t>(rest)};
}

void put_together(ElementType type, const Halves& halves, std::byte* element) {
  if (type != ElementType::F64) {
    std::memcpy(element, halves.data(), sizeof halves);
    return;
  }
  const double number = numerics::number_of({std::bit_cast<float>(halves[0]), std::bit_cast<float>(halves[1])});
  std::memcpy(element, &number, sizeof number);
}

void scatter_halves(const Tiling& tiling, const hlo::Literal& value, std::span<std::byte> memory,
                    std::span<std::byte> written) {
  const std::byte* elements = value.bytes().data();
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    const Halves halves =
        halves_of(value.shape().element_type(), elements + 2 * static_cast<size_t>(element) * half_bytes);
    for (size_t half = 0; half < 2; ++half) {
      const size_t at = half * plane_bytes(tiling) + static_cast<size_t>(position) * half_bytes;
      std::memcpy(memory.data() + at, &halves[half], half_bytes);
      if (!written.empty()) std::memset(written.data() + at, 0xff, half_bytes);
    }
  });
}

void gather_halves(const Tiling& tiling, std::span<const std::byte> memory, hlo::Literal& value) {
  std::byte* elements = value.mutable_bytes().data();
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    Halves halves;
    for (size_t half = 0; half < 2; ++half)
      std::memcpy(&halves[half],
                  memory.data() + half * plane_bytes(tiling) + static_cast<size_t>(position) * half_bytes, half_bytes);
    put_together(value.shape().element_type(), halves, elements + 2 * static_cast<size_t>(element) * half_bytes);
  });
}

// Elements of 1, 2 or 4 bits, several in a byte.
void scatter_packed(const Tiling& tiling, const hlo::Literal& value, std::span<std::byte> memory,
                    std::span<std::byte> written) {
  const uint8_t* elements = value.data<uint8_t>().data();
  const auto mask = static_cast<uint8_t>((1U << tiling.bits) - 1);
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    const auto byte = static_cast<size_t>(position * tiling.bits / 8);
    const int shift = static_cast<int>(position * tiling.bits % 8);
    const auto place = static_cast<std::byte>(mask << shift);
    memory[byte] = (memory[byte] & ~place) | static_cast<std::byte>((elements[element] & mask) << shift);
    if (!written.empty()) written[byte] |= place;
  });
}

void gather_packed(const Tiling& tiling, std::span<const std::byte> memory, hlo::Literal& value) {
  uint8_t* elements = value.mutable_data<uint8_t>().data();
  const bool is_signed = hlo::element_class(value.shape().element_type()) == hlo::ElementClass::Signed;
  const unsigned sign = is_signed ? 1U << (tiling.bits - 1) : 0;
  for_each_position(tiling, value.element_count(), [&](int64_t element, int64_t position) {
    const auto byte = static_cast<unsigned>(memory[static_cast<size_t>(position * tiling.bits / 8)]);
    const unsigned bits = (byte >> (position * tiling.bits % 8)) & ((1U << tiling.bits) - 1);
    elements[element] = static_cast<uint8_t>((bits ^ sign) - sign);
  });
}

}  // namespace

Result<uint64_t> tiled_bytes(const hlo::Shape& shape) {
  SAPPER_TRY(const Tiling tiling, tiling_of(shape));
  return byte_size(tiling);
}

Status write_tiled(const hlo::Literal& value, const hlo::Shape& shape, std::span<std::byte> memory,
                   std::span<std::byte> written) {
  SAPPER_TRY(const Tiling tiling, tiling_of(shape));
  SAPPER_ASSERT(value.shape().same_ignoring_layout(shape) && memory.size() >= byte_size(tiling));
  SAPPER_ASSERT(written.empty() || written.size() >= byte_size(tiling));
  if (tiling.halves) {
    scatter_halves(tiling, value, memory, written);
  } else if (tiling.bits == 32) {
    scatter<uint32_t>(tiling, value, memory, written);
  } else if (tiling.bits == 16) {
    scatter<uint16_t>(tiling, value, memory, written);
  } else if (tiling.bits == 8) {
    scatter<uint8_t>(tiling, value, memory, written);
  } else {
    scatter_packed(tiling, value, memory, written);
  }
  return {};
}

Result<hlo::Literal> read_tiled(std::span<const std::byte> memory, const hlo::Shape& shape) {
  SAPPER_TRY(const Tiling tiling, tiling_of(shape));
  SAPPER_ASSERT(memory.size() >= byte_size(tiling));
  hlo::Literal value = hlo::Literal::uninitialized(shape);
  if (tiling.halves) {
    gather_halves(tiling, memory, value);
  } else if (tiling.bits == 32) {
    gather<uint32_t>(tiling, memory, value);
  } else if (tiling.bits == 16) {
    gather<uint16_t>(tiling, memory, value);
  } else if (tiling.bits == 8) {
    gather<uint8_t>(tiling, memory, value);
  } else {
    gather_packed(tiling, memory, value);
  }
  return value;
}

std::optional<int64_t> element_at(const hlo::Shape& shape, uint64_t byte, int bit) {
  const Result<Tiling> tiling = tiling_of(shape);
  if (!tiling || shape.element_count() == 0) return std::nullopt;
  if (tiling->halves && byte >= plane_bytes(*tiling)) byte -= plane_bytes(*tiling);
  const std::optional<Index> index = tiling->logical(
      static_cast<int64_t>((8 * byte + static_cast<uint64_t>(bit)) / static_cast<uint64_t>(tiling->bits)));
  if (!index) return std::nullopt;
  int64_t element = 0;
  for (size_t i = 0; i < index->size(); ++i) element = element * shape.dimension(i) + (*index)[i];
  return element;
}

Result<ElementRuns> element_runs(const hlo::Shape& shape) {
  SAPPER_TRY(const Tiling tiling, tiling_of(shape));
  if (tiling.halves || tiling.bits < 8)
    return fail(ErrorKind::Unsupported, "{}: its elements do not stand alone in lanes", shape.to_text());
  ElementRuns result{.per_word = 32 / tiling.bits};
  if (!tiling.order.empty())
    for (size_t i = static_cast<size_t>(tiling.order.back()) + 1; i < shape.rank(); ++i)
      result.stride *= shape.dimension(i);
  const int64_t per_row = int64_t{kRowWords} * result.per_word;
  result.runs.resize(static_cast<size_t>((tiling.positions + per_row - 1) / per_row * result.per_word));
  for_each_position(tiling, shape.element_count(), [&](int64_t element, int64_t position) {
    const int64_t piece = position % result.per_word;
    const int64_t lane = position / result.per_word % kRowWords;
    ElementRun& run = result.runs[static_cast<size_t>(position / per_row * result.per_word + piece)];
    if (lane == 0) run.base = element;
    const bool follows = run.count == lane && element == run.base + lane * result.stride;
    run.count = follows && run.count >= 0 ? static_cast<int>(lane) + 1 : -1;
  });
  return result;
}

}  // namespace sapper::llo
