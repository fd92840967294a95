// Slab: memory for the transients of one executable. An idle one gives its pages back, where it has whole ones, and takes others at the same
// address before the next launch, so that the executable stays as it is. Its bytes count for its device, and for its graph's pool.
// Threads: one at a time (the graph's mutex); nothing uses the memory in any of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "run/memory_account.hpp"

namespace reprise::detail {

class DeviceCore;

class Slab {
 public:
  // `pool`: the pool's account; null: of no pool. Throws SlabExhausted where a budget does not allow it, OutOfMemory, DeviceLost.
  Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryAccount> pool, std::uint64_t bytes, std::string_view graph);
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab();

  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return pages_ ? pages_->bytes() : bytes_; }
  [[nodiscard]] bool has_pages() const noexcept { return pages_ != nullptr; }  // to give back, some day
  [[nodiscard]] bool is_given_back() const noexcept { return given_back_; }
  void give_back();  // it has pages, and they are there; throws DeviceLost
  void take(std::string_view graph);  // they are not; throws what the constructor does

 private:
  void charge(std::uint64_t bytes, std::string_view graph);
  void discharge(std::uint64_t bytes) noexcept;

  const std::shared_ptr<DeviceCore> device_;
  const std::shared_ptr<MemoryAccount> pool_;
  const std::uint64_t bytes_;
  std::unique_ptr<BackendPages> pages_;  // null: memory that stays
  std::byte* address_ = nullptr;
  bool given_back_ = false;
};

}  // namespace reprise::detail
