#include "eval/bitcast.h"

#include <algorithm>
#include <cstring>

#include "eval/unwritten.h"

namespace sapper::eval {
namespace {

// A shape as its layout sees it: dimensions of more than one element from the most major to the most minor, and tiles.
struct Physical {
  std::vector<int64_t> logical;  // which dimension of the shape each is
  std::vector<int64_t> sizes;
  std::vector<hlo::Tile> tiles;
};

Physical physical(const hlo::Shape& shape) {
  Physical result;
  const hlo::Layout descending = hlo::Layout::descending(shape.rank());
  const bool stated = shape.layout() != nullptr && shape.layout()->minor_to_major.size() == shape.rank();
  const hlo::Layout& layout = stated ? *shape.layout() : descending;
  for (size_t i = shape.rank(); i-- > 0;) {
    const int64_t dimension = layout.minor_to_major[i];
    const int64_t size = shape.dimension(static_cast<size_t>(dimension));
    // Dimensions of one element move nothing, but hold their place where tiles count dimensions.
    if (size == 1 && layout.tiles.empty()) continue;
    result.logical.push_back(dimension);
    result.sizes.push_back(size);
  }
  result.tiles = layout.tiles;
  return result;
}

bool is_modelled(const hlo::Shape& shape) {
  if (shape.layout() == nullptr) return true;
  const hlo::Layout& layout = *shape.layout();
  const auto combines = [](const hlo::Tile& tile) {
    return std::any_of(tile.dimensions.begin(), tile.dimensions.end(), [](int64_t size) { return size <= 0; });
  };
  // 0 is the proto's number for a dense dimension.
  return std::none_of(layout.tiles.begin(), layout.tiles.end(), combines) &&
         std::all_of(layout.dim_level_types.begin(), layout.dim_level_types.end(), [](int type) { return type == 0; });
}

void add_leading_ones(std::vector<View::Dim>& dims, size_t rank) {
  while (dims.size() < rank) dims.insert(dims.begin(), View::Dim{1, 0});
}

// May tile `level` leave the padding of its most major dimension out? Then its tiles follow each other along that
// dimension, and the next level of tiles must not straddle them.
bool padding_only_at_end(const std::vector<hlo::Tile>& tiles, size_t level, std::span<const View::Dim> tiled) {
  const std::vector<int64_t>& tile = tiles[level].dimensions;
  for (size_t i = 1; i < tile.size(); ++i)
    if (tiled[i].size > tile[i]) return false;
  if (level + 1 == tiles.size()) return true;
  const std::vector<int64_t>& next = tiles[level + 1].dimensions;
  return level + 2 == tiles.size() && next.size() == tile.size() && tile[0] % next[0] == 0;
}

// The array in physical order as a view of its row-major form; nullopt when a tile does not divide its dimension in a
// way that matters.
std::optional<View> in_physical_order(const hlo::Shape& shape, const Physical& layout) {
  const View rows = View::of(shape.dimensions());
  View view;
  for (const int64_t dimension : layout.logical) view.dims.push_back(rows.dims[static_cast<size_t>(dimension)]);
  for (size_t level = 0; level < layout.tiles.size(); ++level) {
    const std::vector<int64_t>& tile = layout.tiles[level].dimensions;
    add_leading_ones(view.dims, tile.size());
    const size_t first = view.dims.size() - tile.size();
    const bool padded_end = padding_only_at_end(layout.tiles, level, std::span(view.dims).subspan(first));
    std::vector<View::Dim> inner;
    for (size_t i = 0; i < tile.size(); ++i) {
      View::Dim& dim = view.dims[first + i];
      if (dim.size <= tile[i] || (i == 0 && dim.size % tile[i] != 0 && padded_end)) {
        inner.push_back(dim);
        dim = {1, 0};
      } else if (dim.size % tile[i] == 0) {
        inner.push_back({tile[i], dim.stride});
        dim = {dim.size / tile[i], dim.stride * tile[i]};
      } else {
        return std::nullopt;
      }
    }
    view.dims.insert(view.dims.end(), inner.begin(), inner.end());
  }
  return view;
}

std::vector<int64_t> sizes_of(const View& view) {
  std::vector<int64_t> sizes;
  for (const View::Dim& dim : view.dims) sizes.push_back(dim.size);
  return sizes;
}

// Reads the row-major array back from what `order`, a view that is a permutation, reads.
View inverse(const View& order) {
  struct Piece {
    int64_t array_stride;  // unique among pieces of more than one element
    View::Dim dim;
  };
  const View rows = View::of(sizes_of(order));
  std::vector<Piece> pieces;
  for (size_t i = 0; i < order.dims.size(); ++i)
    if (order.dims[i].size > 1) pieces.push_back({order.dims[i].stride, {order.dims[i].size, rows.dims[i].stride}});
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.array_stride > b.array_stride; });
  View view;
  for (const Piece& piece : pieces) view.dims.push_back(piece.dim);
  return view;
}

