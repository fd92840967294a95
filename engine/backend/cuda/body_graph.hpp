// BodyGraph: a body as CUDA has it, inside a node of a graph. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

namespace reprise::detail {

struct BodyGraph {
  cudaGraph_t graph = nullptr;  // the node's
  cudaGraphNode_t parent = nullptr;
  std::vector<cudaGraphNode_t> nodes;  // by lowered node of the body
  std::uint32_t first_key = 0;         // of its commands, for what is kept by command
};

}  // namespace reprise::detail
