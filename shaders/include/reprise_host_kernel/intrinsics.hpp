// Functions that nvcc declares besides the C library's math: min and max, reciprocal roots, bit
// counts, reinterpretations. The fast forms (such as __expf) are the accurate ones here. Threads:
// pure functions.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>

namespace reprise::host_kernel::language {

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

constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
constexpr long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
constexpr double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

}  // namespace reprise::host_kernel::language

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
