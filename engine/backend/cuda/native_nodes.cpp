#include "backend/cuda/native_nodes.hpp"

#include <unordered_map>
#include <utility>

#include <reprise/command_buffer.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// The signature of CUDA 12.3 and later, which also returns edge data; older headers declare
// another.
using GetEdges = CUresult (*)(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, std::size_t*);

class Collector {
 public:
  Collector(const CudaContext& context, const CallContext& call) : context_(context), call_(call) {}

  NativeNodes collect(CUgraph graph) {
    found_.groups.push_back({});
    static_cast<void>(add_graph(graph, 0));
    sort();
    return std::move(found_);
  }

 private:
  using Ends = std::vector<std::uint32_t>;
  struct Span {
    Ends first, last;  // roots and leaves
  };

  std::uint32_t add(CUgraphNode node, CUgraphNodeType type, std::uint32_t group) {
    found_.nodes.push_back({node, type, group});
    return static_cast<std::uint32_t>(found_.nodes.size() - 1);
  }

  void connect(const Ends& from, const Ends& to, std::uint32_t group) {
    connect_each(from, to, found_.edges,
                 [&] { return add(nullptr, CU_GRAPH_NODE_TYPE_EMPTY, group); });
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

  Span add_node(CUgraphNode node, std::uint32_t group) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    cuda_check(context_.driver.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType", call_);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph child = nullptr;
      cuda_check(context_.driver.cuGraphChildGraphNodeGetGraph(node, &child),
                 "cuGraphChildGraphNodeGetGraph", call_);
      Span inside = add_graph(child, add_group(group));
      if (!inside.first.empty()) return inside;
    }
    const std::uint32_t one = add(node, type, group);
    return {{one}, {one}};
  }

  Span add_graph(CUgraph graph, std::uint32_t group) {
    std::size_t count = 0;
    cuda_check(context_.driver.cuGraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes", call_);
    std::vector<CUgraphNode> nodes(count);
    if (count != 0)
      cuda_check(context_.driver.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes",
                 call_);
    std::unordered_map<CUgraphNode, std::size_t> index;
    std::vector<Span> spans;
    spans.reserve(count);
    for (const CUgraphNode node : nodes) {
      index.emplace(node, spans.size());
      spans.push_back(add_node(node, group));
    }
    std::vector<bool> has_before(count, false), has_after(count, false);
    for (const auto& [before, after] : edges_of(graph)) {
      const std::size_t from = index.at(before), to = index.at(after);
      has_after[from] = has_before[to] = true;
      connect(spans[from].last, spans[to].first, group);
    }
    Span whole;
    for (std::size_t i = 0; i < count; ++i) {
      if (!has_before[i])
        whole.first.insert(whole.first.end(), spans[i].first.begin(), spans[i].first.end());
      if (!has_after[i])
        whole.last.insert(whole.last.end(), spans[i].last.begin(), spans[i].last.end());
    }
    return whole;
  }

  [[nodiscard]] std::vector<std::pair<CUgraphNode, CUgraphNode>> edges_of(CUgraph graph) const {
    const auto get =
        reinterpret_cast<GetEdges>(reinterpret_cast<void*>(context_.driver.cuGraphGetEdges));
    std::size_t count = 0;
    cuda_check(get(graph, nullptr, nullptr, nullptr, &count), "cuGraphGetEdges", call_);
    std::vector<CUgraphNode> from(count), to(count);
    std::vector<CUgraphEdgeData> data(count);
    if (count != 0)
      cuda_check(get(graph, from.data(), to.data(), data.data(), &count), "cuGraphGetEdges", call_);
    std::vector<std::pair<CUgraphNode, CUgraphNode>> edges(count);
    for (std::size_t i = 0; i < count; ++i) edges[i] = {from[i], to[i]};
    return edges;
  }

  // Numbers the nodes so that every edge leads forward.
  void sort() {
    std::vector<NativeNode> sorted;
    sorted.reserve(found_.nodes.size());
    // CUDA refuses cycles, so the order contains every node.
    for (const std::uint32_t node :
         order_forward(static_cast<std::uint32_t>(found_.nodes.size()), found_.edges))
      sorted.push_back(found_.nodes[node]);
    found_.nodes = std::move(sorted);
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
