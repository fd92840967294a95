// StagedBytes: the bytes that a recording took with it (updates and snapshots), in pinned memory, so that a replay reads
// them without a detour over the CPU. Threads: filled by one thread, then immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/cuda/cuda_context.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

class StagedBytes {
 public:
  StagedBytes() = default;
  // Room for everything that `recording` took. Throws OutOfMemory.
  StagedBytes(std::shared_ptr<const CudaContext> context, const Recording& recording);
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;
  ~StagedBytes();

  // A copy of the bytes that stays where it is.
  [[nodiscard]] const std::byte* add(const void* bytes, std::uint64_t size);

 private:
  std::shared_ptr<const CudaContext> context_;
  std::byte* memory_ = nullptr;
  std::uint64_t size_ = 0, used_ = 0;
};

}  // namespace reprise::detail
