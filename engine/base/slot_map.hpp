// SlotMap: values addressed by ids of slot and version. Reusing a slot advances its version, so a
// stale id finds nothing. `Id` has two 32-bit members, slot and version. Knows nothing about its
// values. Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace reprise::detail {

template <class T, class Id>
class SlotMap {
 public:
  // O(1); strong guarantee.
  Id insert(T value) {
    if (free_ != kNoSlot) {
      const std::uint32_t slot = free_;
      Slot& s = slots_[slot];
      free_ = s.next_free;
      s.value = std::move(value);
      s.used = true;
      ++size_;
      return make_id(slot, s.version);
    }
    slots_.push_back({std::move(value), 0, kNoSlot, true});
    ++size_;
    return make_id(static_cast<std::uint32_t>(slots_.size() - 1), 0);
  }

  // Returns true if `id` was in use. Advances the slot's version; a slot with the maximum version
  // is retired.
  bool erase(Id id) noexcept {
    if (find(id) == nullptr) return false;
    Slot& s = slots_[id.slot];
    s.value = T();
    s.used = false;
    --size_;
    if (s.version != std::numeric_limits<std::uint32_t>::max()) {
      ++s.version;
      s.next_free = free_;
      free_ = id.slot;
    }
    return true;
  }

  // Returns null for an unknown slot or an earlier version.
  [[nodiscard]] T* find(Id id) noexcept {
    if (id.slot >= slots_.size()) return nullptr;
    Slot& s = slots_[id.slot];
    return s.used && s.version == id.version ? &s.value : nullptr;
  }

  template <class Function>
  void for_each(Function&& function) {
    for (Slot& s : slots_) {
      if (s.used) function(s.value);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t kNoSlot = 0xffffffffu;
  struct Slot {
    T value;
    std::uint32_t version;
    std::uint32_t next_free;
    bool used;
  };
  [[nodiscard]] static Id make_id(std::uint32_t slot, std::uint32_t version) {
    Id id;
    id.slot = slot;
    id.version = version;
    return id;
  }

  std::vector<Slot> slots_;
  std::uint32_t free_ = kNoSlot;
  std::size_t size_ = 0;
};

}  // namespace reprise::detail
