// Replaces CUDA's header of this name when shader files are compiled for the host device:
// __nv_bfloat16 and __nv_bfloat162 with CUDA's layout. Arithmetic, comparisons and conversions
// equal the GPU's in every bit; hexp(), hlog() and hrsqrt() may differ by one unit in the last
// place.
#pragma once

#include <reprise_host_kernel/small_float.hpp>
#include <reprise_host_kernel/vector_types.hpp>

#define REPRISE_MANTISSA___nv_bfloat16 7
namespace reprise::inline REPRISE_ABI::host_kernel::language {
REPRISE_SMALL_FLOAT(__nv_bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

constexpr __nv_bfloat16 __float2bfloat16(float x) { return x; }
constexpr __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
constexpr __nv_bfloat16 __double2bfloat16(double x) { return x; }
constexpr __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
constexpr float __bfloat162float(__nv_bfloat16 x) { return x.decode(); }
inline int __bfloat162int_rn(__nv_bfloat16 x) { return static_cast<int>(rintf(x.decode())); }
constexpr unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
constexpr __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 x{};
  x.bits = bits;
  return x;
}
constexpr __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
constexpr __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
constexpr __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
constexpr __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
constexpr float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x.decode(), v.y.decode()}; }
constexpr __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
constexpr __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
}  // namespace reprise::inline REPRISE_ABI::host_kernel::language
