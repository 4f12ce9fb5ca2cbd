// Numbers of HLO text: recognising them, the element bits they stand for, and the shortest text that reads back to the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hlo/element_type.h"

namespace sapper::hlo {

// Length of the number at the start of `text`: an integer, decimal, or [-]inf, [-]nan, [-]nan(0xPAYLOAD); 0: none is
// there.
[[nodiscard]] size_t number_length(std::string_view text);

// The value of a number as number_length() delimits it; nullopt when it overflows. Payloads of NaNs are dropped.
[[nodiscard]] std::optional<double> parse_real(std::string_view number);

// The bits of the element of float type `type` that `number` stands for: rounded to double, then to the type, as XLA
// does. nullopt when a finite number is beyond the type's range or a NaN's payload does not fit.
[[nodiscard]] std::optional<uint64_t> parse_float_bits(ElementType type, std::string_view number);

// Appends the shortest text that reads back to `bits`. The sign of zero and the payload of a NaN are kept.
void append_float(std::string& out, ElementType type, uint64_t bits);
// The same for fields of the wire.
void append_real(std::string& out, float value);
void append_real(std::string& out, double value);

}  // namespace sapper::hlo