// Do both have the same tiles over the same minor dimensions? Then the tiles order both alike.
bool same_tiling(const Physical& a, const Physical& b) {
  if (a.tiles != b.tiles) return false;
  size_t rank = 0;
  for (const hlo::Tile& tile : a.tiles) rank = std::max(rank, tile.dimensions.size());
  if (a.sizes.size() < rank || b.sizes.size() < rank) return false;
  return std::equal(a.sizes.end() - static_cast<int64_t>(rank), a.sizes.end(),
                    b.sizes.end() - static_cast<int64_t>(rank));
}

// The elements of `shape` in the order in which its layout lays them out.
struct Placed {
  uint64_t offset;   // in physical memory, padding counted; wraps for tiles of absurd size
  int64_t position;  // in the row-major array
};
std::vector<Placed> physical_order(const hlo::Shape& shape) {
  const Physical layout = physical(shape);
  const View rows = View::of(shape.dimensions());
  const int64_t count = shape.element_count();
  std::vector<Placed> placed;
  placed.reserve(static_cast<size_t>(count));
  std::vector<int64_t> index;
  std::vector<int64_t> sizes;
  for (int64_t position = 0; position < count; ++position) {
    index.clear();
    sizes = layout.sizes;
    for (const int64_t dimension : layout.logical) {
      const View::Dim& dim = rows.dims[static_cast<size_t>(dimension)];
      index.push_back(position / dim.stride % dim.size);
    }
    for (const hlo::Tile& tile : layout.tiles) {
      const size_t rank = tile.dimensions.size();
      while (index.size() < rank) {
        index.insert(index.begin(), 0);
        sizes.insert(sizes.begin(), 1);
      }
      const size_t first = index.size() - rank;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t size = tile.dimensions[i];
        index.push_back(index[first + i] % size);
        index[first + i] /= size;
        sizes[first + i] = (sizes[first + i] - 1) / size + 1;
        sizes.push_back(size);
      }
    }
    uint64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i)
      offset = offset * static_cast<uint64_t>(sizes[i]) + static_cast<uint64_t>(index[i]);
    placed.push_back({offset, position});
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  return placed;
}

// How many tiles `shape` has along dimension `d`, the `i`th from the most minor one; dimensions that no tile covers are
// their own tiles.
int64_t tiles_along(const hlo::Shape& shape, size_t i, size_t d) {
  const std::vector<int64_t>& tile = shape.layout()->tiles[0].dimensions;
  const int64_t unit = i < tile.size() ? tile[tile.size() - 1 - i] : 1;
  return (shape.dimension(d) + unit - 1) / unit;
}

