// HostVirtualAllocation: memory of the host device whose pages come and go at an address that
// stays; without them every access faults. Threads: as VirtualAllocation says.
#pragma once

#include "backend/backend.hpp"
#include "backend/host/host_memory.hpp"

namespace reprise::detail {

class HostVirtualAllocation final : public VirtualAllocation {
 public:
  // With pages. `memory`, which counts them, outlives this. Null for less than kFewest bytes.
  // Throws OutOfMemory.
  static constexpr std::uint64_t kFewest = 64 * 1024;
  [[nodiscard]] static std::unique_ptr<HostVirtualAllocation> make(HostMemory& memory,
                                                                   std::uint64_t bytes);
  // Without pages. Null where the system has not so many addresses.
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
  void give_back() override;
  void take() override;
  void resize(std::uint64_t bytes) override;

 private:
  void open(std::uint64_t from, std::uint64_t to);   // pages at [from, to)
  void close(std::uint64_t from, std::uint64_t to);  // none there

  HostMemory& memory_;
  std::byte* const address_;
  const std::uint64_t reserved_;
  std::uint64_t bytes_ = 0;
  bool is_there_ = true;
};

}  // namespace reprise::detail
