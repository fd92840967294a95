// Functions that nvcc declares besides the C library's math: min and max, reciprocal roots, rounded
// arithmetic and conversions, bit counts, reinterpretations. The fast forms (such as __expf) are
// the accurate ones here. Threads: pure functions.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>
#include <limits>

#include <reprise/host_kernel_runtime.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel::language {

// As in CUDA: mixed signed and unsigned arguments compare as unsigned, and a NaN loses against a
// number.
#define REPRISE_MIN_MAX(A, B, R)                                                          \
  constexpr R min(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  constexpr R max(A a, B b) {                                                             \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
  }
#define REPRISE_MIN_MAX_INTEGERS(S, U) \
  REPRISE_MIN_MAX(S, S, S)             \
  REPRISE_MIN_MAX(U, U, U)             \
  REPRISE_MIN_MAX(S, U, U)             \
  REPRISE_MIN_MAX(U, S, U)
REPRISE_MIN_MAX_INTEGERS(int, unsigned)
REPRISE_MIN_MAX_INTEGERS(long, unsigned long)
REPRISE_MIN_MAX_INTEGERS(long long, unsigned long long)
#undef REPRISE_MIN_MAX_INTEGERS
#undef REPRISE_MIN_MAX
#define REPRISE_MIN_MAX(A, B, R)                                      \
  constexpr R min(A a, B b) { return a < b || b != b ? R{a} : R{b}; } \
  constexpr R max(A a, B b) { return a > b || b != b ? R{a} : R{b}; }
REPRISE_MIN_MAX(float, float, float)
REPRISE_MIN_MAX(double, double, double)
REPRISE_MIN_MAX(float, double, double)
REPRISE_MIN_MAX(double, float, double)
#undef REPRISE_MIN_MAX

#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 42)  // glibc 2.42 declares them
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
#endif
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __fdividef(float a, float b) { return a / b; }

template <class T>
inline T __ldg(const T* address) {
  return *address;
}

constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
constexpr int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
constexpr int __ffsll(long long x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(x)) + 1;
}
constexpr unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit, x >>= 1) reversed = reversed << 1 | (x & 1u);
  return reversed;
}
constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
constexpr int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }

// Arithmetic that no compiler contracts or reorders.
#define REPRISE_ROUNDED(T, prefix, suffix, sqrt, fma)        \
  constexpr T __##prefix##add_rn(T a, T b) { return a + b; } \
  constexpr T __##prefix##sub_rn(T a, T b) { return a - b; } \
  constexpr T __##prefix##mul_rn(T a, T b) { return a * b; } \
  constexpr T __##prefix##div_rn(T a, T b) { return a / b; } \
  constexpr T __##prefix##rcp_rn(T a) { return 1 / a; }      \
  inline T __##prefix##sqrt_rn(T a) { return sqrt(a); }      \
  inline T __fma##suffix##_rn(T a, T b, T c) { return fma(a, b, c); }
REPRISE_ROUNDED(float, f, f, sqrtf, fmaf)
REPRISE_ROUNDED(double, d, , sqrt, fma)
#undef REPRISE_ROUNDED

// Conversions to integers saturate; a NaN becomes 0.
template <class I>
constexpr I reprise_to_integer(double integral) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<I>::min()),
                   kEnd = 2.0 * static_cast<double>(I{1} << (std::numeric_limits<I>::digits - 1));
  if (integral != integral) return 0;
  if (integral < kLow) return std::numeric_limits<I>::min();
  return integral < kEnd ? static_cast<I>(integral) : std::numeric_limits<I>::max();
}
#define REPRISE_TO_INTEGER(T, name, I, to)                                               \
  inline I __##name##2##to##_rn(T x) { return reprise_to_integer<I>(rint(double{x})); }  \
  inline I __##name##2##to##_rz(T x) { return reprise_to_integer<I>(trunc(double{x})); } \
  inline I __##name##2##to##_rd(T x) { return reprise_to_integer<I>(floor(double{x})); } \
  inline I __##name##2##to##_ru(T x) { return reprise_to_integer<I>(ceil(double{x})); }
#define REPRISE_CONVERSIONS(T, name)          \
  REPRISE_TO_INTEGER(T, name, int, int)       \
  REPRISE_TO_INTEGER(T, name, unsigned, uint) \
  REPRISE_TO_INTEGER(T, name, long long, ll)  \
  REPRISE_TO_INTEGER(T, name, unsigned long long, ull)
REPRISE_CONVERSIONS(float, float)
REPRISE_CONVERSIONS(double, double)
#undef REPRISE_CONVERSIONS
#undef REPRISE_TO_INTEGER
constexpr float __int2float_rn(int x) { return static_cast<float>(x); }
constexpr float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
constexpr float __ll2float_rn(long long x) { return static_cast<float>(x); }
constexpr float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
constexpr double __int2double_rn(int x) { return x; }
constexpr double __uint2double_rn(unsigned x) { return x; }
constexpr double __ll2double_rn(long long x) { return static_cast<double>(x); }
constexpr double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
constexpr float __double2float_rn(double x) { return static_cast<float>(x); }

// In nanoseconds on the host device, in cycles on a GPU.
inline long long clock64() { return steady_nanoseconds(); }

constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
constexpr long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
constexpr double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

}  // namespace reprise::inline REPRISE_ABI::host_kernel::language

// Macros, because the C library declares functions with these names.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
