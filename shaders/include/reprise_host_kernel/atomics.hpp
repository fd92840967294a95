// CUDA's atomics for the types that CUDA supports. Each returns the previous value. Ordering:
// acquire and release, stronger than CUDA guarantees. The compiler's functions take less time to
// compile than <atomic>.
#pragma once

#include <concepts>
#include <type_traits>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);

// Replaces *address by change(*address) atomically.
template <class T, class Change>
inline T atomic_change(T* address, Change change) {
  T before, after;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  do {
    after = change(before);
  } while (!__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED));
  return before;
}

namespace language {

using atomic_word = unsigned long long;

template <one_of<int, unsigned, atomic_word, float, double> T>
inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  if constexpr (std::is_floating_point_v<T>) {
    return atomic_change(address, [value](T old) { return old + value; });
  } else {
    return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
  }
}
template <one_of<int, unsigned> T>
inline T atomicSub(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_ACQ_REL);
}
template <one_of<int, unsigned, atomic_word, float> T>
inline T atomicExch(T* address, std::type_identity_t<T> value) {
  T before;
  __atomic_exchange(address, &value, &before, __ATOMIC_ACQ_REL);
  return before;
}
template <one_of<int, unsigned, atomic_word, unsigned short> T>
inline T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}
template <one_of<int, unsigned, long long, atomic_word> T>
inline T atomicMin(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [value](T old) { return value < old ? value : old; });
}
template <one_of<int, unsigned, long long, atomic_word> T>
inline T atomicMax(T* address, std::type_identity_t<T> value) {
  return atomic_change(address, [value](T old) { return old < value ? value : old; });
}
template <one_of<int, unsigned, atomic_word> T>
inline T atomicAnd(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_and(address, value, __ATOMIC_ACQ_REL);
}
template <one_of<int, unsigned, atomic_word> T>
inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_or(address, value, __ATOMIC_ACQ_REL);
}
template <one_of<int, unsigned, atomic_word> T>
inline T atomicXor(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_ACQ_REL);
}
// atomicInc counts up to `limit` and then restarts at 0; atomicDec counts down and restarts at
// `limit`.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return atomic_change(address, [limit](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return atomic_change(
      address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1u; });
}

}  // namespace language
}  // namespace reprise::inline REPRISE_ABI::host_kernel
