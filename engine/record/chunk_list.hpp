// ChunkList: a list in an arena that grows by chunks and never moves what it holds. Space is
// reserved first, which may throw, and committed after, which may not: so a verb that fails has
// appended nothing. Threads: one thread at a time. Nothing is destroyed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/arena.hpp"

namespace reprise::detail {

template <class T>
class ChunkList {
  static_assert(std::is_trivially_destructible_v<T>);
  struct Chunk {
    Chunk* next;
    T* items;
    std::uint32_t count, capacity;
  };

 public:
  // Room for `count` items in a row behind the last committed one; valid until the next reserve.
  [[nodiscard]] T* reserve(Arena& arena, std::uint32_t count) {
    if (last_ == nullptr || last_->capacity - last_->count < count) add_chunk(arena, count);
    return last_->items + last_->count;
  }
  // The first item of what was reserved last.
  [[nodiscard]] T& reserved() const noexcept { return last_->items[last_->count]; }
  // Appends the first `count` of what was reserved, which the caller has constructed.
  void commit(std::uint32_t count) noexcept {
    last_->count += count;
    size_ += count;
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  // Walks the items in order.
  class Cursor {
   public:
    explicit Cursor(const ChunkList& list) noexcept : chunk_(list.first_) {}
    [[nodiscard]] T* next() noexcept {  // null at the end
      while (chunk_ != nullptr && at_ == chunk_->count) {
        chunk_ = chunk_->next;
        at_ = 0;
      }
      return chunk_ == nullptr ? nullptr : chunk_->items + at_++;
    }

   private:
    Chunk* chunk_;
    std::uint32_t at_ = 0;
  };
  [[nodiscard]] Cursor cursor() const noexcept { return Cursor(*this); }

 private:
  void add_chunk(Arena& arena, std::uint32_t count) {
    constexpr std::uint32_t kFirst = 64, kLargest = 16384;
    const std::uint32_t grown = last_ == nullptr ? kFirst : std::min(last_->capacity * 2, kLargest);
    const std::uint32_t capacity = std::max(grown, count);
    T* items = static_cast<T*>(arena.allocate(sizeof(T) * std::size_t{capacity}, alignof(T)));
    Chunk* chunk = arena.make<Chunk>(nullptr, items, 0u, capacity);
    (last_ == nullptr ? first_ : last_->next) = chunk;
    last_ = chunk;
  }

  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace reprise::detail
