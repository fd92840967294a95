// CudaPages: device memory whose physical pages come and go at an address that stays. Threads: as BackendPages says.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <span>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

// Addresses whose pages are gone. CUDA makes no node for one, so whoever makes nodes beside the launches of a graph looks here first, and holds
// the lock meanwhile. Threads: any.
class GonePages {
 public:
  [[nodiscard]] static GonePages& of_process();
  // None goes or comes back while it is held.
  [[nodiscard]] std::shared_lock<std::shared_mutex> hold() { return std::shared_lock(mutex_); }
  [[nodiscard]] bool has_any(std::span<std::byte* const> addresses) const;  // while held

 private:
  friend class CudaPages;
  std::shared_mutex mutex_;
  std::map<std::byte*, std::uint64_t> ranges_;  // bytes, by where they begin
};

class CudaPages final : public BackendPages {
 public:
  // With pages. Null where the GPU can't, or whole pages would be much more than `bytes`. Throws OutOfMemory, DeviceLost.
  [[nodiscard]] static std::unique_ptr<CudaPages> make(std::shared_ptr<const CudaContext> context, std::uint64_t bytes);
  CudaPages(std::shared_ptr<const CudaContext> context, CUdeviceptr address, std::uint64_t bytes) noexcept;
  CudaPages(const CudaPages&) = delete;
  CudaPages& operator=(const CudaPages&) = delete;
  ~CudaPages() override;

  [[nodiscard]] std::byte* address() const noexcept override { return reinterpret_cast<std::byte*>(address_); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  void give_back() override;
  void take() override;

 private:
  const std::shared_ptr<const CudaContext> context_;
  const CUdeviceptr address_;
  const std::uint64_t bytes_;
  bool mapped_ = false;
};

}  // namespace reprise::detail
