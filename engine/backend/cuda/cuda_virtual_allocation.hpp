// CudaVirtualAllocation: device memory whose physical pages come and go at an address that stays.
// Threads: as VirtualAllocation says.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

// Addresses whose pages are gone. CUDA makes no node for one, so whoever makes nodes beside the
// launches of a graph looks here first, and holds the lock meanwhile. Threads: any.
class UnmappedPagesError {
 public:
  [[nodiscard]] static UnmappedPagesError& of_process();
  // None goes or comes back while it is held.
  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(mutex_); }
  [[nodiscard]] bool has_any(std::span<std::byte* const> addresses) const;  // while held

 private:
  friend class CudaVirtualAllocation;
  std::shared_mutex mutex_;
  std::map<std::byte*, std::uint64_t> ranges_;  // bytes, by where they begin
};

class CudaVirtualAllocation final : public VirtualAllocation {
 public:
  // Addresses, of whole pages, and what of them is mapped in one piece at most; so much may stay
  // when less is wanted.
  struct Room {
    std::uint64_t bytes, page, largest_piece;
  };
  // With pages. Null where the GPU can't, or whole pages would be much more than `bytes`. Throws
  // OutOfMemory, DeviceLost.
  [[nodiscard]] static std::unique_ptr<CudaVirtualAllocation> make(
      std::shared_ptr<const CudaContext> context, std::uint64_t bytes);
  // Without pages. Null where the GPU can't, or has not so many addresses. Throws DeviceLost.
  [[nodiscard]] static std::unique_ptr<CudaVirtualAllocation> reserve(
      std::shared_ptr<const CudaContext> context, std::uint64_t bytes);
  CudaVirtualAllocation(std::shared_ptr<const CudaContext> context, CUdeviceptr address,
                        const Room& room) noexcept;
  CudaVirtualAllocation(const CudaVirtualAllocation&) = delete;
  CudaVirtualAllocation& operator=(const CudaVirtualAllocation&) = delete;
  ~CudaVirtualAllocation() override;

  static constexpr std::uint64_t kLargestPiece = 64 << 20;  // of what is reserved without pages

  [[nodiscard]] std::byte* address() const noexcept override {
    return reinterpret_cast<std::byte*>(address_);
  }
  [[nodiscard]] std::uint64_t reserved() const noexcept override { return room_.bytes; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  void give_back() override;
  void take() override;
  void resize(std::uint64_t bytes) override;

 private:
  [[nodiscard]] std::uint64_t mapped() const noexcept {
    return pieces_.empty() ? 0 : pieces_.back();
  }
  void map(std::uint64_t to);        // pages up to there; all or none of those that are missing
  void map_piece(std::uint64_t to);  // the next one
  [[nodiscard]] CUresult unmap_piece() noexcept;  // the last one

  const std::shared_ptr<const CudaContext> context_;
  const CUdeviceptr address_;
  const Room room_;
  std::uint64_t bytes_ = 0;
  bool is_gone_ = false;
  std::vector<std::uint64_t> pieces_;  // where each mapping ends; the first one begins at 0
};

}  // namespace reprise::detail
