// NativeMemory: maps addresses in a CUDA graph's nodes to buffers of a recording. An address in an
// engine buffer maps to that buffer; any other to a placeholder for the whole allocation, which the
// engine does not keep alive. Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "backend/cuda/cuda_context.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// An engine buffer, created or adopted, and the offset of an address in it; empty if no buffer
// contains the address.
struct FoundBuffer {
  std::shared_ptr<BufferCore> buffer;
  std::uint64_t offset = 0;  // bytes
};
using BufferFinder = std::function<FoundBuffer(const void* address)>;

class NativeMemory {
 public:
  // Adds buffers to `recording` on first use.
  NativeMemory(const CudaContext& context, Recording& recording, const BufferFinder& finder)
      : context_(context), recording_(recording), finder_(finder) {}

  struct Location {
    std::uint32_t buffer = kNone;  // in recording.buffers
    std::uint64_t offset = 0;      // bytes
    std::uint64_t remaining = 0;   // bytes from the offset to the buffer's end
  };
  // Empty for addresses unknown to CUDA: no pointer, or pageable host memory.
  [[nodiscard]] std::optional<Location> find(const void* address);
  // For device memory. If CUDA knows no allocation at `address` yet, adds a placeholder of `bytes`
  // bytes.
  [[nodiscard]] Location find_device(const void* address, std::uint64_t bytes);
  // An array, as a buffer of `bytes` bytes without an address.
  [[nodiscard]] std::uint32_t array(CUarray array, std::uint64_t bytes);

 private:
  struct Range {
    std::uint64_t bytes = 0;
    std::uint32_t buffer = 0;
  };
  [[nodiscard]] std::optional<Location> find_known(std::uint64_t address) const;
  [[nodiscard]] std::uint32_t index_of(const std::shared_ptr<BufferCore>& buffer);
  [[nodiscard]] std::uint32_t add_foreign(BufferKind kind, std::uint64_t bytes, std::byte* address,
                                          std::string name);

  const CudaContext& context_;
  Recording& recording_;
  const BufferFinder& finder_;
  std::map<std::uint64_t, Range> ranges_;  // allocations of the application, by address
  std::unordered_map<const BufferCore*, std::uint32_t> indices_;
  std::unordered_map<CUarray, std::uint32_t> arrays_;
  std::uint32_t foreign_ = 0;
};

}  // namespace reprise::detail
