// Ring: a bounded single-producer, single-consumer queue. put() and take() are wait-free and do not
// allocate. Threads: one producer and one consumer at a time.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace reprise::detail {

struct FreeBytes {
  void operator()(void* bytes) const noexcept { std::free(bytes); }
};
// `count` zeroed values. Untouched pages take no memory.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::unique_ptr<T[], FreeBytes> zeroed(std::size_t count) {
  auto* const bytes = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (bytes == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T[], FreeBytes>(bytes);
}

template <class T>
class Ring {
 public:
  // `capacity` is rounded up to a power of two.
  explicit Ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), values_(zeroed<T>(mask_ + 1)) {}

  // Returns the number of values including `value`; 0: the ring is full and `value` was not added.
  std::size_t put(const T& value) noexcept {
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    const std::uint64_t used = end - begin_.load(std::memory_order_acquire);
    if (used > mask_) return 0;
    values_[end & mask_] = value;
    end_.store(end + 1, std::memory_order_release);
    return used + 1;
  }
  // Returns false if the ring is empty.
  [[nodiscard]] bool take(T& value) noexcept {
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    value = values_[begin & mask_];
    begin_.store(begin + 1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

 private:
  const std::size_t mask_;
  std::unique_ptr<T[], FreeBytes> values_;
  alignas(64) std::atomic<std::uint64_t> end_{0};    // written by the producer
  alignas(64) std::atomic<std::uint64_t> begin_{0};  // written by the consumer
};

}  // namespace reprise::detail
