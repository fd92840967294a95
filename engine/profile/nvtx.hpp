// NVTX of the engine, in the domain "reprise", for Nsight, Compute Sanitizer and whoever else
// listens: ranges of what it does, names of queues and of memory. Where nobody listens, which is
// decided when the process first asks, every call is one look at a pointer. A build without the
// CUDA toolkit has no NVTX, and nobody listens. Names that come again and again are registered with
// the tool once; the name of a replay, which comes once, is not. Threads: any; an NvtxRange begins
// and ends on one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

// True if a tool listens to ranges.
[[nodiscard]] bool nvtx_listens() noexcept;

// What the engine is at; also the category of the range.
enum class NvtxWork : std::uint8_t { Record, Compile, Instantiate, Upload, Replay, Label };

// A range on this thread from construction to destruction: "compile step", or of a replay "step
// #17", with 17 as its payload. A label is its text.
class NvtxRange {
 public:
  NvtxRange(NvtxWork work, std::string_view name, std::uint64_t payload = 0) noexcept
      : open_(nvtx_listens()) {
    if (open_) [[unlikely]]
      push(work, name, payload);
  }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange() {
    if (open_) [[unlikely]]
      pop();
  }
  static void push(NvtxWork work, std::string_view name, std::uint64_t payload) noexcept;
  static void pop() noexcept;

 private:
  const bool open_;
};

// A range that may end on another thread than it began on, and need not nest: give what
// nvtx_start() returned to nvtx_end(). 0: nobody listens.
[[nodiscard]] std::uint64_t nvtx_start(NvtxWork work, std::string_view name) noexcept;
void nvtx_end(std::uint64_t range) noexcept;

// `stream` is a CUstream; null: nothing happens.
void nvtx_name_queue(void* stream, std::string_view label) noexcept;
// `address` is the beginning of an allocation of device memory; it is called "owner: name". A later
// one at the same address takes its place.
void nvtx_name_memory(const void* address, std::string_view owner, std::string_view name) noexcept;

}  // namespace reprise::detail
