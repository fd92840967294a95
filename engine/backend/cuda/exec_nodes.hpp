// ExecNodes: an executable graph with the nodes that it was made from, those of bodies included.
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "plan/timing_layout.hpp"

namespace reprise::detail {

struct ExecNodes {
  cudaGraphExec_t exec = nullptr;
  std::vector<cudaGraphNode_t>
      nodes;                // by number, as `slots` has them; without bodies by lowered node
  TimingLayout slots = {};  // empty where nothing runs bodies
  std::vector<std::uint32_t> first_keys =
      {};  // by body: of its commands, for what is kept by command
  std::vector<std::byte*> handles =
      {};  // by buffer of the recording: of conditions, in this graph; empty: there are none
};

}  // namespace reprise::detail
