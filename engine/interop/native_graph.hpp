// From a CUDA graph that somebody else made to a CapturedGraph that shows its nodes. Threads: any.
#pragma once

#include <memory>
#include <string_view>

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/op_capture.hpp"

namespace reprise::detail {

struct NativeGraphDesc {
  std::string_view label = {};
  std::shared_ptr<void> owner = nullptr;  // of what the nodes use
  std::shared_ptr<CapturePool> pool =
      nullptr;  // the graph holds it and every buffer that is in it now
};

// Takes `graph`, also where it throws: what the driver says of it, WrongDevice for a pool of
// another device. Buffers of the device whose addresses are among the nodes' parameters are held by
// the graph, and ordered with their other uses.
[[nodiscard]] CapturedGraph graph_of_native(const Device& device, CudaBackend& backend,
                                            OwnedGraph graph, const NativeGraphDesc& desc);

}  // namespace reprise::detail
