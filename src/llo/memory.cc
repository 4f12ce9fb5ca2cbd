#include "llo/memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"

namespace sapper::llo {

namespace {

bool is_rowed(Space space) { return space == Space::Hbm || space == Space::Vmem || space == Space::Cmem; }

// Zero pages come without being touched: a space costs what is used of it.
uint32_t* zeroed(uint64_t words) {
  auto* memory = static_cast<uint32_t*>(std::calloc(words, sizeof(uint32_t)));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void Memory::Free::operator()(uint32_t* words) const { std::free(words); }

Memory::Memory(Space space, uint32_t unit_words) : space_(space), unit_words_(unit_words) {}
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory&&) noexcept = default;
Memory::~Memory() = default;

void Memory::reserve(uint64_t words) {
  if (words <= capacity_) return;
  const uint64_t capacity = std::bit_ceil(std::max<uint64_t>(words, 1 << 12));
  for (auto* place : {&word_, &undefined_}) {
    std::unique_ptr<uint32_t[], Free> grown(zeroed(capacity));
    if (capacity_ != 0) std::memcpy(grown.get(), place->get(), capacity_ * sizeof(uint32_t));
    *place = std::move(grown);
  }
  capacity_ = capacity;
  rows_.resize(capacity / kRowWords, RowState::Undefined);
}

uint32_t Memory::allocate(uint64_t bytes, std::string name, std::optional<uint32_t> at) {
  // Pieces start at whole tiles (eight rows) or granules, and no address is 0.
  const uint64_t alignment = is_rowed(space_) ? uint64_t{8} * kRowWords : 8;
  const uint64_t gap = alignment;
  const uint64_t words = std::max<uint64_t>((bytes + 3) / 4, 1);
  uint64_t first = 0;
  if (at)
    if (const Piece* there = piece_at(uint64_t{*at} * unit_words_, words);
        there != nullptr && there->first_word == uint64_t{*at} * unit_words_)
      return *at;
  if (at && piece_at(uint64_t{*at} * unit_words_, 1) == nullptr) {
    first = uint64_t{*at} * unit_words_;
  } else {
    first = (end_ + gap + alignment - 1) / alignment * alignment;
    end_ = first + words;
  }
  reserve(first + words);
  const auto place = std::upper_bound(pieces_.begin(), pieces_.end(), first,
                                      [](uint64_t word, const Piece& piece) { return word < piece.first_word; });
  pieces_.insert(place, Piece{std::move(name), first, words});
  last_piece_ = 0;
  return static_cast<uint32_t>(first / unit_words_);
}

const Memory::Piece* Memory::piece_below(uint64_t word) const {
  const auto above = std::upper_bound(pieces_.begin(), pieces_.end(), word,
                                      [](uint64_t at, const Piece& piece) { return at < piece.first_word; });
  return above == pieces_.begin() ? nullptr : &*std::prev(above);
}

const Memory::Piece* Memory::piece_at(uint64_t word, uint64_t count) const {
  const auto holds = [&](const Piece& piece) {
    return word >= piece.first_word && word - piece.first_word < piece.words &&
           count <= piece.words - (word - piece.first_word);
  };
  if (last_piece_ < pieces_.size() && holds(pieces_[last_piece_])) return &pieces_[last_piece_];
  const Piece* piece = piece_below(word);
  if (piece == nullptr || !holds(*piece)) return nullptr;
  last_piece_ = static_cast<size_t>(piece - pieces_.data());
  return piece;
}

const Memory::Piece* Memory::piece_named(std::string_view name) const {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.name == name; });
  return piece == pieces_.end() ? nullptr : &*piece;
}

bool Memory::defined(uint64_t word, uint64_t count) const {
  const uint64_t row = word / kRowWords;
  if (rows_[row] != RowState::Mixed) return rows_[row] == RowState::Defined;
  const uint32_t* bits = undefined_.get() + word;
  return std::all_of(bits, bits + count, [](uint32_t undefined) { return undefined == 0; });
}

uint32_t Memory::undefined(uint64_t word) const {
  switch (rows_[word / kRowWords]) {
    case RowState::Undefined: return ~uint32_t{0};
    case RowState::Defined: return 0;
    case RowState::Mixed: return undefined_[word];
  }
  SAPPER_ASSERT(false);
}

void Memory::read_undefined(uint64_t word, uint64_t count, uint32_t* out) const {
  for (uint64_t i = 0; i < count; ++i) out[i] = undefined(word + i);
}

void Memory::materialize(uint64_t row) {
  if (rows_[row] == RowState::Mixed) return;
  std::fill_n(undefined_.get() + row * kRowWords, kRowWords, rows_[row] == RowState::Defined ? 0 : ~uint32_t{0});
  rows_[row] = RowState::Mixed;
}

void Memory::write_undefined(uint64_t word, uint64_t count, const uint32_t* bits) {
  while (count != 0) {
    const uint64_t row = word / kRowWords;
    const uint64_t part = std::min(count, (row + 1) * kRowWords - word);
    const bool clean = bits == nullptr || std::all_of(bits, bits + part, [](uint32_t b) { return b == 0; });
    if (clean && part == kRowWords) {
      rows_[row] = RowState::Defined;
    } else if (!clean || rows_[row] != RowState::Defined) {
      materialize(row);
      if (bits != nullptr) {
        std::copy_n(bits, part, undefined_.get() + word);
      } else {
        std::fill_n(undefined_.get() + word, part, 0);
      }
    }
    word += part;
    count -= part;
    if (bits != nullptr) bits += part;
  }
}

}  // namespace sapper::llo
