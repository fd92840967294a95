// A fake driver with graphs built by the tests, for machines without a GPU. Its handles are
// addresses of its objects. Threads: any, while no thread changes the graphs.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "injection/driver_calls.hpp"

namespace reprise::test {

struct HandMadeKernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes = {};
  std::vector<std::size_t> parameter_offsets = {};  // empty: contiguous
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
  std::vector<HandMadeNode*> others;  // nodes of other graphs
  std::vector<std::pair<std::size_t, std::size_t>> edges;
};

template <class Handle, class Made>
[[nodiscard]] Handle handle_of(Made& made) {
  return reinterpret_cast<Handle>(&made);
}

// The current device of the calling thread. Any number is valid.
inline thread_local CUdevice hand_made_device = 0;
// Memory in use on every device, of 1 GiB.
inline thread_local std::size_t hand_made_used_memory = 0;

// What streams of the calling thread capture. Null: nothing.
struct HandMadeCapture {
  CUgraph graph = nullptr;
  CUgraphNode last = nullptr;
};
inline thread_local HandMadeCapture hand_made_capture = {};

[[nodiscard]] detail::DriverCalls hand_made_driver();

}  // namespace reprise::test
