// Ring: a bounded queue from one thread to another. Putting never waits and never allocates: what
// does not fit is refused. Threads: one at a time puts, one at a time takes.
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
// `count` values of zero bytes; pages that nobody touches cost nothing.
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
  // At least `capacity`.
  explicit Ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), values_(zeroed<T>(mask_ + 1)) {}

  // How many are in it now; 0: it was full, and `value` is not in it.
  std::size_t put(const T& value) noexcept {
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    const std::uint64_t used = end - begin_.load(std::memory_order_acquire);
    if (used > mask_) return 0;
    values_[end & mask_] = value;
    end_.store(end + 1, std::memory_order_release);
    return used + 1;
  }
  // False: there is none.
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
  alignas(64) std::atomic<std::uint64_t> end_{0};    // moved by who puts
  alignas(64) std::atomic<std::uint64_t> begin_{0};  // moved by who takes
};

}  // namespace reprise::detail
