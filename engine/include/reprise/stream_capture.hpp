// StreamCapture: records operations on a queue, with addresses instead of handles, into a graph
// that is a chain in recorded order. Works on every device. <reprise/cuda_interop.hpp> captures
// what an application submits to a CUDA stream. Threads: one thread at a time for each
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

namespace reprise::detail {
class StreamCaptureCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// The calls that invalidate an open capture (as cudaStreamCaptureMode). In every mode a launch on
// the captured queue throws CapturingStream.
enum class CaptureMode : std::uint8_t {
  Global,       // such a launch from any thread; the capture ends on the thread that started it
  ThreadLocal,  // such a launch from the starting thread; the capture ends on that thread
  Relaxed       // nothing; any thread may end the capture
};
[[nodiscard]] REPRISE_API std::string_view to_string(CaptureMode mode) noexcept;

enum class CaptureStatus : std::uint8_t {
  None,  // no capture is open
  Active,
  Invalidated  // open; can only be ended, which throws CaptureInvalidated
};
[[nodiscard]] REPRISE_API std::string_view to_string(CaptureStatus status) noexcept;

enum class MemcpyDirection : std::uint8_t { HostToDevice, DeviceToHost, DeviceToDevice };
[[nodiscard]] REPRISE_API std::string_view to_string(MemcpyDirection direction) noexcept;

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

// A kernel argument of a StreamCapture: an address, or an argument of a dispatch. Points to objects
// of the caller.
struct CapturedArgument {
  Argument argument;
  const void* address = nullptr;
  enum class Kind : std::uint8_t { Address, View, Value } kind = Kind::Value;
};
template <class T>
[[nodiscard]] CapturedArgument make_captured_argument(const T& value) {
  using Kind = CapturedArgument::Kind;
  static_assert(!is_by_block<T>, "captured kernels are in no segment: leave out by_block()");
  if constexpr (std::is_pointer_v<T>) {
    return {{}, value, Kind::Address};
  } else if constexpr (std::is_base_of_v<BufferView, T>) {
    Argument argument{.view = &value, .access = Access::ReadWrite, .is_declared = false};
    if constexpr (TypedRef<T>) argument.type = &value_type<typename T::value_type>;
    return {argument, nullptr, Kind::View};
  } else if constexpr (std::is_same_v<T, AccessedView> || std::is_same_v<T, AccessedRef>) {
    return {make_argument(value), nullptr, Kind::View};
  } else {
    return {make_argument(value), nullptr, Kind::Value};
  }
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A move-only object. All members except status() throw CaptureUnmatched after end(), and leave the
// capture unchanged when they throw. Recording and end() throw StaleHandle for a stale queue.
// Destroying an open capture discards it and makes its queue usable again.
class REPRISE_API StreamCapture {
 public:
  // Starts a capture on `queue`. Throws NotInitialized for an empty queue, InvalidState if a
  // capture is open on it, StaleHandle.
  [[nodiscard]] static StreamCapture begin(const Queue& queue,
                                           CaptureMode mode = CaptureMode::Global,
                                           std::string_view label = "capture");
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  StreamCapture(StreamCapture&&) noexcept;
  StreamCapture& operator=(StreamCapture&&) noexcept;
  ~StreamCapture();

  // Appends a kernel. `args` are in the kernel's order: addresses in device or pinned memory,
  // buffers, declared accesses such as read(x), or values. An address belongs to a buffer of the
  // device or, on a GPU, to any memory that CUDA knows. Addresses and undeclared buffers count as
  // read and written. Throws as Recorder::dispatch.
  template <class... Args>
  void record_kernel(CalledKernel kernel, const DispatchDesc& desc, const Args&... args) {
    const detail::CapturedArgument list[sizeof...(Args) + 1] = {
        detail::make_captured_argument(args)..., {}};
    record_kernel_arguments(kernel, desc, std::span(list, sizeof...(Args)));
  }
  // Appends a copy of `bytes` bytes; the argument order is that of cudaMemcpy. Each replay accesses
  // the host memory, which the caller keeps alive unless it belongs to a pool. Throws
  // InvalidArgument for an unknown address, OutOfRange.
  void record_memcpy(MemcpyDirection direction, void* destination, const void* source,
                     std::size_t bytes, SourceLocation where = SourceLocation::current());
  // Appends a fill of `bytes` bytes with `value`. Throws as record_memcpy.
  void record_memset(void* destination, std::uint8_t value, std::size_t bytes,
                     SourceLocation where = SourceLocation::current());

  [[nodiscard]] std::size_t recorded_count() const;  // number of operations
  [[nodiscard]] CaptureStatus status() const noexcept;
  [[nodiscard]] CaptureMode mode() const;

  // Ends the capture and compiles the operations into a graph, in which each follows the previous
  // one. Throws CaptureInvalidated with the cause, and what Device::compile throws; the capture has
  // ended in these cases, too. Throws InvalidState, without ending it, on a thread that the mode
  // does not allow and in a host callback.
  [[nodiscard]] CapturedGraph end(const CompileDesc& desc = {});

 private:
  void record_kernel_arguments(const CalledKernel& kernel, const DispatchDesc& desc,
                               std::span<const detail::CapturedArgument> args);
  explicit StreamCapture(std::unique_ptr<detail::StreamCaptureCore> core) noexcept;
  [[nodiscard]] detail::StreamCaptureCore& checked(std::string_view call) const;
  std::unique_ptr<detail::StreamCaptureCore> core_;  // null: ended or moved from
};

}  // namespace reprise::inline REPRISE_ABI
