// Slab: device memory for transients, of one executable or of several that never run at the same
// time. An idle one gives its pages back, where it has whole ones, and takes others at the same
// address before the next launch, so that executables stay as they are; one that was made to grow
// gets more behind those it has. Its bytes count for its device, and for its pool.
// Threads: one at a time; nothing uses the memory while pages are given back or taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "runtime/core/memory_budget.hpp"

namespace reprise::detail {

class DeviceCore;

struct SlabExtent {
  std::uint64_t bytes = 0;
  std::uint64_t reserve = 0;  // that it may grow to; 0: it does not grow
};

class Slab {
 public:
  // `pool`: the pool's account; null: of no pool. `graph` is named in errors. Throws SlabExhausted
  // where a budget does not allow it, OutOfMemory, DeviceLost.
  Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryBudget> pool,
       const SlabExtent& room, std::string_view graph);
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab();

  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept {
    return pages_ ? pages_->bytes() : bytes_;
  }
  [[nodiscard]] bool has_pages() const noexcept {
    return pages_ != nullptr;
  }  // to give back, some day
  [[nodiscard]] bool is_given_back() const noexcept { return given_back_; }
  void give_back();                   // it has pages, and they are there; throws DeviceLost
  void take(std::string_view graph);  // they are not; throws what the constructor does
  // What it may be resized to.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept {
    return grows_ && pages_ ? pages_->reserved() : bytes_;
  }
  // Room for `bytes`, at most most_bytes(), at the same address; what lies in the smaller of both
  // stays, and may be in use. Whoever wants less may keep more. Throws what the constructor does,
  // and nothing has changed.
  void resize(std::uint64_t bytes, std::string_view graph);

 private:
  void charge(std::uint64_t bytes, std::string_view graph);
  void discharge(std::uint64_t bytes) noexcept;
  void note_room(std::uint64_t before) noexcept;

  const std::shared_ptr<DeviceCore> device_;
  const std::shared_ptr<MemoryBudget> pool_;
  const bool grows_;
  std::uint64_t bytes_;
  std::unique_ptr<VirtualAllocation> pages_;  // null: memory that stays
  std::byte* address_ = nullptr;
  bool given_back_ = false;
};

}  // namespace reprise::detail
