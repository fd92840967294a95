// SmallFloat: the 16-bit floating-point types of CUDA. Conversions round to nearest even, as do
// operations: they are computed with more precision and rounded once. Threads: values.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

// `Mantissa`: stored bits. 16 bits in all: 5 exponent bits and 10 for half, 8 and 7 for bfloat16.
template <int Mantissa>
struct SmallFloat {
  static constexpr int kExponentBits = 15 - Mantissa;
  static constexpr int kMaxExponent = (1 << (kExponentBits - 1)) - 1;  // of a finite number
  static constexpr int kMinExponent = 1 - kMaxExponent;                // of a normal number
  static constexpr std::uint16_t kInfinity = ((1 << kExponentBits) - 1) << Mantissa;

  std::uint16_t bits = 0;

  static constexpr std::uint16_t encode(double x) {
    const auto from = std::bit_cast<std::uint64_t>(x);
    const auto sign = static_cast<std::uint16_t>(from >> 63 << 15);
    if (x != x) return 0x7fff;
    const int exponent = static_cast<int>(from >> 52 & 0x7ff) - 1023;
    if (exponent > kMaxExponent) return sign | kInfinity;
    const int shift = 52 - Mantissa + (exponent < kMinExponent ? kMinExponent - exponent : 0);
    if (shift > 54) return sign;  // less than half of the smallest number
    const std::uint64_t mantissa = (from & ((1ull << 52) - 1)) | 1ull << 52,
                        rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    std::uint64_t rounded = mantissa >> shift;
    if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
    // The leading bit counts as one exponent; a carry leads to the next one, or to infinity.
    if (exponent >= kMinExponent)
      rounded += static_cast<std::uint64_t>(exponent - kMinExponent) << Mantissa;
    return static_cast<std::uint16_t>(sign | rounded);
  }
  [[nodiscard]] constexpr float decode() const {
    const std::uint32_t exponent = (bits & kInfinity) >> Mantissa,
                        mantissa = bits & ((1u << Mantissa) - 1);
    const float sign = (bits >> 15) != 0 ? -1.0f : 1.0f;
    constexpr float kUnit =  // of the mantissa of subnormal numbers
        std::bit_cast<float>(Mantissa == 10 ? static_cast<std::uint32_t>(127 - 24) << 23
                                            : std::uint32_t{1} << 16);
    if (exponent == 0) return sign * static_cast<float>(mantissa) * kUnit;
    const bool is_finite = exponent != kInfinity >> Mantissa;
    const std::uint32_t wide =
        is_finite ? exponent + 127 - static_cast<std::uint32_t>(kMaxExponent) : 255;
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 15) << 31 | wide << 23 |
                                mantissa << (23 - Mantissa));
  }
};

// a * b + c, rounded to odd at the precision of double, so that rounding it again to 16 bits gives
// the exact result rounded once. The product of two 16-bit numbers is exact.
inline double fused_to_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!(sum - sum == 0)) return sum;  // infinite or NaN
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// Minimum and maximum. A NaN beside a number is ignored. -0 is less than +0.
template <class T>
constexpr T lesser(T a, T b) {
  if (a != a) return b != b ? T(NAN) : b;
  if (b != b || a < b) return a;
  if (a == b) a.bits |= b.bits;
  return a == b ? a : b;
}
template <class T>
constexpr T greater(T a, T b) {
  if (a != a) return b != b ? T(NAN) : b;
  if (b != b || a > b) return a;
  if (a == b) a.bits &= b.bits;
  return a == b ? a : b;
}

}  // namespace reprise::inline REPRISE_ABI::host_kernel

