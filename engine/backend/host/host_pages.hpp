// HostPages: memory of the host device whose pages come and go at an address that stays; without them every access faults.
// Threads: as BackendPages says.
#pragma once

#include "backend/backend.hpp"
#include "backend/host/host_memory.hpp"

namespace reprise::detail {

class HostPages final : public BackendPages {
 public:
  // With pages. `memory`, which counts them, outlives this. Null for less than kFewest bytes. Throws OutOfMemory.
  static constexpr std::uint64_t kFewest = 64 * 1024;
  [[nodiscard]] static std::unique_ptr<HostPages> make(HostMemory& memory, std::uint64_t bytes);
  HostPages(HostMemory& memory, std::byte* address, std::uint64_t bytes) noexcept : memory_(memory), address_(address), bytes_(bytes) {}
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  ~HostPages() override;

  [[nodiscard]] std::byte* address() const noexcept override { return address_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  void give_back() override;
  void take() override;

 private:
  HostMemory& memory_;
  std::byte* const address_;
  const std::uint64_t bytes_;
  bool counted_ = false;
};

}  // namespace reprise::detail