// A smaller array in the place of a larger one, as the compiler writes it where only tile padding grows: the same
// layout, and every element at the place where the larger one has the element of the same index.
std::optional<View> leading_part(const hlo::Shape& larger, const hlo::Shape& smaller) {
  const size_t rank = smaller.rank();
  if (larger.rank() != rank || larger.layout() == nullptr || smaller.layout() == nullptr) return std::nullopt;
  const hlo::Layout& layout = *smaller.layout();
  if (layout.minor_to_major != larger.layout()->minor_to_major || layout.tiles != larger.layout()->tiles ||
      layout.tiles.empty() || layout.minor_to_major.size() != rank)
    return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(layout.minor_to_major[i]);
    const bool most_major = i + 1 == rank;  // nothing is behind it
    const bool same_tiles = tiles_along(smaller, i, d) == tiles_along(larger, i, d);
    if (smaller.dimension(d) > larger.dimension(d) || (!most_major && !same_tiles)) return std::nullopt;
  }
  View view = View::of(larger.dimensions());
  for (size_t d = 0; d < rank; ++d) view.dims[d].size = smaller.dimension(d);
  return view;
}

// Does `result` name the operand's elements and, beyond them, padding of the same tiles?
bool takes_in_padding(const hlo::Shape& operand, const hlo::Shape& result) {
  if (!leading_part(result, operand)) return false;
  const size_t major = result.rank() - 1;
  const auto d = static_cast<size_t>(result.layout()->minor_to_major[major]);
  return tiles_along(result, major, d) == tiles_along(operand, major, d);
}

}  // namespace

bool copy_in_physical_order(const hlo::Shape& operand, const hlo::Shape& result, const std::byte* from, std::byte* to) {
  const std::vector<Placed> sources = physical_order(operand);
  const std::vector<Placed> targets = physical_order(result);
  const int64_t bytes = hlo::host_bytes(result.element_type());
  const bool by_offset = sources.size() != targets.size();
  const bool grows = sources.size() < targets.size();
  if (grows) fill_unwritten(result.element_type(), {to, static_cast<size_t>(result.host_byte_size())});
  size_t source = 0;
  for (const Placed& target : targets) {
    while (by_offset && source < sources.size() && sources[source].offset < target.offset) ++source;
    if (source == sources.size() || (by_offset && sources[source].offset != target.offset)) {
      if (grows) continue;
      return false;
    }
    std::memcpy(to + target.position * bytes, from + sources[source].position * bytes, static_cast<size_t>(bytes));
    ++source;
  }
  return true;
}

hlo::Shape with_missing_tiles(const hlo::Shape& shape, const hlo::Shape& other) {
  if (shape.rank() < 2 || other.rank() < 2 || shape.layout() == nullptr || other.layout() == nullptr) return shape;
  if (!shape.layout()->tiles.empty() || other.layout()->tiles.empty()) return shape;
  hlo::Layout layout = *shape.layout();
  layout.tiles = other.layout()->tiles;
  return shape.with_layout(std::make_shared<const hlo::Layout>(std::move(layout)));
}

std::optional<Bitcast> make_bitcast(const hlo::Shape& stated_operand, const hlo::Shape& stated_result) {
  if (!stated_operand.is_array() || !stated_result.is_array() || !is_modelled(stated_operand) ||
      !is_modelled(stated_result))
    return std::nullopt;
  const hlo::Shape operand = with_missing_tiles(stated_operand, stated_result);
  const hlo::Shape result = with_missing_tiles(stated_result, stated_operand);
  if (hlo::host_bytes(operand.element_type()) != hlo::host_bytes(result.element_type())) return std::nullopt;
  if (operand.element_count() != result.element_count()) {
    if (const auto part = leading_part(operand, result)) return Bitcast{{*part}, {}, {}};
    if (result.element_count() > operand.element_count() && !takes_in_padding(operand, result)) return std::nullopt;
    return Bitcast{{}, operand, result};
  }
  if (operand.element_count() <= 1) return Bitcast{};
  Physical from = physical(operand);
  Physical to = physical(result);
  if (same_tiling(from, to)) {
    from.tiles.clear();
    to.tiles.clear();
  }
  const auto source_order = in_physical_order(operand, from);
  const auto target_order = in_physical_order(result, to);
  if (!source_order || !target_order) return Bitcast{{}, operand, result};
  const View into_result = inverse(*target_order);
  Bitcast bitcast;
  if (!source_order->is_identity()) bitcast.views.push_back(*source_order);
  if (!into_result.is_identity()) bitcast.views.push_back(into_result);
  return bitcast;
}

}  // namespace sapper::eval
