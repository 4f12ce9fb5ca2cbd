// Literal: a value of a shape: a dense row-major array, or a tuple of literals, or a token. Copies share their bytes;
// writing to shared bytes copies them first.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hlo/shape.h"

namespace sapper::hlo {

// Bytes aligned to 64, uninitialised when created; the caller fills them.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size);
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  ~AlignedBytes();
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  std::byte* data_;
  size_t size_;
};

class Literal {
 public:
  Literal() = default;
  // An array of zeros (or a tuple of them, a token). Layouts of `shape` are dropped: literals are row-major.
  explicit Literal(const Shape& shape);
  // An array with bytes that the caller will fill through mutable_bytes().
  [[nodiscard]] static Literal uninitialized(const Shape& shape);
  // An array over existing bytes: bytes->size() >= shape.host_byte_size().
  [[nodiscard]] static Literal over(const Shape& shape, std::shared_ptr<AlignedBytes> bytes);
  [[nodiscard]] static Literal tuple(std::vector<Literal> elements);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int64_t element_count() const { return shape_.element_count(); }
  [[nodiscard]] const std::vector<Literal>& elements() const { return elements_; }  // of a tuple
  [[nodiscard]] std::vector<Literal>& mutable_elements() { return elements_; }

  [[nodiscard]] std::span<const std::byte> bytes() const;
  [[nodiscard]] std::span<std::byte> mutable_bytes();
  [[nodiscard]] const std::shared_ptr<AlignedBytes>& shared_bytes() const { return bytes_; }

  // The elements as host type T, whose size must be host_bytes(element type): float, uint16_t for bf16, int8_t for s4,
  // ...
  template <class T>
  [[nodiscard]] std::span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes().data()), static_cast<size_t>(element_count())};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_data() {
    return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<size_t>(element_count())};
  }

  // Element i (row-major) of any type, converted; for printing, tests and slow paths. Integers beyond 2^53 need
  // integer_at.
  [[nodiscard]] double real_at(int64_t i) const;
  [[nodiscard]] std::complex<double> complex_at(int64_t i) const;
  [[nodiscard]] int64_t integer_at(int64_t i) const;  // bits of u64 as int64; pred as 0 or 1
  void set_real(int64_t i, double value);  // rounds to nearest even into float types; truncates into integers
  void set_complex(int64_t i, std::complex<double> value);
  void set_integer(int64_t i, int64_t value);  // wraps to the type's width

  // Actual sizes of the dynamic dimensions of an array whose shape has bounds; empty: the bounds themselves. Elements
  // past them are in memory but are not part of the value.
  [[nodiscard]] const std::vector<int64_t>& dynamic_sizes() const { return dynamic_sizes_; }
  void set_dynamic_sizes(std::vector<int64_t> sizes) { dynamic_sizes_ = std::move(sizes); }

  // Same shape (layouts aside) and same bytes.
  bool operator==(const Literal& other) const;

 private:
  Shape shape_;
  std::shared_ptr<AlignedBytes> bytes_;
  std::vector<Literal> elements_;
  std::vector<int64_t> dynamic_sizes_;
};

// The leaves of a value in tuple order: itself for an array or token.
[[nodiscard]] std::vector<Literal> leaves(const Literal& value);

}  // namespace sapper::hlo
