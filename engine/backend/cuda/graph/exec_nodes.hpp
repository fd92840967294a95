// ExecNodes: an executable graph with its source nodes, including those of bodies. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "plan/timing_layout.hpp"

namespace reprise::detail {

class CudaSegments;

struct ExecNodes {
  cudaGraphExec_t exec = nullptr;
  // By number in `timing`; without bodies, by lowered node.
  std::vector<cudaGraphNode_t> nodes;
  TimingLayout timing = {};  // empty for a plan without bodies
  // By body: the first key of its commands, for data kept by command.
  std::vector<std::uint32_t> first_keys = {};
  // Run the commands of segments, and take their parameters. Null: all commands are nodes.
  CudaSegments* segments = nullptr;
  bool has_nodes_in_bodies = false;  // commands of bodies are nodes nevertheless
  // By buffer of the recording: the conditions' handles in this graph; empty: no conditions.
  std::vector<std::byte*> handles = {};
};

}  // namespace reprise::detail
