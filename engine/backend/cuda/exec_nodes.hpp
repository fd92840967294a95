// ExecNodes: an executable graph with its source nodes, including those of bodies. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime_api.h>

#include "plan/timing_layout.hpp"

namespace reprise::detail {

struct ExecNodes {
  cudaGraphExec_t exec = nullptr;
  // By number in `timing`; without bodies, by lowered node.
  std::vector<cudaGraphNode_t> nodes;
  TimingLayout timing = {};  // empty for a plan without bodies
  // By body: the first key of its commands, for data kept by command.
  std::vector<std::uint32_t> first_keys = {};
  bool has_segments = false;  // the plan's segments are one node each
  // By buffer of the recording: the conditions' handles in this graph; empty: no conditions.
  std::vector<std::byte*> handles = {};
};

}  // namespace reprise::detail
