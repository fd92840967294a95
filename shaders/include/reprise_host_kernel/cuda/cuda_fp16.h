// Replaces CUDA's header of this name when shader files are compiled for the host device: __half
// and __half2 with CUDA's layout. Arithmetic, comparisons and conversions equal the GPU's in every
// bit; hexp(), hlog() and hrsqrt() may differ by one unit in the last place.
#pragma once

#include <reprise_host_kernel/small_float.hpp>
#include <reprise_host_kernel/vector_types.hpp>

#define REPRISE_MANTISSA___half 10
namespace reprise::inline REPRISE_ABI::host_kernel::language {
REPRISE_SMALL_FLOAT(__half)
using half = __half;
using half2 = __half2;

constexpr __half __float2half(float x) { return x; }
constexpr __half __float2half_rn(float x) { return x; }
constexpr __half __double2half(double x) { return x; }
constexpr __half __int2half_rn(int x) { return x; }
constexpr __half __uint2half_rn(unsigned x) { return x; }
constexpr float __half2float(__half x) { return x.decode(); }
inline int __half2int_rn(__half x) { return static_cast<int>(rintf(x.decode())); }
constexpr int __half2int_rz(__half x) { return static_cast<int>(x.decode()); }
constexpr unsigned short __half_as_ushort(__half x) { return x.bits; }
constexpr __half __ushort_as_half(unsigned short bits) {
  __half x{};
  x.bits = bits;
  return x;
}
constexpr __half2 make_half2(__half x, __half y) { return {x, y}; }
constexpr __half2 __half2half2(__half x) { return {x, x}; }
constexpr __half2 __halves2half2(__half x, __half y) { return {x, y}; }
constexpr __half2 __float2half2_rn(float x) { return {x, x}; }
constexpr __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
constexpr __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
constexpr float2 __half22float2(__half2 v) { return {v.x.decode(), v.y.decode()}; }
constexpr __half __low2half(__half2 v) { return v.x; }
constexpr __half __high2half(__half2 v) { return v.y; }
constexpr float __low2float(__half2 v) { return v.x.decode(); }
constexpr float __high2float(__half2 v) { return v.y.decode(); }
}  // namespace reprise::inline REPRISE_ABI::host_kernel::language
