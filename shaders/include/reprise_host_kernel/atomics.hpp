// CUDA's atomics for the types that CUDA supports. Each returns the previous value. Ordering:
// acquire and release, stronger than CUDA guarantees.
#pragma once

#include <atomic>
#include <concepts>
#include <type_traits>

namespace reprise::host_kernel {

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);

// Replaces *address by change(*address) atomically.
template <class T, class Change>
inline T atomic_change(T* address, Change change) {
  const std::atomic_ref<T> value(*address);
  T before = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(before, change(before), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
  }
  return before;
}

namespace language {

using atomic_word = unsigned long long;

template <one_of<int, unsigned, atomic_word, float, double> T>
inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_add(value, std::memory_order_acq_rel);
}
template <one_of<int, unsigned> T>
inline T atomicSub(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_sub(value, std::memory_order_acq_rel);
}
template <one_of<int, unsigned, atomic_word, float> T>
inline T atomicExch(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).exchange(value, std::memory_order_acq_rel);
}
template <one_of<int, unsigned, atomic_word, unsigned short> T>
inline T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value, std::memory_order_acq_rel,
                                                       std::memory_order_acquire);
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
  return std::atomic_ref<T>(*address).fetch_and(value, std::memory_order_acq_rel);
}
template <one_of<int, unsigned, atomic_word> T>
inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_or(value, std::memory_order_acq_rel);
}
template <one_of<int, unsigned, atomic_word> T>
inline T atomicXor(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_xor(value, std::memory_order_acq_rel);
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
}  // namespace reprise::host_kernel
