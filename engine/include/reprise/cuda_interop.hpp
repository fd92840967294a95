// CUDA interoperation: from_native() adopts streams, memory, kernels and graphs of the application;
// native_*() and release() return the engine's. The only public header that depends on CUDA; the
// application includes and links the CUDA runtime itself. Adopted objects still belong to the
// application: they must outlive their last use here, or come with an `owner` that is held until
// then. Threads: all calls are safe from any thread. Errors: all functions throw Unsupported for
// the host device, NotInitialized for an empty handle and InvalidState in a host callback, and
// leave no pending CUDA error and no changed current device.
#pragma once

#ifndef REPRISE_HAS_CUDA
#error \
    "this build of Reprise has no CUDA device; build it with a CUDA toolkit to use <reprise/cuda_interop.hpp>"
#endif

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <reprise/buffer.hpp>
#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>
#include <reprise/dot.hpp>
#include <reprise/kernel.hpp>
#include <reprise/queue.hpp>
#include <reprise/stream_capture.hpp>

namespace reprise::inline REPRISE_ABI {

// Makes `device` (its primary context) current on this thread, and restores the previous context
// when it is destroyed.
class REPRISE_API CurrentDevice {
 public:
  explicit CurrentDevice(const Device& device);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  class Scope;
  std::unique_ptr<Scope> scope_;
};

// The device's primary context.
[[nodiscard]] REPRISE_API CUcontext native_context(const Device& device);

// --- Streams ---
// A queue that launches on `stream`, which must outlive all handles of the queue: Queue objects,
// and what stores one, as DeviceScalar and GraphActor do. When the last one is dropped, the engine
// records an event after all work of the stream, for later launches that must wait for it, and does
// not use the stream any more. While the stream is being captured, launches throw CapturingStream
// and do not affect the capture. Throws WrongDevice for a stream of another device or context, such
// as a green context, and InvalidArgument if `desc` has a priority: the stream keeps its own.
[[nodiscard]] REPRISE_API Queue from_native(const Device& device, CUstream stream,
                                            const QueueDesc& desc = {});
// The stream of a queue, which still belongs to the queue. From this call on, the engine assumes
// that the stream may contain work that it did not submit.
[[nodiscard]] REPRISE_API CUstream native_stream(const Queue& queue);
// Transfers the stream to the caller, who destroys it after the last handle of the queue.
[[nodiscard]] REPRISE_API CUstream release(const Queue& queue);

// --- Memory ---
}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
[[nodiscard]] REPRISE_API BufferView adopt_memory(const Device& device, BufferKind kind,
                                                  void* address, std::uint64_t count,
                                                  std::uint64_t element_bytes,
                                                  std::uint64_t alignment, std::string_view name,
                                                  std::shared_ptr<void> owner);
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A buffer of `count` values at `address` in device or managed memory. GpuRef::data() is the
// inverse. Buffers that share bytes, because an address was adopted twice or belongs to a pool's
// buffer, are ordered like ranges of one buffer, in a recording and between graphs. Throws
// InvalidArgument for other memory, WrongDevice for memory of another GPU, OutOfRange if the
// allocation is smaller.
template <class T>
[[nodiscard]] GpuRef<T> from_native(const Device& device, T* address, std::uint64_t count,
                                    std::string_view name = "",
                                    std::shared_ptr<void> owner = nullptr) {
  return GpuRef<T>(detail::adopt_memory(device, BufferKind::Device, address, count, sizeof(T),
                                        alignof(T), name, std::move(owner)));
}
// A buffer in pinned host memory (cudaHostAlloc, cudaHostRegister). Throws as above.
template <class T>
[[nodiscard]] HostRef<T> from_native_host(const Device& device, T* address, std::uint64_t count,
                                          std::string_view name = "",
                                          std::shared_ptr<void> owner = nullptr) {
  return HostRef<T>(detail::adopt_memory(device, BufferKind::PinnedHost, address, count, sizeof(T),
                                         alignof(T), name, std::move(owner)));
}

// --- Kernels ---
// Parameters are reflected from the compiled code, which has no types: a parameter of 8 bytes takes
// a buffer or a value. Throw KernelNotFound, and NativeFailure if the driver refuses the image.
[[nodiscard]] REPRISE_API Kernel load_cubin(const Device& device, std::span<const std::byte> image,
                                            std::string_view entry);  // or a fatbin
[[nodiscard]] REPRISE_API Kernel load_ptx(const Device& device, std::string_view text,
                                          std::string_view entry);
// A kernel of a module that belongs to the application.
[[nodiscard]] REPRISE_API Kernel from_native(const Device& device, CUfunction function,
                                             std::shared_ptr<void> owner = nullptr);
[[nodiscard]] REPRISE_API Kernel from_native(const Device& device, CUkernel kernel,
                                             std::shared_ptr<void> owner = nullptr);
