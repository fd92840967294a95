// Arena: a bump allocator. Blocks grow geometrically and are freed together. Runs no destructors,
// so it holds trivially destructible objects only. Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace reprise::detail {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;

  // `alignment` is a power of two, at most 64. Never returns null; throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::uintptr_t address = (next_ + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    if (address < next_ || address > end_ || bytes > end_ - address)
      return allocate_in_new_block(bytes, alignment);
    next_ = address + bytes;
    return reinterpret_cast<void*>(address);
  }
  template <class T, class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return ::new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  template <class T>
  [[nodiscard]] T* make_array(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
  }
  [[nodiscard]] std::byte* copy_bytes(const void* source, std::size_t bytes,
                                      std::size_t alignment = 16) {
    auto* p = static_cast<std::byte*>(allocate(bytes, alignment));
    if (bytes != 0) std::memcpy(p, source, bytes);
    return p;
  }
  [[nodiscard]] std::string_view copy_text(std::string_view text) {
    return {reinterpret_cast<const char*>(copy_bytes(text.data(), text.size(), 1)), text.size()};
  }
  // Gives back [begin, end) if the latest allocation ends there; otherwise has no effect.
  void give_back(const void* begin, const void* end) noexcept {
    if (reinterpret_cast<std::uintptr_t>(end) == next_)
      next_ = reinterpret_cast<std::uintptr_t>(begin);
  }
  // Invalidates all allocations. Keeps only the largest block.
  void reset() noexcept;
  [[nodiscard]] std::size_t block_count() const noexcept { return blocks_.size(); }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  void* allocate_in_new_block(std::size_t bytes, std::size_t alignment);

  std::uintptr_t next_ = 0, end_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace reprise::detail
