#include "backend/cuda/native/native_nodes.hpp"

#include <utility>

#include <reprise/command_buffer.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

class Collector {
 public:
  Collector(const CudaContext& context, const CallContext& call) : context_(context), call_(call) {}

  NativeNodes collect(CUgraph graph) {
    found_.groups.push_back({});
    static_cast<void>(add_graph(graph, 0));
    sort_forward(found_.nodes, found_.edges);  // CUDA refuses cycles: every node is kept
    return std::move(found_);
  }

 private:
  std::uint32_t add(CUgraphNode node, CUgraphNodeType type, std::uint32_t group) {
    found_.nodes.push_back({node, type, group});
    return static_cast<std::uint32_t>(found_.nodes.size() - 1);
  }

  // A child graph is a group, which becomes a label.
  std::uint32_t add_group(std::uint32_t outer) {
    if (depths_[outer] == Recorder::kMaxLabels)
      fail(ErrorCode::Unsupported, call_.stage, call_.object,
           concat("graph ", call_.object, " has child graphs in more than ", Recorder::kMaxLabels,
                  " levels, the limit of a graph that is read"));
    found_.groups.push_back({outer, concat("child graph ", found_.groups.size())});
    depths_.push_back(depths_[outer] + 1);
    return static_cast<std::uint32_t>(found_.groups.size() - 1);
  }

  PartEnds add_node(CUgraphNode node, std::uint32_t group) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    cuda_check(context_.driver.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType", call_);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph child = nullptr;
      cuda_check(context_.driver.cuGraphChildGraphNodeGetGraph(node, &child),
                 "cuGraphChildGraphNodeGetGraph", call_);
      PartEnds inside = add_graph(child, add_group(group));
      if (!inside.first.empty()) return inside;
    }
    const std::uint32_t one = add(node, type, group);
    return {{one}, {one}};
  }

  PartEnds add_graph(CUgraph handle, std::uint32_t group) {
    NativeGraph graph;
    const auto [call, result] = context_.driver.read_graph(handle, graph);
    cuda_check(result, call, call_);
    std::vector<PartEnds> parts;
    parts.reserve(graph.nodes.size());
    for (const CUgraphNode node : graph.nodes) parts.push_back(add_node(node, group));
    return connect_parts(parts, graph.edges, found_.edges,
                         [&] { return add(nullptr, CU_GRAPH_NODE_TYPE_EMPTY, group); });
  }

  const CudaContext& context_;
  const CallContext& call_;
  NativeNodes found_;
  std::vector<std::uint32_t> depths_ = {0};  // by group
};

}  // namespace

NativeNodes native_nodes(const CudaContext& context, CUgraph graph, const CallContext& call) {
  return Collector(context, call).collect(graph);
}

}  // namespace reprise::detail
