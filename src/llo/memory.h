// One memory space of the core: words with definedness, handed out in pieces with gaps between them, so that an access
// outside its piece is seen. Values that nobody wrote are undefined, bit by bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llo/program.h"

namespace sapper::llo {

constexpr uint32_t kRowWords = 128;  // HBM, VMEM and CMEM are made of rows of 128 words: 512 bytes

class Memory {
 public:
  struct Piece {
    std::string name;
    uint64_t first_word = 0;
    uint64_t words = 0;
  };

  Memory(Space space, uint32_t unit_words);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;
  ~Memory();

  // How many words one step of an address is: 128 (VMEM, CMEM), 1 (SMEM, Sflag: one flag), HBM by the generation.
  [[nodiscard]] uint32_t unit_words() const { return unit_words_; }

  // A fresh piece, every bit undefined; returns its address. `at`: at this address, if nothing is there; a piece that
  // is there already and large enough is taken again (fixed places have several names).
  uint32_t allocate(uint64_t bytes, std::string name, std::optional<uint32_t> at = std::nullopt);

  // The piece that holds all of [word, word + count); null: out of bounds.
  [[nodiscard]] const Piece* piece_at(uint64_t word, uint64_t count) const;
  // The piece nearest below `word`, for messages; null: none.
  [[nodiscard]] const Piece* piece_below(uint64_t word) const;

  // The piece of this name; null: none.
  [[nodiscard]] const Piece* piece_named(std::string_view name) const;

  // Words from `word` on; valid until the next allocate. The caller has checked the bounds.
  [[nodiscard]] const uint32_t* words(uint64_t word) const { return word_.get() + word; }
  [[nodiscard]] uint32_t* words(uint64_t word) { return word_.get() + word; }

  // Definedness of [word, word + count), where the range lies in one row: true when every bit is defined.
  [[nodiscard]] bool defined(uint64_t word, uint64_t count) const;
  // The undefined bits of one word.
  [[nodiscard]] uint32_t undefined(uint64_t word) const;
  // Copies the undefined bits of [word, word + count) to `out`.
  void read_undefined(uint64_t word, uint64_t count, uint32_t* out) const;
  // Says what is undefined of [word, word + count) from here on; null: nothing.
  void write_undefined(uint64_t word, uint64_t count, const uint32_t* bits);

 private:
  enum class RowState : uint8_t { Undefined, Defined, Mixed };  // Mixed: the bits are in undefined_
  void reserve(uint64_t words);
  void materialize(uint64_t row);

  Space space_;
  uint32_t unit_words_;
  uint64_t capacity_ = 0;  // words
  uint64_t end_ = 0;       // words handed out so far, gaps included
  struct Free {
    void operator()(uint32_t* words) const;
  };
  std::unique_ptr<uint32_t[], Free> word_;
  std::unique_ptr<uint32_t[], Free> undefined_;
  std::vector<RowState> rows_;
  std::vector<Piece> pieces_;      // sorted by first_word
  mutable size_t last_piece_ = 0;  // where the last access was
};

}  // namespace sapper::llo
