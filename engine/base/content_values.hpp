// How bits are read as values, and what statistics count of each. Plain C++ and kernels share it;
// nvcc reads it too. Threads: pure functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/content_statistics.hpp"

#ifdef __CUDACC__
#define REPRISE_VALUE_FUNCTION __host__ __device__ inline
#else
#define REPRISE_VALUE_FUNCTION inline
#endif

namespace reprise::detail {

// std::bit_cast, which device code may not call.
template <class To, class From>
REPRISE_VALUE_FUNCTION To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
struct IntegerFormat {
  using Value = T;
  using Bits = std::make_unsigned_t<T>;
  static constexpr bool kIsFloat = false;
  REPRISE_VALUE_FUNCTION static double value(Bits bits) {
    return static_cast<double>(static_cast<T>(bits));
  }
};

// IEEE formats and bfloat16. Values are classified by their bits, so the result does not depend on
// modes that flush subnormal values to 0.
template <class T, int FractionBits>
struct FloatFormat {
  using Bits = T;
  static constexpr bool kIsFloat = true;
  static constexpr T kSign = static_cast<T>(T{1} << (8 * sizeof(T) - 1)),
                     kSmallestNormal = static_cast<T>(T{1} << FractionBits),
                     kInfinity = static_cast<T>(kSign - kSmallestNormal);
  REPRISE_VALUE_FUNCTION static T magnitude(T bits) { return static_cast<T>(bits & ~kSign); }
  REPRISE_VALUE_FUNCTION static double value(T bits) {
    if constexpr (sizeof(T) == 8) {
      return same_bits<double>(bits);
    } else if constexpr (FractionBits != 10) {  // the upper bits of a float
      return static_cast<double>(
          same_bits<float>(static_cast<std::uint32_t>(bits) << (32 - 8 * sizeof(T))));
    } else {
      const std::uint64_t of_half = magnitude(bits), bias = of_half < kInfinity ? 1008 : 2016;
      const double found = of_half < kSmallestNormal
                               ? static_cast<double>(of_half) * 0x1p-24
                               : same_bits<double>((of_half << 42) + (bias << 52));
      return (bits & kSign) != 0 ? -found : found;
    }
  }
};

// visit(format of `type`).
template <class Visit>
REPRISE_VALUE_FUNCTION auto with_format(ContentType type, Visit visit) {
  switch (type) {
    case ContentType::Bytes:
    case ContentType::U8: break;
    case ContentType::I8: return visit(IntegerFormat<std::int8_t>{});
    case ContentType::I16: return visit(IntegerFormat<std::int16_t>{});
    case ContentType::U16: return visit(IntegerFormat<std::uint16_t>{});
    case ContentType::I32: return visit(IntegerFormat<std::int32_t>{});
    case ContentType::U32: return visit(IntegerFormat<std::uint32_t>{});
    case ContentType::I64: return visit(IntegerFormat<std::int64_t>{});
    case ContentType::U64: return visit(IntegerFormat<std::uint64_t>{});
    case ContentType::F16: return visit(FloatFormat<std::uint16_t, 10>{});
    case ContentType::BF16: return visit(FloatFormat<std::uint16_t, 7>{});
    case ContentType::F32: return visit(FloatFormat<std::uint32_t, 23>{});
    case ContentType::F64: return visit(FloatFormat<std::uint64_t, 52>{});
  }
  return visit(IntegerFormat<std::uint8_t>{});
}

// As SplitMix64. The hash of values is the sum of theirs, so it does not depend on parts.
REPRISE_VALUE_FUNCTION std::uint64_t hash_of_value(std::uint64_t index, std::uint64_t bits) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u ^ bits;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

REPRISE_VALUE_FUNCTION ValueSums no_values() {
  constexpr double kInfinity = __builtin_huge_val();
  ValueSums sums{};
  sums.min = kInfinity;
  sums.max = -kInfinity;
  sums.first_nan = sums.first_infinity = ContentStatistics::kNone;
  return sums;
}

// The bin of a finite value other than 0.
REPRISE_VALUE_FUNCTION unsigned bin_of(double value) {
  const auto bits = same_bits<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023,
            power = exponent < -16 ? 0 : (exponent > 15 ? 31 : exponent + 16);
  return static_cast<unsigned>(bits >> 63 != 0 ? 31 - power : 32 + power);
}

// Adds one value, and 1 to its bin with count_in(bin).
template <class Format, class CountIn>
REPRISE_VALUE_FUNCTION void add_value(ValueSums& sums, std::uint64_t index,
                                      typename Format::Bits bits, CountIn count_in) {
  ++sums.count;
  sums.hash += hash_of_value(index, bits);
  bool is_zero = bits == 0;
  if constexpr (Format::kIsFloat) {
    const auto magnitude = Format::magnitude(bits);
    if (magnitude >= Format::kInfinity) {
      if (magnitude > Format::kInfinity) {
        ++sums.nans;
        if (index < sums.first_nan) sums.first_nan = index;
      } else {
        ++sums.infinities;
        if (index < sums.first_infinity) sums.first_infinity = index;
      }
      return;
    }
    is_zero = magnitude == 0;
    if (!is_zero && magnitude < Format::kSmallestNormal) ++sums.denormals;
  }
  const double value = is_zero ? 0.0 : Format::value(bits);
  ++sums.finite;
  sums.sum += value;
  sums.sum_of_squares += value * value;
  if (value < sums.min) sums.min = value;
  if (value > sums.max) sums.max = value;
  if (is_zero)
    ++sums.zeros;
  else
    count_in(bin_of(value));
}

REPRISE_VALUE_FUNCTION void add(ValueSums& sums, const ValueSums& other) {
  sums.sum += other.sum;
  sums.sum_of_squares += other.sum_of_squares;
  if (other.min < sums.min) sums.min = other.min;
  if (other.max > sums.max) sums.max = other.max;
  sums.count += other.count;
  sums.finite += other.finite;
  sums.zeros += other.zeros;
  sums.denormals += other.denormals;
  sums.infinities += other.infinities;
  sums.nans += other.nans;
  if (other.first_nan < sums.first_nan) sums.first_nan = other.first_nan;
  if (other.first_infinity < sums.first_infinity) sums.first_infinity = other.first_infinity;
  sums.hash += other.hash;
}

}  // namespace reprise::detail
