// StagedBytes: pinned copies of the bytes that a recording contains (updates and snapshots), which
// replays read directly. CUDA refuses to change the address of a pitched copy in an executable, so
// its bytes have memory of their own, which the next plan shares if its bytes are equal. Threads:
// one at a time adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "backend/cuda/cuda_context.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

class StagedBytes {
 public:
  StagedBytes() = default;
  // Reserves memory for all bytes of `recording` and its bodies but those of pitched copies.
  // `before`: the bytes of the plan that `recording` replaces, if any. Throws OutOfMemory.
  StagedBytes(std::shared_ptr<const CudaContext> context, const Recording& recording,
              const StagedBytes* before = nullptr);

  // Copies the bytes of a command to a stable address; a repeated key returns the first copy. `key`
  // is the command's number; the keys of bodies follow those of the recording.
  [[nodiscard]] const std::byte* add(std::uint32_t key, const void* bytes, std::uint64_t size);
  // The same for a copy from a snapshot. Throws OutOfMemory.
  [[nodiscard]] const std::byte* add(std::uint32_t key, const CopyPayload& copy);

 private:
  struct Pitched {
    std::shared_ptr<const CudaMemory> memory;
    std::uint64_t size = 0;
  };

  std::shared_ptr<const CudaContext> context_;
  std::optional<CudaMemory> memory_;  // empty: no bytes
  std::uint64_t size_ = 0, used_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> offsets_;  // by key
  std::unordered_map<std::uint32_t, Pitched> pitched_;        // by key
};

}  // namespace reprise::detail
