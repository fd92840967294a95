// StagedBytes: the bytes that a recording took with it (updates and snapshots), in pinned memory,
// so that a replay reads them without a detour over the CPU. Threads: one at a time adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "backend/cuda/cuda_context.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

class StagedBytes {
 public:
  StagedBytes() = default;
  // Room for everything that `recording`, with what it runs, took. Throws OutOfMemory.
  StagedBytes(std::shared_ptr<const CudaContext> context, const Recording& recording);
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;
  ~StagedBytes();

  // A copy of the bytes of a command that stays where it is; the one that is there, if that command
  // had one made before. `key` is the command's number, those of what the recording runs counted
  // on.
  [[nodiscard]] const std::byte* add(std::uint32_t key, const void* bytes, std::uint64_t size);

 private:
  std::shared_ptr<const CudaContext> context_;
  std::byte* memory_ = nullptr;
  std::uint64_t size_ = 0, used_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> offsets_;  // by key
};

}  // namespace reprise::detail
