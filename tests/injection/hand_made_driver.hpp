// A driver of plain tables, with graphs that are made by hand: what is watched can then be played
// on a machine without one. Its handles are addresses of what it is made of. Threads: any, for
// graphs that nobody changes meanwhile.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "profile/injection/driver_calls.hpp"

namespace reprise::test {

struct HandMadeKernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes = {};
  std::vector<std::size_t> parameter_offsets = {};  // empty: one after the other
  int registers = 24, static_shared_bytes = 0;
};

struct HandMadeNode {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  CUDA_MEMCPY3D copy = {};
  CUDA_MEMSET_NODE_PARAMS fill = {};
  CUDA_MEM_ALLOC_NODE_PARAMS allocation = {};
  struct HandMadeGraph* child = nullptr;
  std::uint64_t profiler_id = 0;
};

struct HandMadeGraph {
  std::deque<HandMadeNode> nodes;
  std::vector<HandMadeNode*> others;  // behind its own: somebody else keeps them
  std::vector<std::pair<std::size_t, std::size_t>> edges;
};

template <class Handle, class Made>
[[nodiscard]] Handle handle_of(Made& made) {
  return reinterpret_cast<Handle>(&made);
}

// The device that is current on the calling thread; any with a number is there.
inline thread_local CUdevice hand_made_device = 0;

[[nodiscard]] detail::DriverCalls hand_made_driver();

}  // namespace reprise::test
