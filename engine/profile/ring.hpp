// Ring: a bounded single-producer, single-consumer queue that occupies memory only as it is used.
// put() allocates when more values wait than ever before, and then doubles the memory; otherwise
// put() and take() are wait-free and do not allocate. Threads: one producer and one consumer at a
// time.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace reprise::detail {

template <class T>
  requires std::is_trivially_copyable_v<T>
class Ring {
 public:
  // `capacity` is rounded up to a power of two.
  explicit Ring(std::size_t capacity) : capacity_(std::bit_ceil(capacity)) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (Segment* segment = read_ != nullptr ? read_ : first_.load(); segment != nullptr;)
      delete std::exchange(segment, segment->next.load());
  }

  // Returns the number of values including `value`; 0: the ring is full, or memory is exhausted,
  // and `value` was not added.
  std::size_t put(const T& value) noexcept {
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    const std::uint64_t begin = begin_.load(std::memory_order_acquire);
    const std::uint64_t used = end - begin;
    if (used >= capacity_) return 0;
    if ((write_ == nullptr || end - std::max(begin, write_->base) > write_->mask) && !grow(end))
      return 0;
    write_->values[end & write_->mask] = value;
    end_.store(end + 1, std::memory_order_release);
    return used + 1;
  }
  // Returns false if the ring is empty.
  [[nodiscard]] bool take(T& value) noexcept {
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    if (read_ == nullptr) read_ = first_.load(std::memory_order_acquire);
    for (Segment* next = nullptr;
         (next = read_->next.load(std::memory_order_acquire)) != nullptr && begin >= next->base;)
      delete std::exchange(read_, next);
    value = read_->values[begin & read_->mask];
    begin_.store(begin + 1, std::memory_order_release);
    return true;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::size_t kFirst = 8;  // values in the first segment

  // The values from index `base` up to the next segment's base. Value i is at i & mask.
  struct Segment {
    Segment(std::uint64_t from, std::size_t size) : base(from), mask(size - 1) {}
    const std::uint64_t base, mask;
    std::unique_ptr<T[]> values{new (std::nothrow) T[mask + 1]};
    std::atomic<Segment*> next{nullptr};
  };
  [[nodiscard]] bool grow(std::uint64_t end) noexcept {
    const std::size_t size = write_ == nullptr ? kFirst : 2 * (write_->mask + 1);
    auto* const segment = new (std::nothrow) Segment(end, std::min(size, capacity_));
    if (segment == nullptr || !segment->values) {
      delete segment;
      return false;
    }
    (write_ == nullptr ? first_ : write_->next).store(segment, std::memory_order_release);
    write_ = segment;
    return true;
  }

  const std::size_t capacity_;
  std::atomic<Segment*> first_{nullptr};             // valid until the consumer's first take()
  alignas(64) std::atomic<std::uint64_t> end_{0};    // written by the producer
  Segment* write_ = nullptr;                         // used by the producer
  alignas(64) std::atomic<std::uint64_t> begin_{0};  // written by the consumer
  Segment* read_ = nullptr;                          // used by the consumer
};

}  // namespace reprise::detail
