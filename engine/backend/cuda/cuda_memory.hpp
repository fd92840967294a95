// CudaMemoryPools and CudaMemory: device and pinned host memory of one opened GPU. The memory comes
// from CUDA's memory pools, because cudaFree and cudaFreeHost wait for all work of the GPU and
// block every launch of the process meanwhile. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "backend/cuda/cuda_check.hpp"
#include "record/buffer_core.hpp"

namespace reprise::detail {

struct CudaContext;

class CudaMemoryPools {
 public:
  // The context of the GPU with CUDA's number `ordinal` is current.
  CudaMemoryPools(int ordinal, const CallContext& call);
  CudaMemoryPools(const CudaMemoryPools&) = delete;
  CudaMemoryPools& operator=(const CudaMemoryPools&) = delete;
  ~CudaMemoryPools();

  // Memory for every stream, 256-byte aligned. Throws OutOfMemory.
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes,
                                    const CallContext& call) const;
  // Both wait for themselves only.
  void write(std::byte* to, std::span<const std::byte> bytes, const CallContext& call) const;
  void clear(std::byte* address, std::uint64_t bytes, const CallContext& call) const;
  // No work may use the memory any more. Returns without waiting for other work.
  void free(BufferKind kind, std::byte* address) const noexcept;
  // The stream of these calls. No queue uses it.
  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }

 private:
  [[nodiscard]] cudaMemPool_t pool(BufferKind kind) const noexcept {
    return kind == BufferKind::PinnedHost ? host_ : device_;
  }
  void destroy() noexcept;

  // Null where the GPU or the driver has no such pool: cudaMalloc and cudaHostAlloc serve instead.
  cudaMemPool_t device_ = nullptr, host_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// A block of memory, freed with this object.
class CudaMemory {
 public:
  // `object` names the purpose in an error. Throws OutOfMemory.
  CudaMemory(std::shared_ptr<const CudaContext> context, BufferKind kind, std::uint64_t bytes,
             Stage stage, std::string_view object);
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  ~CudaMemory();

  [[nodiscard]] std::byte* bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t* words() const noexcept {
    return reinterpret_cast<std::uint64_t*>(bytes_);
  }

 private:
  const std::shared_ptr<const CudaContext> context_;
  const BufferKind kind_;
  std::byte* bytes_ = nullptr;
};

}  // namespace reprise::detail
