// NativeMemory: from the addresses in a CUDA graph's nodes to buffers of a recording: the engine's
// own where they are of one, else a stand-in for the whole allocation, which the engine does not
// keep alive. Threads: one.
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

// A buffer that the engine made or adopted, and where in it an address is; empty where there is
// none.
struct FoundBuffer {
  std::shared_ptr<BufferCore> buffer;
  std::uint64_t offset = 0;  // bytes
};
using BufferFinder = std::function<FoundBuffer(const void* address)>;

class NativeMemory {
 public:
  // Buffers are added to `recording` as they are met.
  NativeMemory(const CudaContext& context, Recording& recording, const BufferFinder& finder)
      : context_(context), recording_(recording), finder_(finder) {}

  struct Place {
    std::uint32_t buffer = kNone;  // in recording.buffers
    std::uint64_t offset = 0;      // bytes
    std::uint64_t left = 0;        // bytes from there to the buffer's end
  };
  // Empty for what CUDA does not know: no pointer, or pageable host memory.
  [[nodiscard]] std::optional<Place> find(const void* address);
  // The same of memory of a device, whether CUDA knows an allocation there or not yet: then it is
  // `bytes` from there on.
  [[nodiscard]] Place find_device(const void* address, std::uint64_t bytes);
  // An array, as `bytes` without an address.
  [[nodiscard]] std::uint32_t array(CUarray array, std::uint64_t bytes);

 private:
  struct Range {
    std::uint64_t bytes = 0;
    std::uint32_t buffer = 0;
  };
  [[nodiscard]] std::optional<Place> find_known(std::uint64_t address) const;
  [[nodiscard]] std::uint32_t index_of(const std::shared_ptr<BufferCore>& buffer);
  [[nodiscard]] std::uint32_t add_foreign(BufferKind kind, std::uint64_t bytes, std::byte* address,
                                          std::string name);

  const CudaContext& context_;
  Recording& recording_;
  const BufferFinder& finder_;
  std::map<std::uint64_t, Range> ranges_;  // allocations that are not the engine's, by address
  std::unordered_map<const BufferCore*, std::uint32_t> indices_;
  std::unordered_map<CUarray, std::uint32_t> arrays_;
  std::uint32_t foreign_ = 0;
};

}  // namespace reprise::detail
