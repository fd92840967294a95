// Slab: device memory for transients, of one executable or of several that never run at the same
// time. A slab of whole pages can be unmapped while idle and mapped again at the same address, so
// executables stay valid; a slab with a reserve grows in place. Counts its bytes for its device and
// its pool.
// Threads: one at a time; nothing uses the memory during unmap() and map().
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
  std::uint64_t reserve = 0;  // bytes of addresses to grow into; 0: fixed size
};

class Slab {
 public:
  // `pool`: the pool's budget; null without a pool. `graph` appears in errors. Throws SlabExhausted
  // if a budget refuses, OutOfMemory, DeviceLost.
  Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryBudget> pool,
       const SlabExtent& extent, std::string_view graph);
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab();

  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  // Bytes that the slab occupies while mapped: whole pages, or its size.
  [[nodiscard]] std::uint64_t footprint_bytes() const noexcept {
    return pages_ ? pages_->bytes() : bytes_;
  }
  // True if unmap() is possible at all.
  [[nodiscard]] bool is_pageable() const noexcept { return pages_ != nullptr; }
  [[nodiscard]] bool is_unmapped() const noexcept { return unmapped_; }
  void unmap();                      // requires a mapped, pageable slab; throws DeviceLost
  void map(std::string_view graph);  // requires an unmapped slab; throws as the constructor
  // The largest size for resize().
  [[nodiscard]] std::uint64_t max_bytes() const noexcept {
    return grows_ && pages_ ? pages_->reserved() : bytes_;
  }
  // Changes the size to `bytes`, at most max_bytes(), at the same address. Bytes that both sizes
  // contain stay valid and may be in use. Shrinking may keep more. Throws as the constructor, then
  // without any change.
  void resize(std::uint64_t bytes, std::string_view graph);

 private:
  void charge(std::uint64_t bytes, std::string_view graph);
  void discharge(std::uint64_t bytes) noexcept;
  void record_resize(std::uint64_t before) noexcept;

  const std::shared_ptr<DeviceCore> device_;
  const std::shared_ptr<MemoryBudget> pool_;
  const bool grows_;
  std::uint64_t bytes_;
  std::unique_ptr<VirtualAllocation> pages_;  // null: memory that is never unmapped
  std::byte* address_ = nullptr;
  bool unmapped_ = false;
};

}  // namespace reprise::detail
