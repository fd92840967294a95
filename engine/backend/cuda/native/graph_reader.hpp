// read_graph(): describes a CUDA graph that the application made or captured as a recording and a
// dependency graph, so that plan, text, DOT and trace show its nodes like recorded ones. The
// description cannot be instantiated.
// Kernel, memcpy, memset, host and empty nodes become dispatch, copy, fill, host and barrier
// commands; any other node becomes an op with its name; child graphs become labels around their
// nodes; the cause of each edge is Captured. The buffers of a kernel are inferred from the
// addresses among its parameters, as read and written. Threads: one; the graph must not change
// during the call.
#pragma once

#include <memory>
#include <string_view>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/native/native_memory.hpp"
#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

struct ReadGraph {
  std::shared_ptr<Recording> recording;
  DependencyGraph dependencies;
};

// Throws the driver's errors about the graph's structure. A node whose parameters the driver does
// not return is described by its kind only.
[[nodiscard]] ReadGraph read_graph(const CudaContext& context, CUgraph graph,
                                   std::string_view label, const BufferFinder& finder);

}  // namespace reprise::detail
