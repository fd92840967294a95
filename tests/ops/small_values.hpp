// Values that every device sums exactly, and 16-bit floats by plain arithmetic. Threads: pure
// functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace reprise::test {

// Integers from -2 to 2.
inline std::vector<double> small_integers(std::size_t count, std::uint32_t salt) {
  std::vector<double> made(count);
  std::uint32_t state = salt;
  for (double& value : made) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<double>((state >> 16) % 5) - 2;
  }
  return made;
}

// The value of a float with `fraction_bits` fraction bits.
inline double bits_value(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const double fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return sign * std::numeric_limits<double>::infinity();
  return exponent == 0
             ? sign * std::ldexp(fraction, 1 - bias - fraction_bits)
             : sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

// The nearest such float; ties round to even.
inline std::uint16_t nearest_bits(double value, int fraction_bits, int bias) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  static_cast<void>(std::frexp(magnitude, &exponent));
  exponent = std::max(exponent - 1, 1 - bias);
  const double scaled = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  const auto bits = static_cast<std::int64_t>(scaled) +
                    (static_cast<std::int64_t>(exponent + bias - 1) << fraction_bits);
  return static_cast<std::uint16_t>(sign | bits);
}

inline std::uint16_t f16_bits(double value) { return nearest_bits(value, 10, 15); }
inline double f16_value(std::uint16_t bits) { return bits_value(bits, 10, 15); }
inline std::uint16_t bf16_bits(double value) { return nearest_bits(value, 7, 127); }
inline double bf16_value(std::uint16_t bits) { return bits_value(bits, 7, 127); }

}  // namespace reprise::test
