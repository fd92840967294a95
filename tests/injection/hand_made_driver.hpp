// A driver and a CUPTI of plain tables, with graphs that are made by hand: what is watched can then be played on a machine without either.
// One at a time; its handles are addresses of its own nodes. Threads: one.
#pragma once

#include <cupti.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "profile/activity/cupti_library.hpp"
#include "profile/injection/driver_calls.hpp"

namespace reprise::test {

struct HandMadeKernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes = {};
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
  std::vector<std::pair<std::size_t, std::size_t>> edges;
};

template <class Handle, class Made>
[[nodiscard]] Handle handle_of(Made& made) {
  return reinterpret_cast<Handle>(&made);
}

// What the calls of both say; `exec_id` is CUPTI's of every executable.
[[nodiscard]] detail::DriverCalls hand_made_driver();
[[nodiscard]] detail::CuptiLibrary hand_made_cupti();
inline constexpr std::uint32_t kHandMadeExecId = 12;

}  // namespace reprise::test
