// Creates a CapturedGraph that shows the nodes of an application's CUDA graph. Threads: any.
#pragma once

#include <memory>
#include <string_view>

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/graph/op_capture.hpp"

namespace reprise::detail {

struct NativeGraphDesc {
  std::string_view label = {};
  std::shared_ptr<void> owner = nullptr;  // owns what the nodes use
  // The graph retains the pool and every buffer in it.
  std::shared_ptr<CapturePool> pool = nullptr;
};

// Takes ownership of `graph`, also on an error. Throws the driver's errors, and WrongDevice for a
// pool of another device. The graph retains the device's buffers whose addresses are among the
// nodes' parameters, and orders their uses.
[[nodiscard]] CapturedGraph graph_of_native(const Device& device, CudaBackend& backend,
                                            OwnedGraph graph, const NativeGraphDesc& desc);

}  // namespace reprise::detail
