// CUDA interop: what the application already has (streams, memory, kernels, graphs) becomes
// Reprise's, and the other way round. The one public header that names CUDA; include and link
// CUDA's runtime as your application does anyway. What is adopted stays the application's: it has
// to outlive its last use here, or to come with an `owner` that is held until then. Threads: any.
// Errors: Error; Unsupported for the host device; no pending CUDA error and no other current device
// is left behind.
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

namespace reprise {

// While it lives, CUDA calls of this thread go to `device` (its primary context). Then to what was
// current before.
class CurrentDevice {
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
[[nodiscard]] CUcontext native_context(const Device& device);

// --- Streams ---
// Launches on the queue go to `stream`, which must outlive the queue and its launches. While it is
// being captured they throw CapturingStream and leave the capture alone. Throws WrongDevice for a
// stream of another device or context.
[[nodiscard]] Queue adopt_queue(const Device& device, CUstream stream, const QueueDesc& desc = {});
// The stream behind a queue, the queue's own. From now on the engine reckons with work in it that
// it did not submit.
[[nodiscard]] CUstream native_stream(const Queue& queue);
// The same, to keep: the caller destroys it, after the queue and all its copies are gone.
[[nodiscard]] CUstream release_stream(const Queue& queue);

// --- Memory ---
namespace detail {
[[nodiscard]] BufferView adopt_memory(const Device& device, BufferKind kind, void* address,
                                      std::uint64_t count, std::uint64_t element_bytes,
                                      std::uint64_t alignment, std::string_view name,
                                      std::shared_ptr<void> owner);
}  // namespace detail

// `count` values at `address`, device or managed memory. Throws InvalidArgument for what is no such
// memory, WrongDevice for another GPU's, OutOfRange where its allocation is smaller. The other way
// round: GpuRef::data().
template <class T>
[[nodiscard]] GpuRef<T> adopt_buffer(const Device& device, T* address, std::uint64_t count,
                                     std::string_view name = "",
                                     std::shared_ptr<void> owner = nullptr) {
  return GpuRef<T>(detail::adopt_memory(device, BufferKind::Device, address, count, sizeof(T),
                                        alignof(T), name, std::move(owner)));
}
// The same of pinned host memory (cudaHostAlloc, cudaHostRegister).
template <class T>
[[nodiscard]] HostRef<T> adopt_host_buffer(const Device& device, T* address, std::uint64_t count,
                                           std::string_view name = "",
                                           std::shared_ptr<void> owner = nullptr) {
  return HostRef<T>(detail::adopt_memory(device, BufferKind::PinnedHost, address, count, sizeof(T),
                                         alignof(T), name, std::move(owner)));
}

// --- Kernels ---
// Parameters are reflected from the compiled code, which does not say which of them are pointers:
// one of 8 bytes takes a buffer or a value. Throw KernelNotFound, and NativeFailure with the
// driver's name for it for an image that it refuses.
[[nodiscard]] Kernel load_cubin(const Device& device, std::span<const std::byte> image,
                                std::string_view entry);  // or a fatbin
[[nodiscard]] Kernel load_ptx(const Device& device, std::string_view text, std::string_view entry);
// The module stays the application's.
[[nodiscard]] Kernel adopt_kernel(const Device& device, CUfunction function,
                                  std::shared_ptr<void> owner = nullptr);
[[nodiscard]] Kernel adopt_kernel(const Device& device, CUkernel kernel,
                                  std::shared_ptr<void> owner = nullptr);
[[nodiscard]] CUfunction native_function(const Kernel& kernel);

namespace detail {
// `pointers`: which parameters are; empty data(): unknown.
[[nodiscard]] Kernel adopt_function(const Device& device, CUfunction function,
                                    std::span<const bool> pointers, std::shared_ptr<void> owner);
[[noreturn]] void refuse_symbol(const Device& device, cudaError_t result);
}  // namespace detail

// The application's own __global__ function, found through the CUDA runtime that the application
// itself is linked with.
template <class... Parameters>
[[nodiscard]] Kernel kernel_from_symbol(const Device& device, void (*symbol)(Parameters...)) {
  const CurrentDevice current(device);
  cudaFunction_t function = nullptr;
  const cudaError_t result = cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(symbol));
  if (result != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    detail::refuse_symbol(device, result);
  }
  constexpr bool pointers[sizeof...(Parameters) + 1] = {std::is_pointer_v<Parameters>..., false};
  return detail::adopt_function(device, function, std::span(pointers, sizeof...(Parameters)),
                                nullptr);
}

// --- Graphs ---
struct AdoptedGraphDesc {
  std::string_view label = "adopted";
  std::shared_ptr<void> owner = nullptr;  // of what its nodes use
};
// A copy of `graph` as a CapturedGraph, with its nodes, names, edges and parameters in plan, DOT
// and trace. Buffers of the device whose addresses are among the parameters are held by it and
// ordered with their other uses, as read and written; what else it touches, tell with
// BufferView::record_write. Throws what the driver says of a graph that can't be copied (it holds
// memory or conditional nodes) or instantiated.
[[nodiscard]] CapturedGraph adopt_graph(const Device& device, CUgraph graph,
                                        const AdoptedGraphDesc& desc = {});
// --- Captures of what the application does with a stream ---
[[nodiscard]] CUstreamCaptureMode to_cuda(CaptureMode mode) noexcept;
// Whether the queue's stream is being captured, by whomever.
[[nodiscard]] CaptureStatus capture_status(const Queue& queue);
// What is submitted to native_stream(queue) from now on is captured and not done, until
// end_capture. Launches of the engine on the queue are refused meanwhile, and invalidate the
// capture where its mode says so. Throws NotInitialized for an empty queue, InvalidState where a
// capture is open on it, and what the driver says.
void begin_capture(const Queue& queue, CaptureMode mode = CaptureMode::Global);
// What was captured since, as adopt_graph gives it. The capture is over and the stream usable
// again, also where this throws: CaptureUnmatched where begin_capture was not called,
// CaptureInvalidated with what invalidated it as far as that can be known, InvalidState on another
// thread than the mode allows.
[[nodiscard]] CapturedGraph end_capture(const Queue& queue,
                                        const AdoptedGraphDesc& desc = {.label = "captured"});
// The same, with a pool that the graph holds, and every buffer that is in it now.
[[nodiscard]] CapturedGraph end_capture_with_pool(const Queue& queue,
                                                  const std::shared_ptr<CapturePool>& pool,
                                                  const AdoptedGraphDesc& desc = {
                                                      .label = "captured"});

// Both as a scope: where it is left without end(), by an exception too, what was captured is
// dropped and the stream usable again.
class [[nodiscard]] CaptureScope {
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
// The graph behind `graph`, and its executable: the CapturedGraph's own, for looking at and for the
// tools.
[[nodiscard]] CUgraph native_graph(const CapturedGraph& graph);
[[nodiscard]] CUgraphExec native_exec(const CapturedGraph& graph);
// A copy that the caller destroys. Buffers, kernels and host functions that its nodes name stay the
// CapturedGraph's.
[[nodiscard]] CUgraph release_graph(const CapturedGraph& graph);
// Writes CUDA's own DOT of the graph, stamps and all, beside which export_dot shows the plan's. Of
// the flags it takes the first 16 bits, CUDA's. Throws what the driver says.
[[nodiscard]] unsigned to_cuda(DotFlags flags) noexcept;
void cuda_debug_dot(const CapturedGraph& graph, const std::filesystem::path& path,
                    DotFlags flags = DotFlags::None);

}  // namespace reprise
