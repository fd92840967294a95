// PointerMap: an open-addressing map from pointer to index in an arena, sized for the few hundred
// objects of a recorder. Threads: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/arena.hpp"
#include "record/command.hpp"

namespace reprise::detail {

class PointerMap {
 public:
  // The index of `key`; kNone if absent.
  [[nodiscard]] std::uint32_t find(const void* key) const noexcept {
    for (std::uint32_t i = home(key);; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return slots_[i].index;
      if (slots_[i].key == nullptr) return kNone;
    }
  }

  // Reserves space for one more key. May throw; does not affect find().
  void reserve_one(Arena& arena) {
    if ((count_ + 1) * 2 <= mask_ + 1) return;
    const std::uint32_t old_capacity = mask_ + 1,
                        capacity = std::max(kFirstCapacity, 2 * old_capacity);
    const Slot* const old = slots_;
    Slot* const fresh = arena.make_array<Slot>(capacity);
    std::memset(static_cast<void*>(fresh), 0, sizeof(Slot) * capacity);
    slots_ = fresh;
    mask_ = capacity - 1;
    for (std::uint32_t i = 0; i < old_capacity; ++i) {
      if (old[i].key != nullptr) *free_slot(old[i].key) = old[i];
    }
  }

  // `key` must be absent, and reserve_one() must have been called.
  void insert(const void* key, std::uint32_t index) noexcept {
    *free_slot(key) = {key, index};
    ++count_;
  }

  // Removes a key and closes the gap in its probe sequence.
  void erase(const void* key) noexcept {
    std::uint32_t gap = home(key);
    while (slots_[gap].key != key) gap = (gap + 1) & mask_;
    for (std::uint32_t i = (gap + 1) & mask_; slots_[i].key != nullptr; i = (i + 1) & mask_) {
      if (((i - home(slots_[i].key)) & mask_) >= ((i - gap) & mask_)) {
        slots_[gap] = slots_[i];
        gap = i;
      }
    }
    slots_[gap] = {};
    --count_;
  }

 private:
  static constexpr std::uint32_t kFirstCapacity = 64;
  struct Slot {
    const void* key;
    std::uint32_t index;
  };

  [[nodiscard]] std::uint32_t home(const void* key) const noexcept {
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(key);
    return static_cast<std::uint32_t>((bits * 0x9e3779b97f4a7c15ull) >> 40) & mask_;
  }
  [[nodiscard]] Slot* free_slot(const void* key) const noexcept {
    std::uint32_t i = home(key);
    while (slots_[i].key != nullptr) i = (i + 1) & mask_;
    return slots_ + i;
  }

  static inline Slot no_slot_{};  // of empty maps; never written
  Slot* slots_ = &no_slot_;
  std::uint32_t mask_ = 0, count_ = 0;
};

}  // namespace reprise::detail
