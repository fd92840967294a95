// CudaVirtualAllocation: device memory at a stable address whose physical pages can be unmapped and
// mapped again. Threads: as VirtualAllocation.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

// The address ranges without mapped pages. CUDA refuses to create nodes for such addresses. Code
// that creates nodes concurrently with the graph's launches checks this object first and holds its
// lock meanwhile. Threads: any.
class UnmappedRanges {
 public:
  [[nodiscard]] static UnmappedRanges& of_process();
  // No range is added or removed while the lock is held.
  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(mutex_); }
  [[nodiscard]] bool contains_any(std::span<std::byte* const> addresses) const;  // requires hold()

 private:
  friend class CudaVirtualAllocation;
  std::shared_mutex mutex_;
  std::map<std::byte*, std::uint64_t> ranges_;  // size in bytes, by start
};

class CudaVirtualAllocation final : public VirtualAllocation {
 public:
  // Sizes in bytes. `bytes` and `page`: the address range and its page size. `largest_piece`: the
  // maximum size of one mapping, which is also the excess that resize() may leave mapped.
  struct Layout {
    std::uint64_t bytes, page, largest_piece;
  };
  // With mapped pages. Null if the GPU lacks support or if whole pages exceed `bytes` by far.
  // Throws OutOfMemory, DeviceLost.
  [[nodiscard]] static std::unique_ptr<CudaVirtualAllocation> make(
      std::shared_ptr<const CudaContext> context, std::uint64_t bytes);
  // Without pages. Null if the GPU lacks support or has too few addresses. Throws DeviceLost.
  [[nodiscard]] static std::unique_ptr<CudaVirtualAllocation> reserve(
      std::shared_ptr<const CudaContext> context, std::uint64_t bytes);
  CudaVirtualAllocation(std::shared_ptr<const CudaContext> context, CUdeviceptr address,
                        const Layout& layout) noexcept;
  CudaVirtualAllocation(const CudaVirtualAllocation&) = delete;
  CudaVirtualAllocation& operator=(const CudaVirtualAllocation&) = delete;
  ~CudaVirtualAllocation() override;

  static constexpr std::uint64_t kLargestPiece = 64 << 20;  // for reserve()

  [[nodiscard]] std::byte* address() const noexcept override {
    return reinterpret_cast<std::byte*>(address_);
  }
  [[nodiscard]] std::uint64_t reserved() const noexcept override { return layout_.bytes; }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  void unmap() override;
  void map_pages() override;
  void resize(std::uint64_t bytes) override;

 private:
  [[nodiscard]] std::uint64_t mapped() const noexcept {
    return pieces_.empty() ? 0 : pieces_.back();
  }
  void map(std::uint64_t to);  // maps pages up to `to`: all missing ones or, on an error, none
  void map_piece(std::uint64_t to);               // maps the next piece
  [[nodiscard]] CUresult unmap_piece() noexcept;  // unmaps the last piece

  const std::shared_ptr<const CudaContext> context_;
  const CUdeviceptr address_;
  const Layout layout_;
  std::uint64_t bytes_ = 0;
  bool is_unmapped_ = false;
  std::vector<std::uint64_t> pieces_;  // end offsets of the mappings; the first mapping starts at 0
};

}  // namespace reprise::detail
