// The engine's NVTX annotations in the domain "reprise", for Nsight, Compute Sanitizer and other
// tools: ranges of its work, names of queues and memory. Whether a tool is attached is determined
// once, on first use; without one, every call costs a pointer test. Builds without the CUDA toolkit
// have no NVTX. Recurring names are registered with the tool; names of replays, which are unique,
// are not. Threads: any; an NvtxRange starts and ends on one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

// True if a tool is attached.
[[nodiscard]] bool nvtx_enabled() noexcept;

// The kind of work; also the category of its range.
enum class NvtxWork : std::uint8_t { Record, Compile, Instantiate, Upload, Replay, Label };

// A range on this thread from construction to destruction, for example "compile step", or "step
// #17" with payload 17 for a replay. The text of a label range is the label.
class NvtxRange {
 public:
  NvtxRange(NvtxWork work, std::string_view name, std::uint64_t payload = 0) noexcept
      : open_(nvtx_enabled()) {
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

// A range that may end on another thread and need not nest. Pass the result of nvtx_start() to
// nvtx_end(). 0: no tool is attached.
[[nodiscard]] std::uint64_t nvtx_start(NvtxWork work, std::string_view name) noexcept;
void nvtx_end(std::uint64_t range) noexcept;

// `stream`: a CUstream; null is ignored.
void nvtx_name_queue(void* stream, std::string_view label) noexcept;
// Names the device allocation that starts at `address` "owner: name". Replaces an earlier name.
void nvtx_name_memory(const void* address, std::string_view owner, std::string_view name) noexcept;

}  // namespace reprise::detail
