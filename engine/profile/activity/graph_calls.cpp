#include "profile/activity/graph_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace reprise::detail {
namespace {

// The signature of CUDA 12.3 and later, which also returns edge data; older headers declare
// another.
using GetEdges = CUresult(CUDAAPI*)(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*,
                                    std::size_t*);

}  // namespace

GraphCalls::Result GraphCalls::read_graph(CUgraph handle, NativeGraph& graph) const {
  graph = {};
  std::size_t count = 0;
  CUresult result = cuGraphGetNodes(handle, nullptr, &count);
  if (result == CUDA_SUCCESS && count != 0) {
    graph.nodes.resize(count);
    result = cuGraphGetNodes(handle, graph.nodes.data(), &count);
  }
  if (result != CUDA_SUCCESS) {
    graph.nodes.clear();
    return {"cuGraphGetNodes", result};
  }

  const auto get_edges = reinterpret_cast<GetEdges>(reinterpret_cast<void*>(cuGraphGetEdges));
  result = get_edges(handle, nullptr, nullptr, nullptr, &count);
  if (result != CUDA_SUCCESS) count = 0;
  std::vector<CUgraphNode> from(count), to(count);
  std::vector<CUgraphEdgeData> data(count);
  if (count != 0) result = get_edges(handle, from.data(), to.data(), data.data(), &count);
  if (result != CUDA_SUCCESS) return {"cuGraphGetEdges", result};

  // Sorted by node. A map would take an allocation for each node, in calls of observed programs.
  std::vector<std::pair<CUgraphNode, std::uint32_t>> positions;
  positions.reserve(graph.nodes.size());
  for (const CUgraphNode node : graph.nodes)
    positions.emplace_back(node, static_cast<std::uint32_t>(positions.size()));
  std::sort(positions.begin(), positions.end());
  const auto position = [&](CUgraphNode node) {
    const auto at =
        std::lower_bound(positions.begin(), positions.end(), std::pair(node, std::uint32_t{0}));
    return at != positions.end() && at->first == node ? at : positions.end();
  };
  graph.edges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto before = position(from[i]), after = position(to[i]);
    if (before != positions.end() && after != positions.end())
      graph.edges.push_back({before->second, after->second});
  }
  return {};
}

}  // namespace reprise::detail
