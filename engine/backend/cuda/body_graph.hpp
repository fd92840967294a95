// BodyGraph: the CUDA graph of a body inside a node of a graph. Threads: values.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

namespace reprise::detail {

struct BodyGraph {
  cudaGraph_t graph = nullptr;  // owned by the node
  cudaGraphNode_t parent = nullptr;
  std::vector<cudaGraphNode_t> nodes;  // by lowered node of the body
  std::uint32_t first_key = 0;         // of its commands, for data kept by command
};

}  // namespace reprise::detail
