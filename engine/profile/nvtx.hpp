// NVTX ranges of the engine, in the domain "reprise", for Nsight and whoever else listens. Where nobody does, which is decided when the process
// first asks, every call is one look at a pointer. A build without the CUDA toolkit has no NVTX, and nobody listens.
// Threads: any; a range begins and ends on one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

// True if a tool listens.
[[nodiscard]] bool nvtx_listens() noexcept;

// What the engine is at; also the category of the range.
enum class NvtxWork : std::uint8_t { Record, Compile, Instantiate, Upload, Replay, Label };

// A range on this thread from construction to destruction: "compile step", or of a replay "step #17", with 17 as its payload. A label is its text.
class NvtxRange {
 public:
  NvtxRange(NvtxWork work, std::string_view name, std::uint64_t payload = 0) noexcept : open_(nvtx_listens()) {
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

}  // namespace reprise::detail
