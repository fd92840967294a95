// GraphReader: a CUDA graph that somebody else made or captured, read back as a recording and a
// schedule, so that plan, text, DOT and trace show its nodes like recorded ones. It describes:
// nothing is made of it again.
//   kernel, memcpy, memset, host and empty nodes become dispatch, copy, fill, host and barrier
//   commands; any other an op of its name; child graphs become labels around their nodes; an edge's
//   cause is Captured.
// Which buffers a kernel touches is inferred from the addresses among its parameters, each as read
// and written. Threads: one; the graph does not change meanwhile.
#pragma once

#include <memory>
#include <string_view>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/native_memory.hpp"
#include "dependencies/dependency_graph.hpp"

namespace reprise::detail {

struct ReadGraph {
  std::shared_ptr<Recording> recording;
  DependencyGraph dependencies;
};

// Throws what the driver says of the graph's structure; of a node whose parameters the driver does
// not give, the kind alone is told.
[[nodiscard]] ReadGraph read_graph(const CudaContext& context, CUgraph graph,
                                   std::string_view label, const BufferFinder& finder);

}  // namespace reprise::detail
