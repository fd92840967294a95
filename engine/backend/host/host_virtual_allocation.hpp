// HostVirtualAllocation: memory of the host device at a stable address whose pages can be unmapped
// and mapped again. An access to unmapped pages faults. Threads: as VirtualAllocation.
#pragma once

#include "backend/backend.hpp"
#include "backend/host/host_memory.hpp"

namespace reprise::detail {

class HostVirtualAllocation final : public VirtualAllocation {
 public:
  // With mapped pages. `memory`, which accounts for them, outlives this object. Null for less than
  // kMinBytes bytes. Throws OutOfMemory.
  static constexpr std::uint64_t kMinBytes = 64 * 1024;
  [[nodiscard]] static std::unique_ptr<HostVirtualAllocation> make(HostMemory& memory,
                                                                   std::uint64_t bytes);
  // Without pages. Null if the system has too few addresses.
  [[nodiscard]] static std::unique_ptr<HostVirtualAllocation> reserve(HostMemory& memory,
                                                                      std::uint64_t bytes);
  HostVirtualAllocation(HostMemory& memory, std::byte* address, std::uint64_t reserved) noexcept
      : memory_(memory), address_(address), reserved_(reserved) {}
  HostVirtualAllocation(const HostVirtualAllocation&) = delete;
  HostVirtualAllocation& operator=(const HostVirtualAllocation&) = delete;
  ~HostVirtualAllocation() override;

  [[nodiscard]] std::byte* address() const noexcept override { return address_; }
  [[nodiscard]] std::uint64_t reserved() const noexcept override { return reserved_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  void unmap() override;
  void map_pages() override;
  void resize(std::uint64_t bytes) override;

 private:
  void map_range(std::uint64_t from, std::uint64_t to);    // maps pages at [from, to)
  void unmap_range(std::uint64_t from, std::uint64_t to);  // unmaps them

  HostMemory& memory_;
  std::byte* const address_;
  const std::uint64_t reserved_;
  std::uint64_t bytes_ = 0;
  bool is_mapped_ = true;
};

}  // namespace reprise::detail
