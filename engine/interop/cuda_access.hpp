// Maps public handles to objects of the CUDA device. Threads: any.
#pragma once

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>
#include <reprise/kernel.hpp>
#include <reprise/queue.hpp>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/graph/cuda_exec.hpp"

namespace reprise::detail {

// Throw NotInitialized for an empty handle, InvalidState in a host callback, and Unsupported for a
// handle of another kind of device. The message names `call`.
[[nodiscard]] CudaBackend& cuda_backend(const Device& device, std::string_view call);
[[nodiscard]] CudaQueue& cuda_queue(const Queue& queue, std::string_view call);
[[nodiscard]] const CudaKernel& cuda_kernel(const Kernel& kernel, std::string_view call);
[[nodiscard]] const CudaExec& cuda_exec(const CapturedGraph& graph, std::string_view call);

}  // namespace reprise::detail