// The operations of type T, which has a constructor from double and `value.decode()`, as functions
// with CUDA's names.
#define REPRISE_SMALL_FLOAT(T)                                                         \
  struct alignas(2) T : reprise::host_kernel::SmallFloat<REPRISE_MANTISSA_##T> {       \
    T() = default;                                                                     \
    template <class N>                                                                 \
      requires std::is_arithmetic_v<N>                                                 \
    constexpr T(N x) : SmallFloat{encode(static_cast<double>(x))} {}                   \
    constexpr operator float() const { return decode(); }                              \
    constexpr T operator+() const { return *this; }                                    \
    constexpr T operator-() const {                                                    \
      T negative = *this;                                                              \
      negative.bits ^= 0x8000;                                                         \
      return negative;                                                                 \
    }                                                                                  \
    friend constexpr T operator+(T a, T b) { return a.decode() + b.decode(); }         \
    friend constexpr T operator-(T a, T b) { return a.decode() - b.decode(); }         \
    friend constexpr T operator*(T a, T b) { return a.decode() * b.decode(); }         \
    friend constexpr T operator/(T a, T b) { return a.decode() / b.decode(); }         \
    constexpr T& operator+=(T b) { return *this = *this + b; }                         \
    constexpr T& operator-=(T b) { return *this = *this - b; }                         \
    constexpr T& operator*=(T b) { return *this = *this * b; }                         \
    constexpr T& operator/=(T b) { return *this = *this / b; }                         \
    friend constexpr bool operator==(T a, T b) { return a.decode() == b.decode(); }    \
    friend constexpr bool operator!=(T a, T b) { return a.decode() != b.decode(); }    \
    friend constexpr bool operator<(T a, T b) { return a.decode() < b.decode(); }      \
    friend constexpr bool operator<=(T a, T b) { return a.decode() <= b.decode(); }    \
    friend constexpr bool operator>(T a, T b) { return a.decode() > b.decode(); }      \
    friend constexpr bool operator>=(T a, T b) { return a.decode() >= b.decode(); }    \
  };                                                                                   \
  constexpr T __hadd(T a, T b) { return a + b; }                                       \
  constexpr T __hsub(T a, T b) { return a - b; }                                       \
  constexpr T __hmul(T a, T b) { return a * b; }                                       \
  constexpr T __hadd_rn(T a, T b) { return a + b; }                                    \
  constexpr T __hsub_rn(T a, T b) { return a - b; }                                    \
  constexpr T __hmul_rn(T a, T b) { return a * b; }                                    \
  constexpr T __hdiv(T a, T b) { return a / b; }                                       \
  inline T __hfma(T a, T b, T c) {                                                     \
    return reprise::host_kernel::fused_to_odd(static_cast<double>(a.decode()),         \
                                              static_cast<double>(b.decode()),         \
                                              static_cast<double>(c.decode()));        \
  }                                                                                    \
  constexpr T __hneg(T a) { return -a; }                                               \
  constexpr T __habs(T a) {                                                            \
    a.bits &= 0x7fff;                                                                  \
    return a;                                                                          \
  }                                                                                    \
  constexpr bool __heq(T a, T b) { return a == b; }                                    \
  constexpr bool __hne(T a, T b) { return a < b || a > b; }                            \
  constexpr bool __hlt(T a, T b) { return a < b; }                                     \
  constexpr bool __hle(T a, T b) { return a <= b; }                                    \
  constexpr bool __hgt(T a, T b) { return a > b; }                                     \
  constexpr bool __hge(T a, T b) { return a >= b; }                                    \
  constexpr bool __hisnan(T a) { return a.decode() != a.decode(); }                    \
  constexpr T __hmax(T a, T b) { return reprise::host_kernel::greater(a, b); }         \
  constexpr T __hmin(T a, T b) { return reprise::host_kernel::lesser(a, b); }          \
  inline T hsqrt(T a) { return sqrtf(a.decode()); }                                    \
  inline T hrsqrt(T a) { return 1.0f / sqrtf(a.decode()); }                            \
  inline T hexp(T a) { return expf(a.decode()); }                                      \
  inline T hlog(T a) { return logf(a.decode()); }                                      \
  inline T hfloor(T a) { return floorf(a.decode()); }                                  \
  inline T hceil(T a) { return ceilf(a.decode()); }                                    \
  inline T htrunc(T a) { return truncf(a.decode()); }                                  \
  inline T hrint(T a) { return rintf(a.decode()); }                                    \
  struct alignas(4) T##2 {                                                             \
    T x, y;                                                                            \
    friend constexpr T##2 operator+(T##2 a, T##2 b) { return {a.x + b.x, a.y + b.y}; } \
    friend constexpr T##2 operator-(T##2 a, T##2 b) { return {a.x - b.x, a.y - b.y}; } \
    friend constexpr T##2 operator*(T##2 a, T##2 b) { return {a.x * b.x, a.y * b.y}; } \
    friend constexpr T##2 operator/(T##2 a, T##2 b) { return {a.x / b.x, a.y / b.y}; } \
    constexpr T##2 & operator+=(T##2 b) { return *this = *this + b; }                  \
    constexpr T##2 & operator-=(T##2 b) { return *this = *this - b; }                  \
    constexpr T##2 & operator*=(T##2 b) { return *this = *this * b; }                  \
    constexpr T##2 & operator/=(T##2 b) { return *this = *this / b; }                  \
  };                                                                                   \
  constexpr T##2 __hadd2(T##2 a, T##2 b) { return a + b; }                             \
  constexpr T##2 __hsub2(T##2 a, T##2 b) { return a - b; }                             \
  constexpr T##2 __hmul2(T##2 a, T##2 b) { return a * b; }                             \
  inline T##2 __hfma2(T##2 a, T##2 b, T##2 c) {                                        \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                             \
  }
