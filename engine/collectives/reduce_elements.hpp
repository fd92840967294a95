// Element-wise reductions of host memory. 16-bit floats are converted to float for each step and
// rounded to nearest even. Integers wrap around. Min and Max ignore a NaN unless both operands are
// NaN, and order -0 before +0, as NCCL does; therefore the result does not depend on the order of
// the operands. Pointers are aligned to the element. Threads: pure functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <reprise/collectives.hpp>

#include "ops/half.hpp"

namespace reprise::detail {

struct HalfBits {
  std::uint16_t bits;
};
struct Bfloat16Bits {
  std::uint16_t bits;
};

template <class T>
[[nodiscard]] T widen(T value) noexcept {
  return value;
}
[[nodiscard]] inline float widen(HalfBits value) noexcept { return ops::float_of_f16(value.bits); }
[[nodiscard]] inline float widen(Bfloat16Bits value) noexcept {
  return ops::float_of_bf16(value.bits);
}
template <class T, class Wide>
[[nodiscard]] T narrow(Wide value) noexcept {
  if constexpr (std::is_same_v<T, HalfBits>) {
    return {ops::f16_of_float(value)};
  } else if constexpr (std::is_same_v<T, Bfloat16Bits>) {
    return {ops::bf16_of_float(value)};
  } else {
    return value;
  }
}

// Returns f.operator()<T>() for the C++ type of the elements.
template <class F>
decltype(auto) with_element(ElementType type, F&& f) {
  switch (type) {
    case ElementType::I8: return f.template operator()<std::int8_t>();
    case ElementType::U8: return f.template operator()<std::uint8_t>();
    case ElementType::I32: return f.template operator()<std::int32_t>();
    case ElementType::U32: return f.template operator()<std::uint32_t>();
    case ElementType::I64: return f.template operator()<std::int64_t>();
    case ElementType::U64: return f.template operator()<std::uint64_t>();
    case ElementType::F16: return f.template operator()<HalfBits>();
    case ElementType::BF16: return f.template operator()<Bfloat16Bits>();
    case ElementType::F32: return f.template operator()<float>();
    case ElementType::F64: return f.template operator()<double>();
  }
  __builtin_unreachable();
}

template <class Wide>
[[nodiscard]] Wide select(Wide a, Wide b, bool smaller) noexcept {
  if constexpr (std::is_floating_point_v<Wide>) {
    if (std::isnan(a)) return std::isnan(b) ? std::numeric_limits<Wide>::quiet_NaN() : b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) == smaller ? a : b;
  }
  return (a < b) == smaller ? a : b;
}

// Average is a sum here; divide_elements() completes it.
template <ReduceOperator kReduce, class Wide>
[[nodiscard]] Wide reduce_pair(Wide a, Wide b) noexcept {
  constexpr bool is_sum = kReduce == ReduceOperator::Sum || kReduce == ReduceOperator::Average;
  if constexpr (kReduce == ReduceOperator::Min || kReduce == ReduceOperator::Max) {
    return select(a, b, kReduce == ReduceOperator::Min);
  } else if constexpr (std::is_integral_v<Wide>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<Wide>(is_sum ? x + y : x * y);
  } else {
    return is_sum ? a + b : a * b;
  }
}

// into[i] = reduce(into[i], from[i])
template <ReduceOperator kReduce, class T>
void reduce_elements(T* into, const T* from, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    into[i] = narrow<T>(reduce_pair<kReduce>(widen(into[i]), widen(from[i])));
}

inline void reduce_elements(ElementType type, ReduceOperator reduce, void* into, const void* from,
                            std::size_t count) noexcept {
  with_element(type, [&]<class T> {
    T* const a = static_cast<T*>(into);
    const T* const b = static_cast<const T*>(from);
    switch (reduce) {
      case ReduceOperator::Sum:
      case ReduceOperator::Average: return reduce_elements<ReduceOperator::Sum>(a, b, count);
      case ReduceOperator::Product: return reduce_elements<ReduceOperator::Product>(a, b, count);
      case ReduceOperator::Min: return reduce_elements<ReduceOperator::Min>(a, b, count);
      case ReduceOperator::Max: return reduce_elements<ReduceOperator::Max>(a, b, count);
    }
  });
}

// Divides floating-point elements by the number of ranks.
inline void divide_elements(ElementType type, void* values, std::size_t count,
                            std::uint32_t ranks) noexcept {
  with_element(type, [&]<class T> {
    T* const elements = static_cast<T*>(values);
    for (std::size_t i = 0; i < count; ++i) {
      const auto wide = widen(elements[i]);
      elements[i] =
          narrow<T>(static_cast<decltype(+wide)>(wide / static_cast<decltype(+wide)>(ranks)));
    }
  });
}

}  // namespace reprise::detail
