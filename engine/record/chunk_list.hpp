// ChunkList: an append-only list in an arena. It grows in chunks and never moves its items.
// Appending has two steps: reserve(), which may throw, and commit(), which does not; a recording
// call that throws therefore appends nothing. Runs no destructors. Threads: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

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
  // Contiguous space for `count` items after the last committed one; valid until the next
  // reserve().
  [[nodiscard]] T* reserve(Arena& arena, std::uint32_t count) {
    if (last_ == nullptr || last_->capacity - last_->count < count) add_chunk(arena, count);
    return last_->items + last_->count;
  }
  // The first item of the last reservation.
  [[nodiscard]] T& reserved() const noexcept { return last_->items[last_->count]; }
  // Appends the first `count` reserved items, which the caller has constructed.
  void commit(std::uint32_t count) noexcept {
    last_->count += count;
    size_ += count;
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  // Appends copies of all items.
  void copy_to(std::vector<T>& to) const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next)
      to.insert(to.end(), chunk->items, chunk->items + chunk->count);
  }

  // Forward iteration in append order.
  class Cursor {
   public:
    explicit Cursor(const ChunkList& list) noexcept : chunk_(list.first_) {}
    [[nodiscard]] T* next() noexcept {  // null after the last item
      while (chunk_ != nullptr && position_ == chunk_->count) {
        chunk_ = chunk_->next;
        position_ = 0;
      }
      return chunk_ == nullptr ? nullptr : chunk_->items + position_++;
    }

   private:
    Chunk* chunk_;
    std::uint32_t position_ = 0;
  };
  [[nodiscard]] Cursor cursor() const noexcept { return Cursor(*this); }

 private:
  // Kept out of reserve(), which is inlined into each recording call.
  [[gnu::noinline]] void add_chunk(Arena& arena, std::uint32_t count) {
    constexpr std::uint32_t kFirst = 64, kMax = 16384;
    const std::uint32_t grown = last_ == nullptr ? kFirst : std::min(last_->capacity * 2, kMax);
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