[[nodiscard]] REPRISE_API CUfunction native_function(const Kernel& kernel);

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
// `declared`: the parameters of its declaration, if that is known.
[[nodiscard]] REPRISE_API Kernel adopt_function(
    const Device& device, CUfunction function,
    std::optional<std::span<const KernelParameter>> declared, std::shared_ptr<void> owner);
[[noreturn]] REPRISE_API void refuse_symbol(const Device& device, cudaError_t result);
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A __global__ function of the application, which is resolved by the CUDA runtime that the
// application links.
template <class... Parameters>
[[nodiscard]] Kernel kernel_from_symbol(const Device& device, void (*symbol)(Parameters...)) {
  const CurrentDevice current(device);
  cudaFunction_t function = nullptr;
  const cudaError_t result = cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(symbol));
  if (result != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    detail::refuse_symbol(device, result);
  }
  static constexpr auto kDeclared = detail::parameter_table<void, Parameters...>();
  return detail::adopt_function(device, function, std::span<const KernelParameter>(kDeclared),
                                nullptr);
}

// --- Graphs ---
struct AdoptedGraphDesc {
  std::string_view label = "adopted";
  std::shared_ptr<void> owner = nullptr;  // of objects that its nodes use
};
// A copy of `graph`; its nodes, names, edges and parameters appear in the plan, DOT files and the
// trace. The CapturedGraph holds buffers whose addresses are among the parameters and counts them
// as read and written; announce other writes with BufferView::record_write. Throws NativeFailure if
// the driver cannot copy the graph (memory and conditional nodes) or instantiate it.
[[nodiscard]] REPRISE_API CapturedGraph from_native(const Device& device, CUgraph graph,
                                                    const AdoptedGraphDesc& desc = {});

// --- Capture of a stream ---
[[nodiscard]] REPRISE_API CUstreamCaptureMode to_cuda(CaptureMode mode) noexcept;
// Whether the stream of the queue is being captured, by the engine or by the application.
[[nodiscard]] REPRISE_API CaptureStatus capture_status(const Queue& queue);
// Captures the work that the application submits to native_stream(queue) until end_capture.
// Meanwhile the engine refuses launches on the queue, and they invalidate the capture as
// CaptureMode states. Throws InvalidState if a capture is open on the queue, NativeFailure.
REPRISE_API void begin_capture(const Queue& queue, CaptureMode mode = CaptureMode::Global);
// Ends the capture and returns the captured work, as from_native(device, graph) does. Throws
// CaptureUnmatched if begin_capture was not called, CaptureInvalidated with the cause as far as it
// is known, InvalidState on a thread that the mode does not allow. The capture has then ended, and
// the stream is usable again, except for InvalidState.
[[nodiscard]] REPRISE_API CapturedGraph
end_capture(const Queue& queue, const AdoptedGraphDesc& desc = {.label = "captured"});
// Also makes the graph hold `pool` and all buffers that it has now.
[[nodiscard]] REPRISE_API CapturedGraph
end_capture_with_pool(const Queue& queue, const std::shared_ptr<CapturePool>& pool,
                      const AdoptedGraphDesc& desc = {.label = "captured"});

// A capture as a scope. If the scope is left without end(), for example by an exception, the
// capture is discarded and the stream is usable again.
class [[nodiscard]] REPRISE_API CaptureScope {
 public:
  explicit CaptureScope(const Queue& queue, CaptureMode mode = CaptureMode::Global);
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
  ~CaptureScope();
  [[nodiscard]] CapturedGraph end(const AdoptedGraphDesc& desc = {
                                      .label = "captured"});  // throws as end_capture

 private:
  Queue queue_;  // empty: ended
};

// --- The graph behind a CapturedGraph ---
// The source graph and the executable of `graph`, for inspection and tools. They still belong to
// the CapturedGraph, which from this call on keeps its pages (CapturePool::trim skips it). Changes
// to commands in segments reach the executable at the next launch of the CapturedGraph.
[[nodiscard]] REPRISE_API CUgraph native_graph(const CapturedGraph& graph);
[[nodiscard]] REPRISE_API CUgraphExec native_exec(const CapturedGraph& graph);
// A copy of the source graph, which the caller destroys. Buffers, kernels and host functions that
// its nodes use still belong to the CapturedGraph, which keeps its pages from this call on.
[[nodiscard]] REPRISE_API CUgraph release(const CapturedGraph& graph);
// The low 16 bits of `flags`, as cudaGraphDebugDotFlags.
[[nodiscard]] REPRISE_API unsigned to_cuda(DotFlags flags) noexcept;
// Writes CUDA's DOT file of the graph as instantiated, including timestamp kernels
// (cudaGraphDebugDotPrint); export_dot writes the plan. Throws NativeFailure.
REPRISE_API void cuda_debug_dot(const CapturedGraph& graph, const std::filesystem::path& path,
                                DotFlags flags = DotFlags::None);

}  // namespace reprise::inline REPRISE_ABI
