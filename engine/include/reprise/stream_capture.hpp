// StreamCapture: work of one queue, recorded call by call with real pointers instead of being done,
// as a graph that is a chain in that order. On every device. (Capture of what an application does
// with a CUDA stream is in <reprise/cuda_interop.hpp>.) Threads: one thread at a time a
// StreamCapture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <reprise/buffer.hpp>
#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/kernel.hpp>
#include <reprise/queue.hpp>

namespace reprise {

namespace detail {
class StreamCaptureCore;
}

// What else may happen while a capture is open. In every mode a launch on its queue is refused with
// CapturingStream.
enum class CaptureMode : std::uint8_t {
  Global,  // such a launch, from whatever thread, invalidates the capture; it ends on the thread
           // that began it
  ThreadLocal,  // such a launch from the thread that began it invalidates it; it ends there
  Relaxed       // nothing invalidates it, and any thread may end it
};
[[nodiscard]] std::string_view to_string(CaptureMode mode) noexcept;

enum class CaptureStatus : std::uint8_t {
  None,  // nothing is being captured
  Active,
  Invalidated  // it is open and can only be ended, which throws CaptureInvalidated
};
[[nodiscard]] std::string_view to_string(CaptureStatus status) noexcept;

enum class MemcpyDirection : std::uint8_t { HostToDevice, DeviceToHost, DeviceToDevice };
[[nodiscard]] std::string_view to_string(MemcpyDirection direction) noexcept;

namespace detail {

// A kernel argument of a StreamCapture: an address, or what a dispatch takes. Points into the
// caller.
struct CapturedArgument {
  Argument argument;
  const void* address = nullptr;
  enum class Kind : std::uint8_t { Address, View, Value } kind = Kind::Value;
};
template <class T>
[[nodiscard]] CapturedArgument make_captured_argument(const T& value) {
  using Kind = CapturedArgument::Kind;
  if constexpr (std::is_pointer_v<T>) {
    return {{}, value, Kind::Address};
  } else if constexpr (std::is_base_of_v<BufferView, T>) {
    return {{&value, Access::ReadWrite, nullptr, 0}, nullptr, Kind::View};
  } else if constexpr (std::is_same_v<T, AccessedView>) {
    return {make_argument(value), nullptr, Kind::View};
  } else {
    return {make_argument(value), nullptr, Kind::Value};
  }
}

}  // namespace detail

// Every call but the destructor throws CaptureUnmatched once the capture was ended, and leaves the
// capture as it was when it throws. A capture that is dropped without end() is given up; its queue
// is usable again either way.
class StreamCapture {
 public:
  // Throws NotInitialized for an empty queue, InvalidState where a capture is open on it,
  // StaleHandle, DeviceLost.
  [[nodiscard]] static StreamCapture begin(const Queue& queue,
                                           CaptureMode mode = CaptureMode::Global,
                                           std::string_view label = "capture");
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  StreamCapture(StreamCapture&&) noexcept;
  StreamCapture& operator=(StreamCapture&&) noexcept;
  ~StreamCapture();

  // Arguments in the kernel's order: addresses in device or pinned memory, buffers, read(x) and its
  // like, values. An address is of a buffer of the device, or, on a GPU, of any memory that CUDA
  // knows; it and a plain buffer count as read and written.
  template <class... Args>
  void record_kernel(const Kernel& kernel, const DispatchDesc& desc, const Args&... args) {
    const detail::CapturedArgument list[sizeof...(Args) + 1] = {
        detail::make_captured_argument(args)..., {}};
    record_kernel_arguments(kernel, desc, std::span(list, sizeof...(Args)));
  }
  void record_kernel_arguments(const Kernel& kernel, const DispatchDesc& desc,
                               std::span<const detail::CapturedArgument> args);
  // Host memory is read or written at each replay: the caller keeps it alive, unless it is of a
  // pool.
  void record_memcpy(MemcpyDirection direction, void* destination, const void* source,
                     std::size_t bytes, SourceLocation where = SourceLocation::current());
  void record_memset(void* destination, std::uint8_t value, std::size_t bytes,
                     SourceLocation where = SourceLocation::current());

  [[nodiscard]] std::size_t recorded_count() const;  // operations so far
  [[nodiscard]] CaptureStatus status() const noexcept;
  [[nodiscard]] CaptureMode mode() const;

  // The operations as a graph, each after the one before. The capture is over, also where this
  // throws CaptureInvalidated naming what invalidated it, or what Device::compile throws. Throws
  // InvalidState on another thread than the mode allows.
  [[nodiscard]] CapturedGraph end(const CompileDesc& desc = {});

 private:
  explicit StreamCapture(std::unique_ptr<detail::StreamCaptureCore> core) noexcept;
  [[nodiscard]] detail::StreamCaptureCore& checked(std::string_view call) const;
  std::unique_ptr<detail::StreamCaptureCore> core_;  // null: ended, or moved away
};

}  // namespace reprise
