// CUDA's vector types and dim3, with nvcc's layout. Threads: values.
#pragma once

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel::language {

// scalar, prefix, alignment of the types with 2 and 4 elements (1 and 3: alignment of the scalar)
#define REPRISE_VECTOR_TYPES(X)            \
  X(signed char, char, 2, 4)               \
  X(unsigned char, uchar, 2, 4)            \
  X(short, short, 4, 8)                    \
  X(unsigned short, ushort, 4, 8)          \
  X(int, int, 8, 16)                       \
  X(unsigned, uint, 8, 16)                 \
  X(long long, longlong, 16, 16)           \
  X(unsigned long long, ulonglong, 16, 16) \
  X(float, float, 8, 16)                   \
  X(double, double, 16, 16)

#define REPRISE_X(T, prefix, align2, align4)                                \
  struct prefix##1 {                                                        \
    T x;                                                                    \
  };                                                                        \
  struct alignas(align2) prefix##2 {                                        \
    T x, y;                                                                 \
  };                                                                        \
  struct prefix##3 {                                                        \
    T x, y, z;                                                              \
  };                                                                        \
  struct alignas(align4) prefix##4 {                                        \
    T x, y, z, w;                                                           \
  };                                                                        \
  constexpr prefix##1 make_##prefix##1(T x) { return {x}; }                 \
  constexpr prefix##2 make_##prefix##2(T x, T y) { return {x, y}; }         \
  constexpr prefix##3 make_##prefix##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr prefix##4 make_##prefix##4(T x, T y, T z, T w) { return {x, y, z, w}; }
REPRISE_VECTOR_TYPES(REPRISE_X)
#undef REPRISE_X
#undef REPRISE_VECTOR_TYPES

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

}  // namespace reprise::inline REPRISE_ABI::host_kernel::language
